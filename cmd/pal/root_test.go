package main

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/pal-terminal/pal/board/load"
	"github.com/pal-terminal/pal/cmd/pal/internal/boardfile"
	"github.com/pal-terminal/pal/cmd/pal/internal/cli"
	"github.com/pal-terminal/pal/cmd/pal/internal/show"
	"github.com/pal-terminal/pal/protocol"
)

func TestEveryCommandHelps(t *testing.T) {
	root := newRoot(&cli.App{})
	root.InitDefaultHelpCmd()
	var visit func(cmd *cobra.Command)
	visit = func(cmd *cobra.Command) {
		if cmd.Hidden || cmd.Name() == "help" || cmd.Name() == "completion" {
			return
		}
		if cmd.Short == "" || cmd.Example == "" {
			t.Errorf("%s: has no description or no example", cmd.CommandPath())
		}
		if cmd.Args == nil && !strings.Contains(cmd.Use, "[") {
			t.Errorf("%s: says nothing about its arguments", cmd.CommandPath())
		}
		for _, sub := range cmd.Commands() {
			visit(sub)
		}
	}
	visit(root)
}

func TestHelpFitsAScreen(t *testing.T) {
	code, stdout, _ := run(t, nil, "help")
	if lines := strings.Count(stdout, "\n"); code != 0 || lines > 44 {
		t.Errorf("pal help: got %d lines and exit code %d, want at most 44 and 0", lines, code)
	}
	for line := range strings.Lines(stdout) {
		if len(line) > 110 {
			t.Errorf("pal help: %d columns are too many: %s", len(line), line)
		}
	}
}

func run(t *testing.T, env map[string]string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs strings.Builder
	a := &cli.App{
		Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs,
		Getenv: func(key string) string { return env[key] },
	}
	code = command(a, args)
	return code, out.String(), errs.String()
}

// Wrong command lines end with 2 and one line that names what is wrong.
func TestUsageErrors(t *testing.T) {
	env := map[string]string{"PAL_STATE": t.TempDir()}
	for _, c := range []struct{ line, want string }{
		{"nonsense", `no command "nonsense"`},
		{"exec a b", "at most 1 arg"},
		{"exec --timeout soon x", "soon"},
		{"exec --timeout 0s x", "--timeout must be positive"},
		{"set LED 2", `not "2"`},
		{"set LED", "accepts 2 arg(s), received 1: see `pal set --help`"},
		{"exec --bogus", "unknown flag: --bogus: see `pal exec --help`"},
		{"token nonsense", `no command "nonsense"`},
		{"conn kick x", `"x" is not the number`},
		{"up --listen here", "listen"},
		{"up --heap lots", "not a size"},
		{"up --listen 0.0.0.0:0 --no-auth", "loopback"},
		{"up --log-level loud", "--log-level"},
		{"status --device here", "not a device"},
		{"board lint none.yaml", "there is no file none.yaml"},
		{"repl --json", "no JSON form"},
		{"task nonsense", `no command "nonsense"`},
		{"task add --every 1s --code x", "--name"},
		{"task add --name x --every 0s --code x", "--every must be positive"},
		{"task add --name x --every 1s --at 2026 --code x", "give one of --every"},
		{"task result 1 -n -1", "must be positive"},
		{"lease create LED", "give --hold to keep"},
		{"lease create LED: --keep", `"LED:" is not a resource`},
		{"audit verify --head 12", "SIZE:HASH"},
		{"audit verify --head x:aa", "SIZE:HASH"},
		{"audit verify --key k", "--key is for --dir"},
		{"audit verify --dir none", "there is no audit log in none"},
		{"audit tail -n 0", "must be positive"},
		{"approve", "accepts 1 arg"},
		{"safe-mode enter", `no command "enter"`},
		{"board apply none.py", "there is no file none.py"},
		{"up --tasks -1", "tasks: -1"},
		{"up --watchdog dog", "watchdog"},
	} {
		t.Run(strings.ReplaceAll(c.line, " ", "_"), func(t *testing.T) {
			code, stdout, stderr := run(t, env, strings.Fields(c.line)...)
			if code != cli.ExitUsage {
				t.Errorf("exit code: got %d, want %d", code, cli.ExitUsage)
			}
			if !strings.HasPrefix(stderr, "pal: ") || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, c.want) {
				t.Errorf("stderr: got %q, want one line with %q", stderr, c.want)
			}
			if stdout != "" {
				t.Errorf("stdout: got %q, want nothing", stdout)
			}
		})
	}
}

func TestNothingRuns(t *testing.T) {
	dir := t.TempDir()
	code, _, stderr := run(t, map[string]string{"PAL_STATE": dir}, "exec", "1")
	if code != cli.ExitUnavailable || !strings.Contains(stderr, "no terminal is running") || !strings.Contains(stderr, "pal up") || !strings.Contains(stderr, dir) {
		t.Errorf("exec without a terminal: got %d and %q", code, stderr)
	}
	code, _, stderr = run(t, map[string]string{"PAL_DEVICE": "127.0.0.1:1", "PAL_TOKEN": "x"}, "exec", "1")
	if code != cli.ExitUnavailable || !strings.Contains(stderr, "nothing listens at 127.0.0.1:1") {
		t.Errorf("exec at a closed port: got %d and %q", code, stderr)
	}
	code, _, stderr = run(t, nil, "exec", "--device", "port:/dev/ttyUSB0", "1")
	if code != cli.ExitUnavailable || !strings.Contains(stderr, "serial") {
		t.Errorf("exec on a serial port: got %d and %q", code, stderr)
	}
}

