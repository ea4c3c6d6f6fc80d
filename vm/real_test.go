//go:build linux

package vm_test

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pal-terminal/pal/hw"
	"github.com/pal-terminal/pal/hw/hwtest"
	"github.com/pal-terminal/pal/limits"
	"github.com/pal-terminal/pal/test/palbin"
	"github.com/pal-terminal/pal/vm"
)

// The tests of this file run real MicroPython in the real machine process, built without the race detector.

func machines(t testing.TB) *bench {
	t.Helper()
	bin := palbin.Build(t)
	return fakes(t, "", func(c *vm.Config) { c.Command, c.CacheDir = []string{bin, "vm"}, compiled })
}

func TestRealContract(t *testing.T) {
	hwtest.TestExecutor(t, func(t testing.TB) hw.Executor { return machines(t).Executor("agent") })
}

// What hostile programs do to a machine. Times are loose: the machine that tests run on may be busy; what was measured is
// logged.
func TestRealFaults(t *testing.T) {
	const deadline = 500 * time.Millisecond
	tests := []struct {
		name   string
		code   string
		rungs  []hw.Rung
		class  string // of the exception, when one is due
		atMost time.Duration
	}{
		{name: "endless", code: "while True: pass", rungs: []hw.Rung{hw.RungInterrupt}, class: "KeyboardInterrupt", atMost: deadline + limits.InterruptGrace},
		{name: "sleeps", code: "import time\ntime.sleep(1000)", rungs: []hw.Rung{hw.RungInterrupt}, class: "KeyboardInterrupt", atMost: deadline + limits.InterruptGrace},
		{name: "swallows", code: "while True:\n try:\n  while True: pass\n except BaseException: pass", rungs: []hw.Rung{hw.RungKill}, atMost: deadline + limits.InterruptGrace + time.Second},
		{name: "finally-loops", code: "try:\n while True: pass\nfinally:\n while True:\n  try:\n   while True: pass\n  except BaseException: pass", rungs: []hw.Rung{hw.RungKill}, atMost: deadline + limits.InterruptGrace + time.Second},
		// Calls without loops: a deadline inside WebAssembly misses them.
		{name: "call-tree", code: "f=lambda:0\n" + strings.Repeat("f=(lambda g:lambda:g() or g())(f)\n", 60) + "f()", rungs: []hw.Rung{hw.RungInterrupt, hw.RungKill}, atMost: deadline + limits.InterruptGrace + time.Second},
		// One bytecode that takes for ever.
		{name: "huge-power", code: "x = 3 ** 900000\nwhile True:\n x = x * x % (1 << 2000000)", rungs: []hw.Rung{hw.RungNone, hw.RungInterrupt, hw.RungKill}, atMost: deadline + limits.InterruptGrace + time.Second},
		{name: "memory", code: "l = []\nwhile True: l.append(bytearray(10000))", rungs: []hw.Rung{hw.RungNone}, class: "MemoryError", atMost: deadline},
		{name: "recursion", code: "def f(): f()\nf()", rungs: []hw.Rung{hw.RungNone}, class: "RuntimeError", atMost: deadline},
		{name: "flood", code: "while True: print('spam and ham' * 100)", rungs: []hw.Rung{hw.RungInterrupt}, class: "KeyboardInterrupt", atMost: deadline + limits.InterruptGrace},
	}
	b := machines(t)
	m := b.Executor("agent")
	works(t, m)
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			began := time.Now()
			s := &hwtest.Sink{T: t}
			out := s.Run(within(t, deadline), m, hwtest.Exec("", test.code))
			took := time.Since(began)
			t.Logf("rung %d, %v, cause %q", out.Rung, took, out.Cause)
			if !out.Started || !slices.Contains(test.rungs, out.Rung) || out.Died != (out.Rung == hw.RungKill) {
				t.Errorf("outcome: got %+v, want a rung of %v", out, test.rungs)
			}
			if test.class != "" && (out.Exception == nil || out.Exception.Class != test.class) {
				t.Errorf("exception: got %+v, want %s", out.Exception, test.class)
			}
			if took > test.atMost {
				t.Errorf("took %v, want at most %v", took, test.atMost)
			}
			if out.Died {
				t.Logf("replaced in %v", b.next(t, hw.NoticeRestarted).Took)
			}
			works(t, m)
			b.none(t)
		})
	}
}

