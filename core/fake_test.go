package core

import (
	"context"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/pal-terminal/pal/hw"
	"github.com/pal-terminal/pal/hw/hwtest"
	"github.com/pal-terminal/pal/limits"
)

// program is guest code written in Go: what the fake machine does for a text it knows.
type program func(g *guest) *hw.Exception

// guest is a program's view of the fake machine.
type guest struct {
	ctx   context.Context
	job   hw.Job
	sink  hw.Sink
	names map[string]int
	out   hw.Outcome
	edges <-chan hw.Edge
	kill  <-chan struct{} // closed when the machine is closed or reset
	sent  int
}

func (g *guest) print(text string) {
	keep := min(len(text), max(0, g.job.MaxOutput-g.sent))
	if keep > 0 {
		g.sink.Output(hw.Stdout, []byte(text[:keep]))
	}
	g.sent += keep
	g.out.DroppedOut += len(text) - keep
}

// call makes a hardware call and turns a refusal into the exception that Python would see.
func (g *guest) call(c hw.Call) (hw.Reply, *hw.Exception) {
	r := g.sink.Call(g.ctx, c)
	if r.Errno != 0 {
		g.out.Refusal = r.Refusal
		return r, &hw.Exception{Class: "OSError", Message: "[Errno 13] EACCES: " + r.Text, Line: 1}
	}
	return r, nil
}

// open resolves a pin and, unless mode is ModeNone, configures it.
func (g *guest) open(name string, mode hw.Mode) (uint16, *hw.Exception) {
	r, e := g.call(hw.Call{Op: hw.OpPinOpen, Text: name})
	if e != nil {
		return 0, e
	}
	h := uint16(r.Value)
	if mode != hw.ModeNone {
		_, e = g.call(hw.Call{Op: hw.OpPinMode, Pin: h, A: int64(mode), C: -1})
	}
	return h, e
}

// fake is an hw.Executor that runs programs. It passes the executors' contract (TestFakeContract).
type fake struct {
	mu       sync.Mutex // guards what follows
	programs map[string]program
	wild     program // runs as every text that was not taught
	spaces   map[string]map[string]int
	gen      uint64
	running  chan hw.Edge // nil while idle
	kill     chan struct{}
	closed   bool
	down     string // why no machine can be had, empty when one can
	jobs     []hw.Job
	resets   int
	atReset  func() // called at the start of Reset, when set

	busy sync.Mutex // held by Run
}

func newFake() *fake {
	f := &fake{gen: 1, spaces: map[string]map[string]int{}, kill: make(chan struct{}), programs: map[string]program{}}
	f.programs[hwtest.Hello] = func(g *guest) *hw.Exception { g.print("pal\n"); return nil }
	f.programs[hwtest.Complain] = func(g *guest) *hw.Exception { g.sink.Output(hw.Stderr, []byte("oops\n")); return nil }
	f.programs[hwtest.Fail] = func(*guest) *hw.Exception {
		return &hw.Exception{Class: "ValueError", Message: "no", Line: 2, Traceback: "ValueError: no\n"}
	}
	f.programs[hwtest.Answer] = func(g *guest) *hw.Exception { g.out.Value = []byte("42"); return nil }
	f.programs[hwtest.Flood] = func(g *guest) *hw.Exception { g.print(strings.Repeat("x", 200_000)); return nil }
	f.programs[hwtest.Keep] = func(g *guest) *hw.Exception { g.names["kept"] = 41; return nil }
	f.programs[hwtest.Show] = func(g *guest) *hw.Exception {
		if v, ok := g.names["kept"]; ok {
			g.print(strconv.Itoa(v+1) + "\n")
			return nil
		}
		return &hw.Exception{Class: "NameError", Message: "name 'kept' isn't defined", Line: 1}
	}
	f.programs[hwtest.Drive] = func(g *guest) *hw.Exception { return g.drive("5", 1, 0) }
	f.programs[hwtest.Heal] = func(g *guest) *hw.Exception {
		h, e := g.open("5", hw.ModeOut)
		for _, c := range []hw.Call{{Op: hw.OpPinWrite, A: 1}, {Op: hw.OpPinWrite}, {Op: hw.OpPinRead}} {
			if c.Pin = h; e == nil {
				_, e = g.call(c)
			}
		}
		if e != nil {
			_, e = g.call(hw.Call{Op: hw.OpPinWrite, Pin: h})
		}
		return e
	}
	f.programs[hwtest.Watch] = func(g *guest) *hw.Exception {
		h, e := g.open("5", hw.ModeIn)
		if e == nil {
			_, e = g.call(hw.Call{Op: hw.OpPinIRQ, Pin: h, A: int64(hw.EdgeRising)})
		}
		if e != nil {
			return e
		}
		if <-g.edges; true {
			g.print("rose\n")
		}
		return nil
	}
	f.programs[hwtest.Endless] = func(g *guest) *hw.Exception {
		g.names["kept"] = 41
		if _, e := g.open("5", hw.ModeOut); e != nil {
			return e
		}
		return g.loop(false)
	}
	f.programs[hwtest.Swallow] = func(g *guest) *hw.Exception {
		if _, e := g.open("5", hw.ModeOut); e != nil {
			return e
		}
		return g.loop(true)
	}
	return f
}

