// Package hwtest is the contract of [hw.Executor] as a test suite: a machine in a child process, a MicroPython board on a
// serial line and a test double pass the same tests.
//
// The guest programs are ordinary MicroPython and are exported, so that a test double which understands no Python can
// recognise them by their text.
package hwtest

import (
	"bytes"
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pal-terminal/pal/hw"
	"github.com/pal-terminal/pal/limits"
)

// The suite's programs.
const (
	// Hello prints "pal" and a newline.
	Hello = "print('pal')"
	// Complain prints "oops" and a newline to standard error.
	Complain = "import sys\nsys.stderr.write('oops\\n')"
	// Fail raises ValueError('no') on line 2.
	Fail = "x = 1\nraise ValueError('no')"
	// Answer is an expression whose value is 42.
	Answer = "6 * 7"
	// Flood prints 200,000 bytes.
	Flood = "for _ in range(2000):\n    print('x' * 99)"
	// Keep sets a name that Show prints; a fresh namespace lets Show raise NameError.
	Keep = "kept = 41"
	Show = "print(kept + 1)"
	// Endless loops for ever, after it has used PinName once.
	Endless = "from machine import Pin\nkept = 41\nPin(" + PinName + ", Pin.OUT)\nwhile True:\n    pass"
	// Swallow is Endless with a deaf ear for KeyboardInterrupt from its first use of PinName on.
	Swallow = "from machine import Pin\nwhile True:\n    try:\n        Pin(" + PinName + ", Pin.OUT)\n" +
		"        while True:\n            pass\n    except BaseException:\n        pass"
	// Drive opens PinName, makes it an output and writes 1, then 0.
	Drive = "from machine import Pin\np = Pin(" + PinName + ", Pin.OUT)\np.value(1)\np.value(0)"
	// Watch arms PinName for rising edges, waits until one came and prints "rose".
	Watch = "from machine import Pin\nseen = []\np = Pin(" + PinName + ", Pin.IN)\n" +
		"p.irq(lambda p: seen.append(1), Pin.IRQ_RISING)\nwhile not seen:\n    pass\nprint('rose')"
)

// PinName is the pin of the programs, Handle what the suite's sink calls it.
const (
	PinName = "5"
	Handle  = 3
)

// patience bounds waits for things that a sound executor does at once.
const patience = 20 * time.Second

// Factory makes a fresh executor; the suite closes it.
type Factory func(t testing.TB) hw.Executor

// TestExecutor runs the suite.
func TestExecutor(t *testing.T, factory Factory) {
	tests := []struct {
		name string
		run  func(*testing.T, hw.Executor)
	}{
		{"output", testOutput},
		{"exception", testException},
		{"eval", testEval},
		{"flood", testFlood},
		{"sessions", testSessions},
		{"calls", testCalls},
		{"refusal", testRefusal},
		{"posted", testPosted},
		{"posted-refusal", testPostedRefusal},
		{"posted-healed", testPostedHealed},
		{"edge", testEdge},
		{"interrupt", testInterrupt},
		{"kill", testKill},
		{"ended-context", testEndedContext},
		{"reset", testReset},
		{"generation", testGeneration},
		{"many-jobs", testMany},
		{"close-idle", testCloseIdle},
		{"close-running", testCloseRunning},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			ex := factory(t)
			t.Cleanup(func() {
				if err := ex.Close(); err != nil {
					t.Errorf("Close: %v", err)
				}
			})
			test.run(t, ex)
		})
	}
}

// Sink records what a job does and answers as the test asks. It fails the test when it is used by two goroutines at a
// time or after Run returned.
type Sink struct {
	T testing.TB
	// Answer overrides the answer to a call; the second result false asks for the usual one.
	Answer func(c hw.Call) (hw.Reply, bool)

	inside atomic.Int32
	over   atomic.Bool

	mu    sync.Mutex // guards what follows
	calls []hw.Call
	out   [2]bytes.Buffer
}

// Call implements [hw.Sink].
func (s *Sink) Call(_ context.Context, c hw.Call) hw.Reply {
	defer s.enter()()
	if c.Op == hw.OpFlush {
		s.T.Error("a flush came to the sink: the executor answers it")
	}
	if c.Posted && c.Op != hw.OpPinWrite && c.Op != hw.OpPinToggle {
		s.T.Errorf("operation %d was posted", c.Op)
	}
	s.mu.Lock()
	s.calls = append(s.calls, c)
	s.mu.Unlock()
	if s.Answer != nil {
		if r, ok := s.Answer(c); ok {
			return r
		}
	}
	if c.Op == hw.OpPinOpen || c.Op == hw.OpADCOpen {
		return hw.Reply{Value: Handle}
	}
	return hw.Reply{}
}

