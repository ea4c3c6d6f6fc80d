package state

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pal-terminal/pal/client"
)

func open(t *testing.T, dir string) *Folder {
	t.Helper()
	f, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestSecondHolderIsToldTheFirst(t *testing.T) {
	f := open(t, filepath.Join(t.TempDir(), "made", "here"))
	held, err := f.Lock("127.0.0.1:a-rather-long-address-first")
	if err != nil {
		t.Fatal(err)
	}
	if err := held.Tell("127.0.0.1:7333"); err != nil {
		t.Fatal(err)
	}
	_, err = f.Lock("127.0.0.1:1")
	refused, ok := errors.AsType[*HeldError](err)
	if !ok {
		t.Fatalf("second Lock: got %v, want a HeldError", err)
	}
	if want := "process " + strconv.Itoa(os.Getpid()) + " (127.0.0.1:7333)"; refused.Holder != want {
		t.Errorf("second Lock: got holder %q, want %q", refused.Holder, want)
	}
	for _, want := range []string{refused.Holder, f.dir, "--state"} {
		if !strings.Contains(refused.Error(), want) {
			t.Errorf("second Lock: %q does not tell %q", refused, want)
		}
	}
	if err := held.Release(); err != nil {
		t.Fatal(err)
	}
	again, err := f.Lock("127.0.0.1:1")
	if err != nil {
		t.Fatalf("Lock after Release: %v", err)
	}
	if err := again.Release(); err != nil {
		t.Fatal(err)
	}
}

func TestPublish(t *testing.T) {
	dir := t.TempDir()
	f := open(t, dir)
	if err := f.Publish(client.Terminal{Addr: "127.0.0.1:7333", URL: "ws://127.0.0.1:7333/pal", PID: 7}); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(f.Path("local-human.token"), []byte("pal_x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := client.FromState(dir)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(client.Target{URL: "ws://127.0.0.1:7333/pal", Token: "pal_x"}, got); d != "" {
		t.Errorf("what a client finds (-want +got):\n%s", d)
	}
	info, err := os.Stat(f.Path(terminalFile))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode of %s: got %v, %v, want 0600", terminalFile, info.Mode(), err)
	}
	for range 2 {
		if err := f.Withdraw(); err != nil {
			t.Errorf("Withdraw: %v", err)
		}
	}
	if _, err := client.FromState(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("FromState after Withdraw: got %v, want fs.ErrNotExist", err)
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 1 {
		t.Errorf("files left behind: %v, %v, want the token only", left, err)
	}
}

// The file system's own modes do not bind root, so what cannot be written is a folder that is a file.
func TestFolderThatCannotBe(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{file, filepath.Join(file, "below")} {
		_, err := Open(dir)
		if err == nil || !strings.Contains(err.Error(), "cannot be written") || !strings.Contains(err.Error(), "--state") {
			t.Errorf("Open(%s): got %v, want an error that says what to do", dir, err)
		}
		if err != nil && strings.Count(err.Error(), dir) != 1 {
			t.Errorf("Open(%s): %q should name the folder once", dir, err)
		}
	}
}
