//go:build linux

package vm_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pal-terminal/pal/hw"
	"github.com/pal-terminal/pal/hw/hwtest"
	"github.com/pal-terminal/pal/limits"
)

// Whatever a machine does against the rules ends it, names the reason, is reported once and leaves the next job alone.
func TestMisdeeds(t *testing.T) {
	causes := map[string]string{
		"call-of-another-job": "job 2 while job 1", "output-of-another-job": "job 0 while job 1", "end-of-another-job": "job 8 while job 1",
		"second-ready": "frame.Ready at the wrong time", "guards-record": "guard's to send", "unknown-stream": "stream 3",
		"no-stream": "stream 0", "too-much-output": "more output", "endless-output": "more output", "huge-length": "too long",
		"zero-length": "cut short", "unknown-type": "unknown record", "long-string": "cut short", "trailing-bytes": "bytes after",
		"heartbeat-flood": "flood of heartbeats", "cursor-goes-back": "cursor", "cursor-far-ahead": "cursor", "reader-cursor-too-far": "cursor",
		"wake-ups-for-nothing": "wake-ups for nothing", "posted-read": "as a posted call",
		"end-over-refusal": "before it heard of a posted call",
	}
	for name := range misdeeds {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := fakes(t, "good")
			m := b.Executor("agent")
			s := &hwtest.Sink{T: t, Answer: func(c hw.Call) (hw.Reply, bool) {
				return hw.Reply{Errno: 13, Text: "no"}, c.Pin == refusedPin
			}}
			out := s.Run(within(t, 20*time.Second), m, hwtest.Exec("", misdeed+name))
			if !out.Started || !out.Died || out.Rung != hw.RungNone {
				t.Errorf("outcome: got %+v, want a dead machine without a rung", out)
			}
			if want := causes[name]; want == "" || !strings.Contains(out.Cause, want) || !strings.Contains(out.Cause, "broke the protocol") {
				t.Errorf("cause: got %q, want one with %q", out.Cause, want)
			}
			for _, st := range []hw.Stream{hw.Stdout, hw.Stderr} {
				if got := len(s.Text(st)); got > limits.OutputDefault {
					t.Errorf("stream %d: got %d bytes, want at most %d", st, got, limits.OutputDefault)
				}
			}
			if n := b.next(t, hw.NoticeRestarted); n.Cause != out.Cause {
				t.Errorf("notice: got %+v, want the cause %q", n, out.Cause)
			}
			works(t, m)
			b.none(t)
		})
	}
}

// A machine that speaks without a job is ended between jobs; the job before it stays good.
func TestMisdeedsBetweenJobs(t *testing.T) {
	for name := range afterMisdeeds {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := fakes(t, "good")
			m := b.Executor("agent")
			gen := m.Generation()
			out, s := runs(t, m, misdeed+name)
			if out.Died || out.Exception != nil {
				t.Errorf("outcome: got %+v, want a good end", out)
			}
			if n := b.next(t, hw.NoticeRestarted); !strings.Contains(n.Cause, "without a job") {
				t.Errorf("notice: got %+v, want a record without a job", n)
			}
			if len(s.Calls()) > 0 || s.Text(hw.Stdout) != "" {
				t.Errorf("sink: got %d calls and %q, want nothing", len(s.Calls()), s.Text(hw.Stdout))
			}
			works(t, m)
			b.none(t)
			if got := m.Generation(); got != gen+1 {
				t.Errorf("generation: got %d, want %d", got, gen+1)
			}
		})
	}
}

func TestMisdeedsThatEndTheChannel(t *testing.T) {
	tests := []struct {
		name, cause string
		rung        hw.Rung
	}{
		{name: "unread-replies", cause: "did not read", rung: hw.RungKill},
		{name: "scribble", cause: "broke the protocol"},
		{name: "close-channel", cause: "closed its channel"},
		{name: "exit", cause: "exited with status 9: last words"},
		{name: "panic", cause: "exited with status 2: panic: the engine fell over"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			b := fakes(t, "good")
			m := b.Executor("agent")
			out, _ := runs(t, m, misdeed+test.name)
			own := test.name == "scribble" && strings.Contains(out.Cause, "panic: frame: ") // it fell over what it scribbled before it was killed for it
			if !out.Started || !out.Died || out.Rung != test.rung || !strings.Contains(out.Cause, test.cause) && !own {
				t.Errorf("outcome: got %+v, want rung %d and a cause with %q", out, test.rung, test.cause)
			}
			b.next(t, hw.NoticeRestarted)
			works(t, m)
			b.none(t)
		})
	}
}

