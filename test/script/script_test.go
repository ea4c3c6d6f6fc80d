//go:build unix

// Package script tests the program as people and scripts use it: real processes, real exit codes, real output. Each file of
// testdata is a story; its first lines say what it is about.
package script

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/pal-terminal/pal/protocol"
	"github.com/pal-terminal/pal/test/palbin"
)

// patience is how long a fact may take to come true on a busy machine.
const patience = 30 * time.Second

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"code": code})
}

// code is the program `code N PROGRAM ARG …`: it runs PROGRAM and fails unless that exits with N.
func code() {
	want, err := strconv.Atoi(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, "code:", err)
		os.Exit(2)
	}
	cmd := exec.Command(os.Args[2], os.Args[3:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	err = cmd.Run()
	if _, ran := errors.AsType[*exec.ExitError](err); err != nil && !ran {
		fmt.Fprintln(os.Stderr, "code:", err)
		os.Exit(2)
	}
	if got := cmd.ProcessState.ExitCode(); got != want {
		fmt.Fprintf(os.Stderr, "code: %v exited with %d, want %d\n", os.Args[2:], got, want)
		os.Exit(1)
	}
}

func TestScripts(t *testing.T) {
	pal := palbin.Build(t)
	cache, err := os.UserCacheDir() // shared, so that the engine is compiled once
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("PATH", filepath.Dir(pal)+string(os.PathListSeparator)+env.Getenv("PATH"))
			env.Setenv("PAL", pal)
			env.Setenv("GORACE", "atexit_sleep_ms=0") // `code` is this program, whose race detector would doze at each end
			env.Setenv("HOME", filepath.Join(env.WorkDir, "home"))
			env.Setenv("XDG_CACHE_HOME", cache)
			env.Setenv("PAL_STATE", filepath.Join(env.WorkDir, "state"))
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"waitfor":   waitFor,
			"pin":       pin,
			"killvm":    killVM,
			"until":     until,
			"otherconn": otherConn,
			"event":     event,
			"signal":    signalUp,
			"savevar":   saveVar,
			"taskruns":  taskRuns,
			"phase":     phase,
			"waitlease": waitLease,
			"flipbyte":  flipByte,
			"noengine": func(ts *testscript.TestScript, _ bool, _ []string) {
				ts.Setenv("PAL_NO_ENGINE", buildWithoutEngine(ts))
			},
		},
	})
}

// eventually asks for a fact again and again, and fails the script when it does not come true.
func eventually(ts *testscript.TestScript, what string, fact func() (bool, error)) {
	late := time.NewTimer(patience)
	defer late.Stop()
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for {
		ok, err := fact()
		if ok {
			return
		}
		select {
		case <-again.C:
		case <-late.C:
			ts.Fatalf("%s: not so within %v (%v)", what, patience, err)
		}
	}
}

// waitFor FILE [TEXT] waits until the file exists and holds the text, or anything.
func waitFor(ts *testscript.TestScript, _ bool, args []string) {
	file := ts.MkAbs(args[0])
	eventually(ts, strings.Join(args, " holds "), func() (bool, error) {
		text, err := os.ReadFile(file)
		if len(args) > 1 {
			return strings.Contains(string(text), args[1]), err
		}
		return len(text) > 0, err
	})
}

// pal runs the program and returns its output.
func pal(ts *testscript.TestScript, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, ts.Getenv("PAL"), args...)
	cmd.Env = []string{"PAL_STATE=" + ts.Getenv("PAL_STATE"), "HOME=" + ts.Getenv("HOME")}
	cmd.Dir = ts.MkAbs(".")
	return cmd.Output()
}

// pin NAME LEVEL waits until the guard's table shows the level.
func pin(ts *testscript.TestScript, _ bool, args []string) {
	want, err := strconv.Atoi(args[1])
	ts.Check(err)
	eventually(ts, fmt.Sprintf("pin %s at %d", args[0], want), func() (bool, error) {
		out, err := pal(ts, "pins", "--json")
		if err != nil {
			return false, err
		}
		var pins protocol.Pins
		if err := json.Unmarshal(out, &pins); err != nil {
			return false, err
		}
		for _, p := range pins.Pins {
			if p.Name == args[0] || p.Pin == args[0] {
				return p.Level != nil && *p.Level == want, nil
			}
		}
		return false, fmt.Errorf("there is no pin %s", args[0])
	})
}