// Output implements [hw.Sink].
func (s *Sink) Output(st hw.Stream, p []byte) {
	defer s.enter()()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.out[st-hw.Stdout].Write(p)
}

func (s *Sink) enter() (leave func()) {
	if s.over.Load() {
		s.T.Error("sink was used after Run had returned")
	}
	if s.inside.Add(1) != 1 {
		s.T.Error("sink was used by two goroutines at a time")
	}
	return func() { s.inside.Add(-1) }
}

// Calls returns the calls so far.
func (s *Sink) Calls() []hw.Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]hw.Call(nil), s.calls...)
}

// Text returns what was printed on a stream so far.
func (s *Sink) Text(st hw.Stream) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.out[st-hw.Stdout].String()
}

// Run runs one job and closes the sink behind it.
func (s *Sink) Run(ctx context.Context, ex hw.Executor, job hw.Job) hw.Outcome {
	out := ex.Run(ctx, job, s)
	s.over.Store(true)
	if n := s.inside.Load(); n != 0 {
		s.T.Errorf("Run returned while %d sink calls ran", n)
	}
	return out
}

// Exec is a job that runs code in session with room for the usual output.
func Exec(session, code string) hw.Job {
	return hw.Job{Kind: hw.JobExec, Session: session, Code: code, MaxOutput: limits.OutputDefault}
}

// run is one job with a sink of its own and a deadline that a sound executor never meets.
func run(t *testing.T, ex hw.Executor, job hw.Job) (hw.Outcome, *Sink) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	s := &Sink{T: t}
	return s.Run(ctx, ex, job), s
}

// wellDone checks that a job ended by itself.
func wellDone(t *testing.T, out hw.Outcome) {
	t.Helper()
	if !out.Started || out.Died || out.Rung != hw.RungNone || out.Exception != nil {
		t.Errorf("outcome: got %+v (exception %+v), want a job that ended by itself", out, out.Exception)
	}
}

func testOutput(t *testing.T, ex hw.Executor) {
	out, s := run(t, ex, Exec("", Hello))
	wellDone(t, out)
	if got, want := s.Text(hw.Stdout), "pal\n"; got != want {
		t.Errorf("stdout: got %q, want %q", got, want)
	}
	out, s = run(t, ex, Exec("", Complain))
	wellDone(t, out)
	if got, want := s.Text(hw.Stderr), "oops\n"; got != want {
		t.Errorf("stderr: got %q, want %q", got, want)
	}
}

func testException(t *testing.T, ex hw.Executor) {
	out, _ := run(t, ex, Exec("", Fail))
	if !out.Started || out.Died || out.Exception == nil {
		t.Fatalf("outcome: got %+v, want an exception", out)
	}
	e := *out.Exception
	if !strings.Contains(e.Traceback, "ValueError") {
		t.Errorf("traceback: got %q, want one that names ValueError", e.Traceback)
	}
	if e.Class != "ValueError" || e.Message != "no" || e.Line != 2 {
		t.Errorf("exception: got %s %q on line %d, want ValueError \"no\" on line 2", e.Class, e.Message, e.Line)
	}
}

func testEval(t *testing.T, ex hw.Executor) {
	job := Exec("", Answer)
	job.Eval = true
	out, _ := run(t, ex, job)
	wellDone(t, out)
	if got := string(out.Value); got != "42" {
		t.Errorf("value: got %q, want \"42\"", got)
	}
}

func testFlood(t *testing.T, ex hw.Executor) {
	job := Exec("", Flood)
	job.MaxOutput = 1000
	out, s := run(t, ex, job)
	wellDone(t, out)
	got := len(s.Text(hw.Stdout))
	if got > job.MaxOutput || got+out.DroppedOut != 200_000 {
		t.Errorf("flood: got %d bytes and %d dropped, want at most %d and 200000 in all", got, out.DroppedOut, job.MaxOutput)
	}
}

func testSessions(t *testing.T, ex hw.Executor) {
	out, _ := run(t, ex, Exec("a", Keep))
	wellDone(t, out)
	out, s := run(t, ex, Exec("a", Show))
	wellDone(t, out)
	if got := s.Text(hw.Stdout); got != "42\n" {
		t.Errorf("same session: got %q, want \"42\\n\"", got)
	}
	unknown(t, ex, Exec("b", Show))
	job := Exec("a", Show)
	job.Drop = []string{"a"}
	unknown(t, ex, job)
}

