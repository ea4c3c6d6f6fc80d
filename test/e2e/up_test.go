//go:build unix

// Package e2e tests a running `pal up` from outside, where a script is not enough: many connections at once, raw HTTP, a
// person at a terminal, two programs that want the same relay.
package e2e

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pal-terminal/pal/client"
	"github.com/pal-terminal/pal/test/palbin"
)

// patience is how long a fact may take to come true on a busy machine.
const patience = 30 * time.Second

// up is a running terminal.
type up struct {
	t     *testing.T
	bin   string
	state string
	addr  string
	agent string // token of the local agent
	cmd   *exec.Cmd
	ended chan struct{} // closed when it has ended; err is set then
	err   error
	log   strings.Builder
}

// start runs `pal up` with the flags and returns when it serves. It ends with the test, in good order.
func start(t *testing.T, flags ...string) *up {
	t.Helper()
	dir := t.TempDir()
	u := &up{t: t, bin: palbin.Build(t), state: filepath.Join(dir, "state")}
	ready := filepath.Join(dir, "ready")
	u.cmd = exec.Command(u.bin, append([]string{"up", "--listen", "127.0.0.1:0", "--ready-file", ready, "--state", u.state}, flags...)...)
	u.cmd.Stderr = &u.log
	if err := u.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	u.ended = make(chan struct{})
	go func() {
		defer close(u.ended)
		u.err = u.cmd.Wait()
	}()
	t.Cleanup(func() {
		u.cmd.Process.Signal(syscall.SIGTERM) // it may have ended: Wait tells
		<-u.ended
		if u.err != nil || t.Failed() {
			t.Errorf("pal up ended: %v\n%s", u.err, u.log.String())
		}
	})
	u.eventually("the terminal serves", func() bool {
		text, err := os.ReadFile(ready)
		var file struct{ Addr, Token string }
		if err != nil || json.Unmarshal(text, &file) != nil {
			select {
			case <-u.ended:
				t.Fatalf("pal up ended: %v\n%s", u.err, u.log.String())
			default:
			}
			return false
		}
		u.addr, u.agent = file.Addr, file.Token
		return true
	})
	return u
}

// eventually waits for a fact.
func (u *up) eventually(what string, fact func() bool) {
	u.t.Helper()
	late := time.NewTimer(patience)
	defer late.Stop()
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	for !fact() {
		select {
		case <-again.C:
		case <-late.C:
			u.t.Fatalf("%s: not so within %v", what, patience)
		}
	}
}

// dial connects as the local human, or with a token.
func (u *up) dial(token, name string) *client.Client {
	u.t.Helper()
	target, err := client.FromState(u.state)
	if err != nil {
		u.t.Fatal(err)
	}
	if token != "" {
		target.Token = token
	}
	target.Name = name
	c, err := client.Dial(u.ctx(), target)
	if err != nil {
		u.t.Fatal(err)
	}
	u.t.Cleanup(func() { c.Close() })
	return c
}

func (u *up) ctx() context.Context {
	ctx, cancel := context.WithTimeout(u.t.Context(), patience)
	u.t.Cleanup(cancel)
	return ctx
}

// levels returns the level of every pin that has a name and a level, as the guard's table has them at one time.
func (u *up) levels(c *client.Client) map[string]int {
	u.t.Helper()
	pins, err := c.Pins(u.ctx())
	if err != nil {
		u.t.Fatal(err)
	}
	levels := map[string]int{}
	for _, p := range pins.Pins {
		if p.Name != "" && p.Level != nil {
			levels[p.Name] = *p.Level
		}
	}
	return levels
}