// kill -9 in the middle of a program.
func TestRealKilledFromOutside(t *testing.T) {
	b := machines(t)
	m := b.Executor("agent")
	works(t, m)
	eventually(t, "a standby", func() bool { return b.Status().Standby })
	s := &hwtest.Sink{T: t, Answer: func(c hw.Call) (hw.Reply, bool) {
		if c.Op == hw.OpPinMode {
			if err := unix.Kill(m.Status().Pid, unix.SIGKILL); err != nil {
				t.Error(err)
			}
		}
		return hw.Reply{}, false
	}}
	out := s.Run(within(t, 20*time.Second), m, hwtest.Exec("", hwtest.Endless))
	if !out.Started || !out.Died || out.Rung != hw.RungNone || out.Cause != "killed by SIGKILL" {
		t.Errorf("outcome: got %+v, want killed by SIGKILL", out)
	}
	t.Logf("replaced in %v", b.next(t, hw.NoticeRestarted).Took)
	works(t, m)
}

// A real machine that is idle keeps saying that it lives, and says what confines it.
func TestRealIdle(t *testing.T) {
	b := machines(t)
	m := b.Executor("agent")
	works(t, m)
	<-time.After(limits.HeartbeatSilence + limits.HeartbeatPeriod)
	b.none(t)
	works(t, m)
	s := m.Status()
	t.Logf("%+v", s)
	if s.Generation != 1 || s.Engine == "" || s.Boot <= 0 || s.HeapBytes != limits.VMHeapDefault {
		t.Errorf("status: got %+v, want the first machine with its engine, boot time and heap", s)
	}
	for _, measure := range []string{"empty-env", "no-new-privs", "rlimits", "seccomp"} {
		if !slices.ContainsFunc(s.Sandbox, func(have string) bool { return strings.HasPrefix(have, measure) }) {
			t.Errorf("sandbox: got %q, missing %q, want %s among the active", s.Sandbox, s.Missing, measure)
		}
	}
	if most := int64(60 << 20); s.RSSBytes <= 0 || s.RSSBytes > most {
		t.Errorf("resident memory: got %d, want at most %d", s.RSSBytes, most)
	}
}

// A machine that cannot use its cache folder still starts, or says why it does not.
func TestRealWithoutCache(t *testing.T) {
	bin := palbin.Build(t)
	file := t.TempDir() + "/file"
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	b := fakes(t, "", func(c *vm.Config) { c.Command, c.CacheDir = []string{bin, "vm"}, file })
	out, _ := runs(t, b.Executor("agent"), hwtest.Hello)
	if !out.Started && !strings.Contains(out.Cause, file) {
		t.Errorf("outcome: got %+v, want a good end or a cause that names %s", out, file)
	}
}

const realCalls = "from machine import Pin\np = Pin(5, Pin.IN)\nfor _ in range(10000): p.value()"

// BenchmarkRealCall measures reads of a pin in a Python loop with a guard that answers at once.
func BenchmarkRealCall(b *testing.B) {
	m := machines(b).Executor("agent")
	works(b, m)
	n := 0
	for b.Loop() {
		if out := m.Run(b.Context(), hwtest.Exec("", realCalls), fast{}); out.Exception != nil || out.Died {
			b.Fatalf("outcome: %+v (exception %+v)", out, out.Exception)
		}
		n += 10_000
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n), "ns/call")
}

// BenchmarkRealRun measures the job `x=1`, there and back.
func BenchmarkRealRun(b *testing.B) {
	m := machines(b).Executor("agent")
	works(b, m)
	for b.Loop() {
		if out := m.Run(b.Context(), hwtest.Exec("a", "x=1"), fast{}); out.Exception != nil || out.Died {
			b.Fatalf("outcome: %+v (exception %+v)", out, out.Exception)
		}
	}
}

// BenchmarkRealReplace measures the replacement of a killed machine with the standby in hand.
func BenchmarkRealReplace(b *testing.B) {
	p := machines(b)
	replace(b, p, p.Executor("agent"))
}