// unknown checks that Show in job does not know the name that Keep set.
func unknown(t *testing.T, ex hw.Executor, job hw.Job) {
	t.Helper()
	out, _ := run(t, ex, job)
	if out.Exception == nil || out.Exception.Class != "NameError" {
		t.Errorf("a name of elsewhere: got %+v (exception %+v), want NameError", out, out.Exception)
	}
}

func testCalls(t *testing.T, ex hw.Executor) {
	out, s := run(t, ex, Exec("", Drive))
	wellDone(t, out)
	var open, mode bool
	var levels []int64
	for _, c := range s.Calls() {
		switch c.Op {
		case hw.OpPinOpen:
			open = c.Text == PinName
		case hw.OpPinMode:
			mode = open && c.Pin == Handle && hw.Mode(c.A) == hw.ModeOut
		case hw.OpPinWrite:
			if mode && c.Pin == Handle {
				levels = append(levels, c.A)
			}
		default: // an executor may ask for more
		}
	}
	if len(levels) != 2 || levels[0] != 1 || levels[1] != 0 {
		t.Errorf("calls: got %+v, want open, mode out, write 1, write 0", s.Calls())
	}
}

func testRefusal(t *testing.T, ex hw.Executor) {
	const eacces, number = 13, 77
	s := &Sink{T: t, Answer: func(c hw.Call) (hw.Reply, bool) {
		return hw.Reply{Errno: eacces, Refusal: number, Text: "pin 5 is not yours"}, c.Op == hw.OpPinOpen
	}}
	out := s.Run(t.Context(), ex, Exec("", Drive))
	if out.Exception == nil || out.Exception.Class != "OSError" || out.Refusal != number {
		t.Fatalf("refused: got %+v (exception %+v), want OSError of refusal %d", out, out.Exception, number)
	}
	if !strings.Contains(out.Exception.Message, "pin 5 is not yours") {
		t.Errorf("refused: got message %q, want the guard's", out.Exception.Message)
	}
}

func testEdge(t *testing.T, ex hw.Executor) {
	edge := hw.Edge{Pin: Handle, Rose: true, Label: "a"}
	if ex.Edge(edge) {
		t.Error("Edge before any job: got true, want false")
	}
	armed := make(chan struct{})
	s := &Sink{T: t, Answer: func(c hw.Call) (hw.Reply, bool) {
		if c.Op == hw.OpPinIRQ && c.Pin == Handle && hw.Edges(c.A)&hw.EdgeRising != 0 {
			close(armed)
		}
		return hw.Reply{}, false
	}}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	ended := make(chan hw.Outcome, 1)
	go func() { ended <- s.Run(ctx, ex, Exec("a", Watch)) }()
	select {
	case <-armed:
		if !ex.Edge(edge) {
			t.Error("Edge of the running job: got false, want true")
		}
	case <-ctx.Done():
		t.Error("the program never armed its pin")
	}
	wellDone(t, <-ended)
	if got := s.Text(hw.Stdout); got != "rose\n" {
		t.Errorf("stdout: got %q, want \"rose\\n\"", got)
	}
	if ex.Edge(edge) {
		t.Error("Edge after the job: got true, want false")
	}
}

// loop runs code, which uses a pin once and then loops, and ends its context as soon as it is known to run.
func loop(t *testing.T, ex hw.Executor, code string) (hw.Outcome, time.Duration) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var asked time.Time
	s := &Sink{T: t, Answer: func(c hw.Call) (hw.Reply, bool) {
		if c.Op == hw.OpPinMode && asked.IsZero() {
			asked = time.Now()
			cancel()
		}
		return hw.Reply{}, false
	}}
	out := s.Run(ctx, ex, Exec("a", code))
	if asked.IsZero() {
		t.Fatalf("the program never came to its pin: %+v (exception %+v)", out, out.Exception)
	}
	return out, time.Since(asked)
}

func testInterrupt(t *testing.T, ex hw.Executor) {
	gen := ex.Generation()
	out, took := loop(t, ex, Endless)
	if !out.Started || out.Died || out.Rung != hw.RungInterrupt {
		t.Errorf("interrupted: got %+v, want rung %d and a living machine", out, hw.RungInterrupt)
	}
	if out.Exception == nil || out.Exception.Class != "KeyboardInterrupt" {
		t.Errorf("interrupted: got exception %+v, want KeyboardInterrupt", out.Exception)
	}
	t.Logf("interrupted within %v", took)
	if got := ex.Generation(); got != gen {
		t.Errorf("generation: got %d, want %d as before", got, gen)
	}
	out, s := run(t, ex, Exec("a", Show))
	wellDone(t, out)
	if got := s.Text(hw.Stdout); got != "42\n" {
		t.Errorf("names after an interrupt: got %q, want \"42\\n\"", got)
	}
}

