//go:build unix

package faults

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/pal-terminal/pal/client"
	"github.com/pal-terminal/pal/identity"
	"github.com/pal-terminal/pal/limits"
	"github.com/pal-terminal/pal/protocol"
	"github.com/pal-terminal/pal/test/palbin"
)

// process is a running `pal up`.
type process struct {
	t     testing.TB
	state string
	cmd   *exec.Cmd
	ended chan struct{} // closed when it has ended
	log   strings.Builder
	took  time.Duration // from its start until it answered
}

// up starts the program on a state folder and returns when it has answered. more are flags, and lines of its environment.
func up(t testing.TB, state string, more ...string) *process {
	t.Helper()
	var flags []string
	env := os.Environ()
	for _, word := range more {
		if strings.HasPrefix(word, "--") {
			flags = append(flags, word)
		} else {
			env = append(env, word)
		}
	}
	bin, ready := palbin.Build(t), filepath.Join(t.TempDir(), "ready")
	p := &process{t: t, state: state, ended: make(chan struct{})}
	p.cmd = exec.Command(bin, append([]string{"up", "--listen", "127.0.0.1:0", "--ready-file", ready, "--state", state}, flags...)...)
	p.cmd.Stderr, p.cmd.Env = &p.log, env
	at := time.Now()
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { defer close(p.ended); p.cmd.Wait() }() // most of them are killed
	t.Cleanup(func() {
		p.cmd.Process.Kill() // it may have ended
		<-p.ended
		if t.Failed() {
			t.Log(p.log.String())
		}
	})
	eventually(t, "it serves", func() bool {
		select {
		case <-p.ended:
			t.Fatalf("pal up ended:\n%s", p.log.String())
		default:
		}
		text, err := os.ReadFile(ready)
		return err == nil && json.Valid(text)
	})
	if err := p.dial("").Ping(t.Context()); err != nil {
		t.Fatal(err)
	}
	p.took = time.Since(at)
	return p
}

// dial connects as the local human, or with a token.
func (p *process) dial(token string) *client.Client {
	p.t.Helper()
	target, err := client.FromState(p.state)
	if err != nil {
		p.t.Fatal(err)
	}
	target.Name = "the-client"
	if token != "" {
		target.Token = token
	}
	c, err := client.Dial(p.t.Context(), target)
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { c.Close() }) // it may have ended
	return c
}

func (p *process) agent() *client.Client { p.t.Helper(); return p.dial(agentToken(p.t, p.state)) }

// agentToken is the token of the local agent of a state folder.
func agentToken(t testing.TB, state string) string {
	t.Helper()
	token, err := os.ReadFile(filepath.Join(state, identity.LocalFile(identity.LocalAgent)))
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(token))
}

// kill ends it without a word.
func (p *process) kill() {
	p.t.Helper()
	if err := p.cmd.Process.Kill(); err != nil {
		p.t.Fatal(err)
	}
	<-p.ended
}

// boot returns the data of the event boot.
func boot(t testing.TB, c *client.Client) (data struct {
	Cause       string
	Failed      int `json:"failed_starts"`
	Interrupted []struct{ Trace, Actor, Type string }
	Pins        []protocol.PinState
}) {
	t.Helper()
	zero := uint64(0)
	events, cancel, err := c.Subscribe(t.Context(), []string{"boot"}, &zero)
	if err != nil {
		t.Fatal(err)
	}
	defer cancel()
	select {
	case e := <-events:
		if err := json.Unmarshal(e.Data, &data); err != nil {
			t.Fatal(err)
		}
	case <-time.After(patience):
		t.Fatal("no event boot")
	}
	return data
}