func status(ts *testscript.TestScript) (*protocol.Status, error) {
	out, err := pal(ts, "status", "--json")
	if err != nil {
		return nil, err
	}
	var s protocol.Status
	return &s, json.Unmarshal(out, &s)
}

// killVM LABEL kills the machine of that label as the kernel would.
func killVM(ts *testscript.TestScript, _ bool, args []string) {
	s, err := status(ts)
	ts.Check(err)
	for _, m := range s.Machines {
		if m.Label == args[0] {
			ts.Check(syscall.Kill(m.PID, syscall.SIGKILL))
			return
		}
	}
	ts.Fatalf("there is no machine %s", args[0])
}

// until running|idle waits until the terminal runs an exec, or nothing.
func until(ts *testscript.TestScript, _ bool, args []string) {
	eventually(ts, "the terminal is "+args[0], func() (bool, error) {
		s, err := status(ts)
		if err != nil {
			return false, err
		}
		if s.Running != nil {
			ts.Setenv("TRACE", s.Running.Trace)
		}
		return (s.Running != nil) == (args[0] == "running"), nil
	})
}

// otherConn waits until some other command has asked for something, and puts the number of its connection into CONN.
func otherConn(ts *testscript.TestScript, _ bool, _ []string) {
	eventually(ts, "another connection is there", func() (bool, error) {
		out, err := pal(ts, "conn", "ls", "--json")
		if err != nil {
			return false, err
		}
		var answer protocol.Conns
		if err := json.Unmarshal(out, &answer); err != nil {
			return false, err
		}
		for _, c := range answer.Conns {
			if !c.Self && c.Requests > 1 { // more than its hello
				ts.Setenv("CONN", strconv.FormatUint(c.Conn, 10))
				return true, nil
			}
		}
		return false, nil
	})
}

// event NAME N waits until the ring holds N events of that name.
func event(ts *testscript.TestScript, _ bool, args []string) {
	want, err := strconv.Atoi(args[1])
	ts.Check(err)
	eventually(ts, strings.Join(args, " × "), func() (bool, error) {
		out, err := pal(ts, "events", "--json", args[0])
		return bytes.Count(out, []byte("\n")) == want, err
	})
}

// signalUp NAME sends a signal to the terminal of the state folder. (The script's own kill reaches background commands, and
// knows two signals.)
func signalUp(ts *testscript.TestScript, _ bool, args []string) {
	signals := map[string]syscall.Signal{"TERM": syscall.SIGTERM, "HUP": syscall.SIGHUP, "USR1": syscall.SIGUSR1, "KILL": syscall.SIGKILL}
	var at struct {
		PID int `json:"pid"`
	}
	text, err := os.ReadFile(filepath.Join(ts.Getenv("PAL_STATE"), "terminal.json"))
	ts.Check(err)
	ts.Check(json.Unmarshal(text, &at))
	ts.Check(syscall.Kill(at.PID, signals[args[0]]))
}

// saveVar NAME FILE [KEY...] puts the text of a file, or what keys and numbers lead to in the JSON in it, into a variable.
func saveVar(ts *testscript.TestScript, _ bool, args []string) {
	text := []byte(ts.ReadFile(args[1]))
	value := string(bytes.TrimSpace(text))
	if len(args) > 2 {
		var at any
		ts.Check(json.Unmarshal(text, &at))
		for _, key := range args[2:] {
			if list, ok := at.([]any); ok {
				n, err := strconv.Atoi(key)
				ts.Check(err)
				at = list[n]
			} else {
				at = at.(map[string]any)[key]
			}
		}
		value = fmt.Sprint(at)
	}
	ts.Setenv(args[0], value)
}

// buildWithoutEngine builds the program as a checkout without the generated engine does, and returns its path.
func buildWithoutEngine(ts *testscript.TestScript) string {
	root, err := filepath.Abs("../..")
	ts.Check(err)
	overlay := filepath.Join(ts.MkAbs("."), "overlay.json")
	text, err := json.Marshal(map[string]map[string]string{
		"Replace": {filepath.Join(root, "micropython", "engine", "engine.wasm"): ""}, // as if it were not there
	})
	ts.Check(err)
	ts.Check(os.WriteFile(overlay, text, 0o600))
	path := filepath.Join(ts.MkAbs("."), "pal-no-engine")
	cmd := exec.Command("go", "build", "-overlay", overlay, "-o", path, "./cmd/pal")
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		ts.Fatalf("build without engine: %v\n%s", err, out)
	}
	return path
}