func TestVersionJSON(t *testing.T) {
	code, stdout, _ := run(t, nil, "version", "--json")
	if code != 0 || !strings.Contains(stdout, `"protocol":"`+protocol.Version+`"`) {
		t.Errorf("version --json: got %d and %q", code, stdout)
	}
}

func TestTree(t *testing.T) {
	got := show.Tree([]byte(`{"b":1,"a":[{"x":"s"},null,"t"],"e":{}}`))
	const want = "b: 1\na:\n  -\n    x: s\n  - null\n  - t\ne:\n"
	if got != want {
		t.Errorf("tree: got %q, want %q", got, want)
	}
}

func TestBoardInitAndLint(t *testing.T) {
	t.Chdir(t.TempDir())
	if code, _, stderr := run(t, nil, "board", "init", "mine.yaml"); code != 0 {
		t.Fatalf("board init: got %d, %q", code, stderr)
	}
	if code, stdout, stderr := run(t, nil, "board", "lint", "mine.yaml"); code != 0 || !strings.Contains(stdout, "no findings") {
		t.Errorf("board lint of a new board: got %d, %q, %q", code, stdout, stderr)
	}
	code, _, stderr := run(t, nil, "board", "init", "mine.yaml")
	if code != cli.ExitUsage || !strings.Contains(stderr, "is there already") {
		t.Errorf("second board init: got %d, %q", code, stderr)
	}
}

func TestBoardLintFindings(t *testing.T) {
	t.Chdir(t.TempDir())
	const file = "board: b\nmode: open\nboard_py: b.py\npins:\n  - {id: 5, name: LED, owner: agent, can: [out], safe: low}\ndrivers: {kind: sim}\n"
	for name, text := range map[string]string{
		"b.yaml": file, "b.py": "def bare(n):\n    return n\n",
		"device.yaml": "board: b\npins:\n  - {id: 5, name: LED, owner: agent, can: [out], safe: low}\ndevices:\n  - {type: led, pin: LED, bright: 3}\n",
		"wrong.yaml":  "board: b\nmood: open\npins:\n  - {id: 5, owner: agent, can: [out]}\ndrivers: {kind: sim}\n",
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	code, stdout, stderr := run(t, nil, "board", "lint", "b.yaml")
	const want = "b.py:1: bare has no docstring"
	if code != cli.ExitFailed || !strings.HasPrefix(stdout, want) || !strings.Contains(stdout, "b.py:1: bare lacks type hints") {
		t.Errorf("board lint: got %d, %q, %q, want %d and %q", code, stdout, stderr, cli.ExitFailed, want)
	}
	code, stdout, stderr = run(t, nil, "board", "lint", "wrong.yaml", "--json")
	if code != cli.ExitFailed || !strings.Contains(stdout, `{"file":"wrong.yaml","line":2,"column":`) || !strings.Contains(stdout, `{"file":"wrong.yaml","line":4,`) || stderr != "pal: wrong.yaml: 2 findings\n" {
		t.Errorf("board lint --json: got %d, %q, %q, want both places", code, stdout, stderr)
	}
	code, stdout, _ = run(t, nil, "board", "lint", "device.yaml")
	if want := "device.yaml:5:5: device led: \"bright\" is nothing"; code != cli.ExitFailed || !strings.HasPrefix(stdout, want) {
		t.Errorf("board lint: got %d, %q, want %q", code, stdout, want)
	}
}

// What `pal up` offers to try has to work on the board that it runs.
func TestFirstCode(t *testing.T) {
	const head = "board: b\nmode: %s\npins:\n"
	for _, c := range []struct{ name, mode, pins, want string }{
		{"light", "open", "  - {id: 4, name: FAN, owner: agent, can: [out], safe: low}\n  - {id: 5, name: LED, owner: agent, can: [out], safe: low}\n", "from machine import Pin; Pin(5, Pin.OUT).on()"},
		{"word", "open", "  - {id: 3, owner: agent, can: [out], safe: low, danger: high}\n  - {id: A5, owner: agent, can: [out], safe: low}\n", `from machine import Pin; Pin("A5", Pin.OUT).on()`},
		{"inputs only", "open", "  - {id: 3, owner: agent, can: [in]}\n", "dir()"},
		{"engineering", "engineering", "  - {id: 5, name: LED, owner: agent, can: [out], safe: low}\n", "dir()"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, err := load.Bytes("b.yaml", fmt.Appendf(nil, head+c.pins, c.mode), nil)
			if err != nil {
				t.Fatal(err)
			}
			if got := boardfile.FirstCode(d); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}
