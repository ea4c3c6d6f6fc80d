//go:build unix

// Package corpus runs many short MicroPython programs the way a user would, through `pal exec -`, and compares what they
// print with what CPython or the stock engine printed (README.md says how that was made).
package corpus

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pal-terminal/pal/test/palbin"
)

func TestCorpus(t *testing.T) {
	programs, err := filepath.Glob("*.py")
	if err != nil {
		t.Fatal(err)
	}
	if len(programs) < 230 {
		t.Fatalf("got %d programs, want at least 230", len(programs))
	}
	pal := palbin.Build(t)
	state := start(t, pal)
	for _, program := range programs {
		t.Run(strings.TrimSuffix(program, ".py"), func(t *testing.T) {
			source, err := os.Open(program)
			if err != nil {
				t.Fatal(err)
			}
			defer source.Close()
			want, err := os.ReadFile(strings.TrimSuffix(program, ".py") + ".out")
			if err != nil {
				t.Fatal(err)
			}
			cmd := exec.CommandContext(t.Context(), pal, "exec", "--session", "new", "--echo=false", "--max-output", "65536", "-")
			cmd.Env = append(os.Environ(), "PAL_STATE="+state)
			cmd.Stdin = source
			var stdout, stderr bytes.Buffer
			cmd.Stdout, cmd.Stderr = &stdout, &stderr
			if err := cmd.Run(); err != nil {
				t.Fatalf("pal exec: %v\n%s", err, stderr.String())
			}
			if !bytes.Equal(stdout.Bytes(), want) {
				t.Errorf("got:\n%s\nwant:\n%s", stdout.String(), want)
			}
		})
	}
}

// start runs `pal up` until the test ends and returns its state folder.
func start(t *testing.T, pal string) string {
	t.Helper()
	state := t.TempDir()
	ready := filepath.Join(state, "ready.json")
	cmd := exec.Command(pal, "up", "--state", state, "--listen", "127.0.0.1:0", "--ready-file", ready)
	cmd.Stdout, cmd.Stderr = t.Output(), t.Output()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	t.Cleanup(func() {
		cmd.Process.Signal(syscall.SIGTERM) // it may have ended
		select {
		case err := <-ended:
			if err != nil {
				t.Errorf("pal up: %v", err)
			}
		case <-time.After(10 * time.Second):
			cmd.Process.Kill() // it is stuck
			t.Error("pal up did not end on SIGTERM")
		}
	})
	ctx, done := context.WithTimeout(t.Context(), time.Minute)
	defer done()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		raw, err := os.ReadFile(ready)
		if err == nil && json.Valid(raw) {
			return state
		}
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatal("pal up is not ready")
		}
	}
}
