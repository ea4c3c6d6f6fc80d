package code

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pal-terminal/pal/cmd/pal/internal/cli"
	"github.com/pal-terminal/pal/limits"
	"github.com/pal-terminal/pal/protocol"
)

func TestRemarks(t *testing.T) {
	for _, c := range []struct {
		name   string
		result protocol.Result
		want   []string
	}{
		{"well", protocol.Result{}, nil},
		{"python_error", protocol.Result{Error: true, Code: "python_error", Message: "ValueError: x", Exception: &protocol.Exception{}}, nil},
		{"rung_1", protocol.Result{Error: true, Code: "deadline", Rung: 1, ExecTimeMS: 500}, []string{"deadline after 500 ms, rung 1: the code was interrupted, names and state survive"}},
		{"rung_2", protocol.Result{Error: true, Code: "deadline", Rung: 2, ExecTimeMS: 700, VMRestarted: true}, []string{"deadline after 700 ms, rung 2: the machine was killed and replaced, sessions start empty"}},
		{"refused", protocol.Result{Error: true, Code: "denied", Message: "no", Nearest: []string{"LED", "5"}}, []string{"no (allowed: LED, 5)"}},
		{"crash", protocol.Result{Error: true, Code: "vm_restarted", Message: "the machine died", VMRestarted: true}, []string{"the machine died", "the machine was replaced: sessions start empty"}},
		{"flood", protocol.Result{Truncated: true, DroppedBytes: 7}, []string{"output was cut, 7 bytes are missing: see --max-output"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if d := cmp.Diff(c.want, remarks(&c.result)); d != "" {
				t.Errorf("remarks (-want +got):\n%s", d)
			}
		})
	}
}

func TestCode(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "blink.py")
	if err := os.WriteFile(file, []byte("print('file')\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	big := filepath.Join(dir, "big.py")
	if err := os.WriteFile(big, make([]byte, limits.CodeBytes+1), 0o600); err != nil {
		t.Fatal(err)
	}
	binary := filepath.Join(dir, "binary.py")
	if err := os.WriteFile(binary, []byte("print('\xff')"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		args []string
		want string // of the code, or "error: " and a part of the message
	}{
		{"code", []string{"print(1)"}, "print(1)"},
		{"file", []string{file}, "print('file')\n"},
		{"stdin", []string{"-"}, "print('stdin')"},
		{"no_argument", nil, "print('stdin')"},
		{"missing_file", []string{filepath.Join(dir, "no.py")}, "error: there is no file"},
		{"folder_is_code", []string{dir}, dir},
		{"code_with_a_dot", []string{"x = m.py"}, "x = m.py"},
		{"too_long", []string{big}, "error: longer than"},
		{"no_text", []string{binary}, "error: binary.py is not UTF-8 text"},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := &cli.App{Stdin: strings.NewReader("print('stdin')")}
			got, err := source(a, c.args)
			if err != nil {
				got = "error: " + err.Error()
				if cli.ExitCode(err) != cli.ExitUsage {
					t.Errorf("exit code of %v: got %d, want %d", err, cli.ExitCode(err), cli.ExitUsage)
				}
			}
			if want, isError := strings.CutPrefix(c.want, "error: "); isError && !strings.Contains(got, want) || !isError && got != want {
				t.Errorf("code(%q): got %q, want %q", c.args, got, c.want)
			}
		})
	}
}