// A machine may die at any byte of what it sends: each time there is one outcome, one notice, and the next job runs.
func TestDeathAtEveryPartOfARecord(t *testing.T) {
	whole, ends := script(1)
	var cuts []int
	for i, end := range ends {
		start := 0
		if i > 0 {
			start = ends[i-1]
		}
		cuts = append(cuts, start, start+1, start+4, start+5, (start+end)/2, end-1, end)
	}
	slices.Sort(cuts)
	cuts = slices.Compact(cuts)
	if last := cuts[len(cuts)-1]; last != len(whole) {
		t.Fatalf("cuts end at %d, want %d", last, len(whole))
	}
	b := fakes(t, "good")
	m := b.Executor("agent")
	for _, n := range cuts {
		works(t, m)
		gen := m.Generation()
		// The script is for job 1 and the job before was that: start over, so that the next one is.
		if err := m.Reset(t.Context()); err != nil {
			t.Fatal(err)
		}
		out, s := runs(t, m, cut+strconv.Itoa(n))
		if ended := n == len(whole); out.Died == ended || !out.Started || out.Rung != hw.RungNone {
			t.Errorf("cut at %d: got %+v, want died %v", n, out, !ended)
		}
		if out.Died && !strings.Contains(out.Cause, "exited with status 5") {
			t.Errorf("cut at %d: got cause %q, want its exit", n, out.Cause)
		}
		wantOut, wantCalls := "", 0
		if n >= ends[0] {
			wantOut = "pal\n"
		}
		if n >= ends[1] {
			wantCalls = 1
		}
		if got := s.Text(hw.Stdout); got != wantOut || len(s.Calls()) != wantCalls {
			t.Errorf("cut at %d: got %q and %d calls, want %q and %d", n, got, len(s.Calls()), wantOut, wantCalls)
		}
		if got := b.next(t, hw.NoticeRestarted); !strings.Contains(got.Cause, "exited with status 5") {
			t.Errorf("cut at %d: got notice %+v, want its exit", n, got)
		}
		b.none(t)
		if got := m.Generation(); got != gen+2 { // the reset and the death
			t.Errorf("cut at %d: generation %d, want %d", n, got, gen+2)
		}
	}
}

// kill -9 by somebody else, with a job at a call and between jobs.
func TestKilledFromOutside(t *testing.T) {
	for _, idle := range []bool{false, true} {
		t.Run(fmt.Sprintf("idle-%v", idle), func(t *testing.T) {
			t.Parallel()
			b := fakes(t, "good")
			m := b.Executor("agent")
			works(t, m)
			gen := m.Generation()
			kill := func() {
				if err := unix.Kill(m.Status().Pid, unix.SIGKILL); err != nil {
					t.Error(err)
				}
			}
			if idle {
				kill()
			} else {
				s := &hwtest.Sink{T: t, Answer: func(c hw.Call) (hw.Reply, bool) {
					if c.Op == hw.OpPinMode {
						kill()
					}
					return hw.Reply{}, false
				}}
				out := s.Run(within(t, 20*time.Second), m, hwtest.Exec("", hwtest.Endless))
				if !out.Started || !out.Died || out.Rung != hw.RungNone || out.Cause != "killed by SIGKILL" {
					t.Errorf("outcome: got %+v, want killed by SIGKILL", out)
				}
			}
			if n := <-b.notices; n.Kind != hw.NoticeLost || n.Cause != "killed by SIGKILL" {
				t.Errorf("first notice: got %+v, want the loss by SIGKILL", n)
			}
			if n := <-b.notices; n.Kind != hw.NoticeRestarted || n.Cause != "killed by SIGKILL" || n.Took <= 0 {
				t.Errorf("second notice: got %+v, want the restart after SIGKILL and the time it took", n)
			}
			if got := m.Generation(); got != gen+1 {
				t.Errorf("generation: got %d, want %d", got, gen+1)
			}
			works(t, m)
			b.none(t)
		})
	}
}

// A loss is told at once, also when there is nothing to replace the machine with.
func TestLostWithoutReplacement(t *testing.T) {
	t.Parallel()
	b := fakes(t, "dwindling", inFolder(t.TempDir()))
	m := b.Executor("agent")
	works(t, m)
	eventually(t, "a standby", func() bool { return b.Status().Standby })
	for _, kind := range []hw.NoticeKind{hw.NoticeLost, hw.NoticeRestarted, hw.NoticeLost} {
		if kind == hw.NoticeLost {
			if err := unix.Kill(m.Status().Pid, unix.SIGKILL); err != nil {
				t.Fatal(err)
			}
		}
		if n := <-b.notices; n.Kind != kind {
			t.Fatalf("notice: got %+v, want kind %d", n, kind)
		}
	}
	out, _ := runs(t, m, hwtest.Hello)
	if out.Started || !out.Died || !strings.Contains(out.Cause, "no more machines") {
		t.Errorf("outcome: got %+v, want no machine and the reason", out)
	}
	b.none(t)
}

// What a machine started dies with it, also when it holds the machine's channel and standard error open.
func TestDescendantsDie(t *testing.T) {
	t.Parallel()
	b := fakes(t, "good")
	m := b.Executor("agent")
	s := &hwtest.Sink{T: t}
	out := s.Run(within(t, 500*time.Millisecond), m, hwtest.Exec("", fork))
	if !out.Died || out.Rung != hw.RungKill {
		t.Fatalf("outcome: got %+v (exception %+v), want rung %d", out, out.Exception, hw.RungKill)
	}
	pid, err := strconv.Atoi(s.Text(hw.Stdout))
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "the descendant is gone", func() bool { return !alive(pid) })
	works(t, m)
}