// outputsSafe checks the levels of every output of a terminal.
func outputsSafe(t testing.TB, when string, c *client.Client) {
	t.Helper()
	pins, err := c.Pins(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, p := range pins.Pins {
		if p.Safe == nil || p.Level == nil {
			continue
		}
		if n++; *p.Level != *p.Safe {
			t.Errorf("%s: %s is %d, safe is %d", when, p.Name, *p.Level, *p.Safe)
		}
	}
	if n < 10 {
		t.Errorf("%s: only %d outputs have a safe level", when, n)
	}
}

// Guard killed -9: after the restart the outputs are safe, the cause is told, and what was cut off is named and not run again.
func TestGuardKilled(t *testing.T) {
	state := filepath.Join(t.TempDir(), "state")
	p := up(t, state)
	agent := p.agent()
	go agent.Exec(t.Context(), protocol.Exec{Code: "LED.on()\nRELAY_1.on()\nwhile True: pass"}) // it is cut off
	human := p.dial("")
	eventually(t, "it drives", func() bool {
		res, err := human.PinRead(t.Context(), "RELAY_1")
		return err == nil && string(res.Value) == "1"
	})
	status, err := human.Status(t.Context())
	if err != nil || status.Running == nil {
		t.Fatalf("status: got %+v, %v", status, err)
	}
	trace := status.Running.Trace
	machines := status.Machines
	p.kill()
	for _, m := range machines { // they end with the guard, whatever they run
		eventually(t, "the machine is gone", func() bool { return m.PID == 0 || syscall.Kill(m.PID, 0) != nil || zombie(m.PID) })
	}

	p = up(t, state)
	within(t, "guard killed -9", p.took, 2*time.Second)
	human = p.dial("")
	outputsSafe(t, "after the restart", human)
	b := boot(t, human)
	if b.Cause != "crash" || len(b.Interrupted) != 1 || b.Interrupted[0].Trace != trace || b.Interrupted[0].Type != "exec" {
		t.Errorf("boot: got %+v, want the cause crash and exec %s interrupted", b, trace)
	}
	shown, err := human.Audit(t.Context(), protocol.Audit{Op: "show", Trace: trace})
	if err != nil || len(shown.Entries) != 1 || !strings.Contains(string(shown.Entries[0]), "RELAY_1.on()") {
		t.Errorf("audit show %s: got %s, %v", trace, shown.Entries, err)
	}
	if report, err := human.Audit(t.Context(), protocol.Audit{Op: "verify"}); err != nil || report.Report.Problem != "" {
		t.Errorf("audit verify: got %+v, %v", report, err)
	}
}

// zombie reports whether a process has ended and nobody has asked how.
func zombie(pid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err != nil || strings.Contains(string(text), ") Z ")
}

// Repeated failed starts: then no program runs, until a person says so; what makes safe and what tells works.
func TestRepeatedFailedStarts(t *testing.T) {
	state := filepath.Join(t.TempDir(), "state")
	for n := range limits.FailedStarts {
		p := up(t, state)
		if b := boot(t, p.dial("")); b.Failed != n {
			t.Errorf("start %d: %d failed before it", n+1, b.Failed)
		}
		p.kill()
	}
	p := up(t, state)
	human, agent := p.dial(""), p.agent()
	outputsSafe(t, "in safe mode", human)
	mode, err := human.SafeMode(t.Context())
	if err != nil || !mode.Active || mode.FailedStarts != limits.FailedStarts || mode.Reason == "" {
		t.Fatalf("safe mode: got %+v, %v", mode, err)
	}
	zero := uint64(0)
	events, cancel, err := human.Subscribe(t.Context(), []string{"safe_mode"}, &zero)
	if err != nil {
		t.Fatal(err)
	}
	defer cancel()
	if e := <-events; e.Event != "safe_mode" || !strings.Contains(string(e.Data), `"active":true`) {
		t.Errorf("event: got %+v", e)
	}
	if code, rule := outcome(agent.Exec(t.Context(), protocol.Exec{Code: "LED.on()"})); code != protocol.CodeUnavailable || rule != "safe_mode" {
		t.Errorf("exec: got %s %s, want unavailable by safe_mode", code, rule)
	}
	if code, _ := outcome(agent.Tool(t.Context(), protocol.Tool{Tool: "toggle_led"})); code != protocol.CodeUnavailable {
		t.Errorf("tool: got %s, want unavailable", code)
	}
	if status, err := agent.Status(t.Context()); err != nil || status.SafeMode == "" {
		t.Errorf("status: got %+v, %v", status, err)
	}
	if _, err := human.Audit(t.Context(), protocol.Audit{Op: "export"}); err != nil {
		t.Errorf("audit: %v", err)
	}
	if err := agent.Stop(t.Context(), "in safe mode"); err != nil {
		t.Errorf("stop: %v", err)
	}
	if _, err := agent.LeaveSafeMode(t.Context()); err == nil {
		t.Error("an agent leaves safe mode")
	} else if code, rule := refusal(err); code != protocol.CodeDenied || rule != "safe_mode.human" {
		t.Errorf("an agent leaves: got %v", err)
	}
	if err := agent.EstopClear(t.Context(), "safe mode"); err == nil {
		t.Error("an agent clears the e-stop")
	}
	if mode, err := human.LeaveSafeMode(t.Context()); err != nil || mode.Active {
		t.Fatalf("leave: got %+v, %v", mode, err)
	}
	if status, err := human.Status(t.Context()); err != nil || !status.Estop.Latched {
		t.Errorf("leaving safe mode has released the e-stop: %+v, %v", status.Estop, err)
	}
	if err := human.EstopClear(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	if res, err := agent.Exec(t.Context(), protocol.Exec{Code: "LED.on()"}); err != nil || res.Error {
		t.Errorf("exec after it: got %+v, %v", res, err)
	}
	p.kill()
	if b := boot(t, up(t, state).dial("")); b.Failed > 1 {
		t.Errorf("after it was left: %d failed starts", b.Failed)
	}
}

// supervisor is the notify socket of one.
type supervisor struct {
	conn *net.UnixConn
	mu   sync.Mutex // guards what follows
	last map[string]time.Time
	told []string
}

func supervise(t testing.TB) (s *supervisor, env []string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "n")
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	s = &supervisor{conn: conn, last: map[string]time.Time{}}
	done := make(chan struct{})
	go func() {
		defer close(done)
		b := make([]byte, 4096)
		for {
			n, err := conn.Read(b)
			if err != nil {
				return
			}
			s.mu.Lock()
			for _, line := range strings.Fields(string(b[:n])) {
				s.last[line] = time.Now()
				s.told = append(s.told, line)
			}
			s.mu.Unlock()
		}
	}()
	t.Cleanup(func() { conn.Close(); <-done })
	return s, []string{"NOTIFY_SOCKET=" + path, "WATCHDOG_USEC=7000000", "WATCHDOG_PID="}
}

func (s *supervisor) since(line string) (time.Duration, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at, ok := s.last[line]
	return time.Since(at), ok
}

// Guard stopped: it does not feed its watchdog any more, is killed by the supervisor, and the next start tells why.
func TestGuardStopped(t *testing.T) {
	t.Parallel()
	state := filepath.Join(t.TempDir(), "state")
	s, env := supervise(t)
	p := up(t, state, env...)
	late := time.NewTimer(3 * time.Second)
	defer late.Stop()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for fed := false; !fed; {
		select {
		case <-tick.C:
			_, fed = s.since("WATCHDOG=1")
		case <-late.C:
			t.Skip("this terminal feeds no supervisor yet")
		}
	}
	if _, ready := s.since("READY=1"); !ready {
		t.Errorf("it did not say READY=1: %v", s.told)
	}
	if res, err := p.agent().Exec(t.Context(), protocol.Exec{Code: "LED.on()"}); err != nil || res.Error {
		t.Fatalf("got %+v, %v", res, err)
	}
	if err := p.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	stopped := time.Now()
	eventually(t, "its supervisor has heard nothing for 7 s", func() bool {
		silent, _ := s.since("WATCHDOG=1")
		return silent > 7*time.Second
	})
	p.kill()
	within(t, "guard stopped: killed", time.Since(stopped), 10*time.Second)
	if err := os.WriteFile(filepath.Join(state, "supervisor-result"), []byte("watchdog\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p = up(t, state, env...)
	within(t, "guard stopped", time.Since(stopped), 12*time.Second)
	human := p.dial("")
	outputsSafe(t, "after the restart", human)
	if b := boot(t, human); b.Cause != "watchdog" {
		t.Errorf("boot: got the cause %q, want watchdog", b.Cause)
	}
}
