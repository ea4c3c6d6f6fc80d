//go:build linux

package vm_test

import (
	"context"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pal-terminal/pal/hw"
	"github.com/pal-terminal/pal/hw/hwtest"
	"github.com/pal-terminal/pal/limits"
)

func TestContract(t *testing.T) {
	hwtest.TestExecutor(t, func(t testing.TB) hw.Executor { return fakes(t, "good").Executor("agent") })
}

// The same records over the socket, where the machine has no shared memory.
func TestContractWithoutMemory(t *testing.T) {
	hwtest.TestExecutor(t, func(t testing.TB) hw.Executor { return fakes(t, "socket").Executor("agent") })
}

// Each row is a way for a job to end and what the ladder makes of it.
func TestLadder(t *testing.T) {
	tests := []struct {
		name     string
		code     string
		deadline time.Duration
		rung     hw.Rung
		died     bool
		cause    string // part of it
		atLeast  time.Duration
		atMost   time.Duration
	}{
		{name: "by-itself", code: hwtest.Hello, deadline: 20 * time.Second, rung: hw.RungNone, atMost: 5 * time.Second},
		{name: "interrupted", code: hwtest.Endless, deadline: 50 * time.Millisecond, rung: hw.RungInterrupt,
			atLeast: 50 * time.Millisecond, atMost: 5 * time.Second},
		{name: "obeys-late", code: slowEnd, deadline: 50 * time.Millisecond, rung: hw.RungInterrupt,
			atLeast: 50*time.Millisecond + limits.InterruptGrace/2, atMost: 5 * time.Second},
		{name: "swallows", code: hwtest.Swallow, deadline: 50 * time.Millisecond, rung: hw.RungKill, died: true,
			cause: "KeyboardInterrupt", atLeast: 50*time.Millisecond + limits.InterruptGrace, atMost: 5 * time.Second},
		{name: "does-not-read", code: deafness, deadline: 50 * time.Millisecond, rung: hw.RungKill, died: true,
			cause: "KeyboardInterrupt", atLeast: 50*time.Millisecond + limits.InterruptGrace, atMost: 5 * time.Second},
		// What it writes without a word to the guard is no sign of life.
		{name: "writes-unheard", code: unheard, deadline: 20 * time.Second, rung: hw.RungSilence, died: true,
			cause: "no heartbeat", atLeast: limits.HeartbeatSilence - limits.HeartbeatPeriod, atMost: 10 * time.Second},
		{name: "silent", code: muteness, deadline: 20 * time.Second, rung: hw.RungSilence, died: true,
			cause: "no heartbeat", atLeast: limits.HeartbeatSilence - limits.HeartbeatPeriod, atMost: 10 * time.Second},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			b := fakes(t, "good")
			m := b.Executor("agent")
			works(t, m)
			gen := m.Generation()
			began := time.Now()
			s := &hwtest.Sink{T: t}
			out := s.Run(within(t, test.deadline), m, hwtest.Exec("", test.code))
			took := time.Since(began)
			if !out.Started || out.Rung != test.rung || out.Died != test.died || !strings.Contains(out.Cause, test.cause) {
				t.Errorf("outcome: got %+v, want rung %d, died %v, cause with %q", out, test.rung, test.died, test.cause)
			}
			if took < test.atLeast || took > test.atMost {
				t.Errorf("took %v, want %v to %v", took, test.atLeast, test.atMost)
			}
			wantGen := gen
			if test.died {
				wantGen++
				if n := b.next(t, hw.NoticeRestarted); n.label != "agent" || n.Cause != out.Cause {
					t.Errorf("notice: got %+v, want the cause %q", n, out.Cause)
				}
			}
			works(t, m)
			b.none(t)
			if got := m.Generation(); got != wantGen {
				t.Errorf("generation: got %d, want %d", got, wantGen)
			}
		})
	}
}

func TestWarningComesBeforeSilence(t *testing.T) {
	t.Parallel()
	b := fakes(t, "good")
	m := b.Executor("agent")
	out, _ := runs(t, m, muteness)
	if out.Rung != hw.RungSilence {
		t.Fatalf("rung: got %d, want %d", out.Rung, hw.RungSilence)
	}
	if n := <-b.notices; n.Kind != hw.NoticeWarning || n.label != "agent" {
		t.Errorf("first notice: got %+v, want a warning", n)
	}
	if n := b.next(t, hw.NoticeRestarted); !strings.Contains(n.Cause, "no heartbeat") {
		t.Errorf("second notice: got %+v, want the restart", n)
	}
}

// The time that the guard itself takes for a call is not the machine's silence.
func TestLongCallIsNotSilence(t *testing.T) {
	t.Parallel()
	b := fakes(t, "good")
	m := b.Executor("agent")
	s := &hwtest.Sink{T: t, Answer: func(c hw.Call) (hw.Reply, bool) {
		if c.Op == hw.OpPinMode {
			<-time.After(limits.HeartbeatSilence + limits.HeartbeatPeriod)
		}
		return hw.Reply{}, false
	}}
	out := s.Run(within(t, 20*time.Second), m, hwtest.Exec("", hwtest.Drive))
	if out.Died || out.Rung != hw.RungNone || out.Exception != nil {
		t.Errorf("outcome: got %+v, want a good end", out)
	}
	b.none(t)
}