func testKill(t *testing.T, ex hw.Executor) {
	out, _ := run(t, ex, Exec("a", Keep))
	wellDone(t, out)
	gen := ex.Generation()
	out, took := loop(t, ex, Swallow)
	if !out.Started || !out.Died || out.Rung != hw.RungKill || out.Cause == "" {
		t.Errorf("killed: got %+v, want rung %d, a dead machine and a cause", out, hw.RungKill)
	}
	if took < limits.InterruptGrace {
		t.Errorf("killed after %v, want a grace of %v", took, limits.InterruptGrace)
	}
	if got := ex.Generation(); got != gen+1 {
		t.Errorf("generation: got %d, want %d", got, gen+1)
	}
	unknown(t, ex, Exec("a", Show))
	out, _ = run(t, ex, Exec("a", Hello))
	wellDone(t, out)
}

func testEndedContext(t *testing.T, ex hw.Executor) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s := &Sink{T: t}
	if out := s.Run(ctx, ex, Exec("", Drive)); out.Started || out.Died || len(s.Calls()) > 0 {
		t.Errorf("ended context: got %+v and %d calls, want a job that was not started", out, len(s.Calls()))
	}
	out, _ := run(t, ex, Exec("", Hello))
	wellDone(t, out)
}

func testReset(t *testing.T, ex hw.Executor) {
	out, _ := run(t, ex, Exec("a", Keep))
	wellDone(t, out)
	gen := ex.Generation()
	if err := ex.Reset(t.Context()); err != nil {
		t.Fatalf("Reset: %v", err)
	}
	if got := ex.Generation(); got != gen+1 {
		t.Errorf("generation: got %d, want %d", got, gen+1)
	}
	unknown(t, ex, Exec("a", Show))
}

func testGeneration(t *testing.T, ex hw.Executor) {
	out, _ := run(t, ex, Exec("a", Keep))
	wellDone(t, out)
	job := Exec("a", Show)
	job.Generation = ex.Generation()
	out, _ = run(t, ex, job)
	wellDone(t, out)
	if err := ex.Reset(t.Context()); err != nil {
		t.Fatalf("Reset: %v", err)
	}
	if gen := ex.Generation(); gen < 2 {
		t.Errorf("generation: got %d after a reset, want at least 2: 0 stands for any", gen)
	}
	job = Exec("a", Drive)
	job.Generation = ex.Generation() - 1
	out, s := run(t, ex, job)
	if !out.Stale || out.Started || out.Died || len(s.Calls()) > 0 {
		t.Errorf("job for the machine before: got %+v and %d calls, want a stale one that was not started", out, len(s.Calls()))
	}
}

func testMany(t *testing.T, ex hw.Executor) {
	gen := ex.Generation()
	for range 200 {
		out, s := run(t, ex, Exec("", Hello))
		wellDone(t, out)
		if got := s.Text(hw.Stdout); got != "pal\n" {
			t.Fatalf("stdout: got %q, want \"pal\\n\"", got)
		}
	}
	if got := ex.Generation(); got != gen {
		t.Errorf("generation: got %d, want %d as before", got, gen)
	}
}

func testCloseIdle(t *testing.T, ex hw.Executor) {
	for range 2 { // twice is allowed: cleanup paths meet
		if err := ex.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	}
	out, s := run(t, ex, Exec("", Drive))
	if out.Started || !out.Died || len(s.Calls()) > 0 {
		t.Errorf("Run after Close: got %+v and %d calls, want no machine", out, len(s.Calls()))
	}
	if ex.Edge(hw.Edge{}) {
		t.Error("Edge after Close: got true, want false")
	}
}

func testCloseRunning(t *testing.T, ex hw.Executor) {
	running := make(chan struct{})
	s := &Sink{T: t, Answer: func(c hw.Call) (hw.Reply, bool) {
		if c.Op == hw.OpPinMode {
			close(running)
		}
		return hw.Reply{}, false
	}}
	ended := make(chan hw.Outcome, 1)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	go func() { ended <- s.Run(ctx, ex, Exec("a", Endless)) }()
	select {
	case <-running:
	case <-ctx.Done():
		t.Error("the program never came to its pin")
	}
	if err := ex.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
	if out := <-ended; !out.Started || !out.Died || out.Rung != hw.RungNone {
		t.Errorf("closed while it ran: got %+v, want a machine that died without a rung", out)
	}
}