func (g *guest) drive(pin string, levels ...int64) *hw.Exception {
	h, e := g.open(pin, hw.ModeOut)
	for _, l := range levels {
		if e == nil {
			_, e = g.call(hw.Call{Op: hw.OpPinWrite, Pin: h, A: l})
		}
	}
	return e
}

// loop waits for the end that the executor gives it: an interrupt, unless it is deaf, or death.
func (g *guest) loop(deaf bool) *hw.Exception {
	select {
	case <-g.kill:
		g.out.Died = true
		return nil
	case <-g.ctx.Done():
	}
	if deaf {
		wait, done := context.WithTimeout(context.Background(), limits.InterruptGrace)
		defer done()
		select {
		case <-g.kill:
		case <-wait.Done():
			g.out.Rung = hw.RungKill
		}
		g.out.Died, g.out.Cause = true, "did not react to the interrupt"
		return nil
	}
	g.out.Rung = hw.RungInterrupt
	return &hw.Exception{Class: "KeyboardInterrupt", Line: 4}
}

func (f *fake) Run(ctx context.Context, job hw.Job, sink hw.Sink) hw.Outcome {
	f.busy.Lock()
	defer f.busy.Unlock()
	f.mu.Lock()
	if f.closed || ctx.Err() != nil {
		defer f.mu.Unlock()
		return hw.Outcome{Died: f.closed, Cause: "closed"}
	}
	if f.down != "" {
		defer f.mu.Unlock()
		return hw.Outcome{Died: true, Cause: f.down}
	}
	if job.Generation != 0 && job.Generation != f.gen {
		defer f.mu.Unlock()
		return hw.Outcome{Stale: true}
	}
	for _, key := range job.Drop {
		delete(f.spaces, key)
	}
	names := f.spaces[job.Session]
	if names == nil {
		names = map[string]int{}
		if job.Session != "" {
			f.spaces[job.Session] = names
		}
	}
	edges := make(chan hw.Edge, limits.EdgeQueue)
	f.running = edges
	if f.jobs = append(f.jobs, job); len(f.jobs) > 1000 {
		f.jobs = f.jobs[500:]
	}
	g := &guest{ctx: ctx, job: job, sink: sink, names: names, edges: edges, kill: f.kill, out: hw.Outcome{Started: true, Fuel: 1}}
	run := f.programs[key(job)]
	if run == nil && job.Kind == hw.JobExec {
		run = f.wild
	}
	f.mu.Unlock()
	if run != nil {
		g.out.Exception = run(g)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.running = nil
	if g.out.Died {
		f.fresh()
	}
	return g.out
}

// key is the name under which a job's program was taught.
func key(job hw.Job) string {
	switch job.Kind {
	case hw.JobBoard:
		return "(board)"
	case hw.JobProxy:
		return "(proxy)"
	case hw.JobHandler:
		return "(handler)"
	case hw.JobFunc:
		return "(func " + job.Func + ")"
	case hw.JobExec:
	}
	return job.Code
}

// lose replaces the idle machine, as when it crashed between jobs.
func (f *fake) lose() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.fresh()
}

// setDown says why no machine can be had; "" ends that.
func (f *fake) setDown(why string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.down = why
}

// ran returns the jobs so far.
func (f *fake) ran() []hw.Job {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]hw.Job(nil), f.jobs...)
}

// fresh is a new machine; f.mu is held.
func (f *fake) fresh() {
	f.gen++
	f.spaces = map[string]map[string]int{}
}

func (f *fake) Edge(e hw.Edge) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.running == nil {
		return false
	}
	select {
	case f.running <- e:
		return true
	default:
		return false
	}
}

func (f *fake) Generation() uint64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.gen
}

func (f *fake) Reset(context.Context) error {
	if f.atReset != nil {
		f.atReset()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.resets++
	f.fresh()
	return nil
}

func (f *fake) Close() error {
	f.mu.Lock()
	if !f.closed {
		f.closed = true
		close(f.kill)
	}
	f.mu.Unlock()
	f.busy.Lock()
	defer f.busy.Unlock()
	return nil
}

// taught adds a program under a text.
func (f *fake) taught(code string, p program) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.programs[code] = p
}

func TestFakeContract(t *testing.T) {
	hwtest.TestExecutor(t, func(testing.TB) hw.Executor { return newFake() })
}