// A machine that stops between jobs is seen without a job's help.
func TestIdleMachineFallsSilent(t *testing.T) {
	t.Parallel()
	b := fakes(t, "good")
	m := b.Executor("agent")
	works(t, m)
	if err := unix.Kill(m.Status().Pid, unix.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	b.next(t, hw.NoticeWarning)
	if n := b.next(t, hw.NoticeRestarted); !strings.Contains(n.Cause, "no heartbeat") {
		t.Errorf("notice: got %+v, want silence as the cause", n)
	}
	works(t, m)
}

// The end of a context that is also the end of its job must not touch the next job.
func TestHammerInterruptNeverHitsTheNextJob(t *testing.T) {
	t.Parallel()
	b := fakes(t, "good")
	m := b.Executor("agent")
	works(t, m)
	var ended, cut int
	for i := range 300 {
		ctx, cancel := context.WithCancel(t.Context())
		s := &hwtest.Sink{T: t, Answer: func(c hw.Call) (hw.Reply, bool) {
			if c.Op == hw.OpPinWrite && c.A == 0 { // the last call: its answer and the interrupt race with the end
				time.AfterFunc(time.Duration(i)*time.Microsecond, cancel)
			}
			return hw.Reply{}, false
		}}
		out := s.Run(ctx, m, hwtest.Exec("", hwtest.Drive))
		cancel()
		if out.Died || out.Exception != nil {
			t.Fatalf("run %d: got %+v, want a good end", i, out)
		}
		if out.Rung == hw.RungInterrupt {
			cut++
		} else {
			ended++
		}
		// The next job waits for its interrupt: one that comes by itself is the last job's.
		next, cancelNext := context.WithCancel(t.Context())
		asked := make(chan struct{})
		s = &hwtest.Sink{T: t, Answer: func(c hw.Call) (hw.Reply, bool) {
			if c.Op == hw.OpPinIRQ {
				close(asked)
			}
			return hw.Reply{}, false
		}}
		done := make(chan hw.Outcome, 1)
		go func() { done <- s.Run(next, m, hwtest.Exec("", hwtest.Watch)) }()
		<-asked
		if !m.Edge(hw.Edge{Pin: hwtest.Handle, Rose: true}) {
			t.Error("Edge: got false, want true")
		}
		if out := <-done; out.Exception != nil || out.Rung != hw.RungNone {
			t.Fatalf("job after run %d: got %+v (exception %+v), want no trace of an interrupt", i, out, out.Exception)
		}
		cancelNext()
	}
	t.Logf("%d jobs ended first, %d were interrupted first", ended, cut)
}

// An edge never blocks, the queue is bounded, and what did not fit is counted in the next one.
func TestEdgesAreBoundedAndCounted(t *testing.T) {
	t.Parallel()
	b := fakes(t, "good")
	m := b.Executor("agent")
	running := make(chan struct{})
	s := &hwtest.Sink{T: t, Answer: func(c hw.Call) (hw.Reply, bool) {
		if c.Op == hw.OpPinMode {
			close(running)
		}
		return hw.Reply{}, false
	}}
	done := make(chan hw.Outcome, 1)
	go func() { done <- s.Run(within(t, 20*time.Second), m, hwtest.Exec("", lostSum)) }()
	<-running
	pid := m.Status().Pid
	if err := unix.Kill(pid, unix.SIGSTOP); err != nil { // it cannot read now
		t.Fatal(err)
	}
	edge := hw.Edge{Pin: hwtest.Handle, Rose: true, Label: strings.Repeat("s", limits.SessionNameBytes)}
	sent := 0
	for m.Edge(edge) {
		sent++
	}
	const more = 10
	refused := 1
	for range more {
		if !m.Edge(edge) {
			refused++
		}
	}
	if err := unix.Kill(pid, unix.SIGCONT); err != nil {
		t.Fatal(err)
	}
	if sent < limits.EdgeQueue {
		t.Errorf("edges taken: got %d, want at least the queue's %d", sent, limits.EdgeQueue)
	}
	var out hw.Outcome
	eventually(t, "an edge that tells of lost ones", func() bool {
		select {
		case out = <-done:
			return true
		default:
			if !m.Edge(edge) {
				refused++
			}
			return false
		}
	})
	if out.Died || out.Exception != nil {
		t.Fatalf("outcome: got %+v, want a good end", out)
	}
	got, err := strconv.Atoi(strings.TrimPrefix(s.Text(hw.Stdout), "lost "))
	if err != nil || got < 1 || got > refused {
		t.Errorf("lost: got %q, want 1 to %d", s.Text(hw.Stdout), refused)
	}
}
