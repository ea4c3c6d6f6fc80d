//go:build unix

package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pal-terminal/pal/cmd/pal/internal/cli"
	"github.com/pal-terminal/pal/config"
	"github.com/pal-terminal/pal/test/palbin"
)

// upInside runs `pal up` inside this process, which the race detector sees. Only the machines are processes of their own.
func upInside(t *testing.T, ctx context.Context, flags ...string) (env map[string]string, ended func() (int, string, string)) {
	t.Helper()
	dir := t.TempDir()
	cache := config.CacheDir(os.Getenv, dir)
	env = map[string]string{"PAL_STATE": filepath.Join(dir, "state"), "XDG_CACHE_HOME": filepath.Dir(cache)}
	ready := filepath.Join(dir, "ready")
	var out, errs strings.Builder
	a := &cli.App{
		Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs,
		Getenv: func(key string) string { return env[key] }, Machine: []string{palbin.Build(t), "vm"},
	}
	var code int
	var wg sync.WaitGroup
	wg.Go(func() {
		root := newRoot(a)
		root.SetArgs(append([]string{"up", "--listen", "127.0.0.1:0", "--ready-file", ready}, flags...))
		err := root.ExecuteContext(ctx)
		errs.WriteString(cli.OneLine(err))
		code = cli.ExitCode(err)
	})
	ended = func() (int, string, string) {
		wg.Wait()
		return code, out.String(), errs.String()
	}
	late := time.After(30 * time.Second)
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	for ctx.Err() == nil {
		if text, err := os.ReadFile(ready); err == nil && len(text) > 0 {
			break
		}
		select {
		case <-again.C:
		case <-late:
			t.Fatal("the terminal does not serve")
		}
	}
	return env, ended
}

func TestUpInside(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	env, ended := upInside(t, ctx)
	for _, c := range []struct {
		line []string
		code int
		want string // on stdout, or on stderr when the code is not 0
	}{
		{[]string{"exec", "6*7"}, 0, "42\n"},
		{[]string{"eval", "{'a': [1, None]}"}, 0, "{\"a\":[1,null]}\n"},
		{[]string{"exec", "LED.on()"}, 0, ""},
		{[]string{"read", "LED"}, 0, "1\n"},
		{[]string{"set", "LED", "0"}, 0, "0\n"},
		{[]string{"set", "BOOT", "1"}, 5, "pal: denied: BOOT"},
		{[]string{"exec", "1/0"}, 1, "ZeroDivisionError"},
		{[]string{"pins"}, 0, "LED"},
		{[]string{"status"}, 0, "bench-sim"},
		{[]string{"conn", "ls"}, 0, "this command"},
		{[]string{"token", "ls"}, 0, "local-human"},
		{[]string{"events", "boot"}, 0, `"pins":47`},
		{[]string{"sim", "show", "LED"}, 0, "name: LED"},
		{[]string{"sim", "ls"}, 0, "0      lit: false, switched: 2\n"},
		{[]string{"sim", "text", "WS2812"}, 0, "\x1b[38;2;0;0;0m▀"},
		{[]string{"sim", "text", "LED"}, 2, "it shows no picture"},
		{[]string{"sim", "scenario", "no-such.yaml"}, 2, "read the scenario"},
		{[]string{"sim", "scenario", "off"}, 0, "DEVICE"},
		{[]string{"sim", "image", "SSD1306"}, 0, "\x89PNG"},
		{[]string{"sim", "load", "W25Q64", "no-such"}, 2, "read what to load"},
		{[]string{"sim", "fault", "AHT20", "crc"}, 0, "crc"},
		{[]string{"sim", "stuck", "LED", "1"}, 0, "stuck: 1"},
		{[]string{"sim", "stuck", "LED", "off"}, 0, "name: LED"},
		{[]string{"board", "show"}, 0, "bench-sim"},
		{[]string{"reset"}, 0, "replaced"},
		{[]string{"task", "add", "--name", "t", "--every", "1h", "--resource", "RELAY_1", "--code", "pass"}, 0, "001\n"},
		{[]string{"task", "ls"}, 0, "every 1h"},
		{[]string{"task", "show", "001"}, 0, "  | pass\n"},
		{[]string{"task", "pause", "001"}, 0, "task 001 is paused"},
		{[]string{"task", "rm", "001", "002"}, 6, "002"},
		{[]string{"lease", "create", "RELAY_2", "--keep"}, 0, "lease_"},
		{[]string{"lease", "ls"}, 0, "RELAY_2:drive"},
		{[]string{"pins"}, 0, "LEASE"},
		{[]string{"approvals"}, 0, "ID  STATE"},
		{[]string{"approve", "none", "--yes"}, 6, "not_found"},
		{[]string{"safe-mode", "status"}, 0, "not in safe mode"},
		{[]string{"audit", "tail", "-n", "1"}, 0, "  outcome  "},
		{[]string{"audit", "verify"}, 0, "entries verified, 1 to "},
		{[]string{"stop", "test"}, 0, "stopped"},
		{[]string{"exec", "Pin('LED', Pin.OUT).on()"}, 5, "OSError"},
		{[]string{"release"}, 0, "released"},
	} {
		t.Run(strings.Join(c.line, "_"), func(t *testing.T) {
			code, stdout, stderr := run(t, env, c.line...)
			text := stdout
			if c.code != 0 {
				text = stderr
			}
			if code != c.code || !strings.Contains(text, c.want) {
				t.Errorf("got %d, %q, %q, want %d and %q", code, stdout, stderr, c.code, c.want)
			}
		})
	}
	cancel()
	if code, stdout, stderr := ended(); code != 0 || !strings.Contains(stdout, "serves at ws://127.0.0.1:") {
		t.Errorf("pal up: got %d, %q, %q", code, stdout, stderr)
	}
}

// An order to end that comes while the terminal is still starting is obeyed as well, and is no failure.
func TestUpEndsWhileStarting(t *testing.T) {
	for _, after := range []time.Duration{0, time.Millisecond, 5 * time.Millisecond, 20 * time.Millisecond} {
		t.Run(after.String(), func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), after)
			defer cancel()
			env, ended := upInside(t, ctx)
			if code, _, stderr := ended(); code != 0 || stderr != "" && !strings.Contains(stderr, "compiling") {
				t.Errorf("pal up: got %d, %q, want 0 and nothing", code, stderr)
			}
			if _, err := os.Stat(filepath.Join(env["PAL_STATE"], "terminal.json")); err == nil {
				t.Error("terminal.json was left behind")
			}
		})
	}
}
