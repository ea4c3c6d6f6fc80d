package client

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pal-terminal/pal/limits"
)

func TestFromState(t *testing.T) {
	at, token := fmt.Sprintf(`{"addr":"127.0.0.1:7333","pid":%d,"url":"ws://127.0.0.1:7333/pal","later":true}`, os.Getpid()), "secret\n"
	tests := []struct {
		name            string
		terminal, token string // empty: no such file
		want            Target
		says            string
	}{
		{"running", at, token, Target{URL: "ws://127.0.0.1:7333/pal", Token: "secret"}, ""},
		{"nothing there", "", token, Target{}, "start one with `pal up`"},
		{"no token", at, "", Target{}, tokenFile},
		{"empty token", at, " \n", Target{}, "it is empty"},
		{"half written", `{"addr":"127.`, token, Target{}, terminalFile},
		{"no url", `{"addr":"127.0.0.1:7333"}`, token, Target{}, "it has no url"},
		{"two urls", `{"url":"ws://a/","url":"ws://b/"}`, token, Target{}, terminalFile},
		{"too long", at + strings.Repeat(" ", limits.StateFileBytes), token, Target{}, "longer than"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			for name, text := range map[string]string{terminalFile: test.terminal, tokenFile: test.token} {
				if text == "" {
					continue
				}
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			got, err := FromState(dir)
			if test.says == "" && err != nil || test.says != "" && (err == nil || !strings.Contains(err.Error(), test.says)) {
				t.Errorf("error: got %v, want one with %q", err, test.says)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("target (-want +got):\n%s", diff)
			}
			if absent := test.terminal == "" || test.token == ""; absent != errors.Is(err, fs.ErrNotExist) {
				t.Errorf("error: got %v, want %v to be told apart", err, fs.ErrNotExist)
			}
		})
	}
}

// A terminal that was killed leaves its file, and its port may be somebody else's: the token must not go there.
func TestFromStateOfTheKilled(t *testing.T) {
	dead := exec.Command("sleep", "60")
	if err := dead.Start(); err != nil {
		t.Fatal(err)
	}
	pid := dead.Process.Pid
	if err := dead.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = dead.Wait() // it ends by the signal
	dir := t.TempDir()
	for name, text := range map[string]string{
		terminalFile: fmt.Sprintf(`{"addr":"127.0.0.1:7333","pid":%d,"url":"ws://127.0.0.1:7333/pal"}`, pid), tokenFile: "secret",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, err := FromState(dir)
	if !errors.Is(err, fs.ErrNotExist) || got.Token != "" || !strings.Contains(err.Error(), "was killed") {
		t.Errorf("got %+v, %v, want no target and why", got, err)
	}
}
