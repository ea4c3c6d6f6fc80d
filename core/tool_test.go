package core

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pal-terminal/pal/hw"
	"github.com/pal-terminal/pal/identity"
	"github.com/pal-terminal/pal/limits"
	"github.com/pal-terminal/pal/protocol"
)

// offers teaches a program whose text defines functions that it offers as tools.
func (r *rig) offers(code string, names ...string) {
	r.agent.taught(code, func(g *guest) *hw.Exception {
		for _, name := range names {
			if _, e := g.call(hw.Call{Op: hw.OpTool, Text: name}); e != nil {
				return e
			}
		}
		return nil
	})
}

// In engineering mode the tools of the board run where board.py does, with its right to drive, and what the agent's machine holds
// is of no weight.
func TestToolInEngineeringMode(t *testing.T) {
	bubble(t, options{yaml: engineering}, func(t *testing.T, r *rig) {
		r.boardVM.taught("(func f)", func(g *guest) *hw.Exception {
			g.out.Value = []byte(`7`)
			return g.drive("PUMP", 1)
		})
		c := r.dial(r.bot)
		c.request("tool", "1", &protocol.Tool{Tool: "f"})
		res := c.wantCode("1", "")
		if string(res.Value) != "7" || len(res.Effects) != 1 || res.Effects[0].Name != "PUMP" {
			t.Errorf("got %+v, want the value and the effect", res)
		}
		r.wantLevel("after the tool", "PUMP", 1)
		if a, b := r.agent.kinds(), r.boardVM.kinds(); a != "" || b != "bf" {
			t.Errorf("jobs: got %q and %q, want the function in board.py's machine alone", a, b)
		}
		// One that does not end takes that machine with it, and what it drove is safe.
		r.boardVM.taught("(func f)", func(g *guest) *hw.Exception { return g.loop(true) })
		ms := int64(50)
		c.request("tool", "2", &protocol.Tool{Tool: "f", TimeoutMS: &ms})
		if res := c.wantCode("2", protocol.CodeDeadline); !res.VMRestarted || res.Rung != 2 {
			t.Errorf("got restarted %v at rung %d, want the machine killed", res.VMRestarted, res.Rung)
		}
		r.wantLevel("after the machine was lost", "PUMP", 0)
	})
}

func TestToolOfTheBoard(t *testing.T) {
	bubble(t, options{yaml: shop}, func(t *testing.T, r *rig) { // its board.py has f() alone
		c := r.dial(r.bot)
		r.agent.taught("(func f)", func(g *guest) *hw.Exception {
			g.out.Value = []byte(`{"a":[1,2.5]}`)
			return g.drive("LAMP", 1)
		})
		c.request("tool", "1", &protocol.Tool{Tool: "f"})
		res := c.wantCode("1", "")
		if string(res.Value) != `{"a":[1,2.5]}` || len(res.Effects) != 1 || res.Guard != guardKind {
			t.Errorf("got %+v, want the value and the effect", res)
		}
		ran := r.agent.ran()
		if j := ran[len(ran)-1]; j.Kind != hw.JobFunc || j.Session != "" || string(j.Args) != `[[],{}]` {
			t.Errorf("got job %+v, want a call without a session", j)
		}
		c.request("tool", "1", &protocol.Tool{Tool: "f"}) // once more the same: answered, not run
		c.wantCode("1", "")
		if got := len(r.agent.ran()); got != len(ran) {
			t.Errorf("got %d jobs after a repetition, want %d", got, len(ran))
		}
		c.request("tool", "2", &protocol.Tool{Tool: "f", Args: []byte(`{"x":1}`)})
		if res := c.wantCode("2", protocol.CodeBadRequest); !strings.Contains(res.Message, `"x"`) {
			t.Errorf("got %q, want the argument named", res.Message)
		}
		c.request("tool", "3", &protocol.Tool{Tool: "gone"})
		if res := c.wantCode("3", protocol.CodeNotFound); len(res.Nearest) != 1 || res.Nearest[0] != "f" {
			t.Errorf("got %v, want what there is", res.Nearest)
		}
		r.agent.taught("(func f)", func(*guest) *hw.Exception {
			return &hw.Exception{Class: "ValueError", Message: "no", Line: 2, Traceback: "Traceback\nValueError: no\n"}
		})
		c.request("tool", "4", &protocol.Tool{Tool: "f"})
		if res := c.wantCode("4", protocol.CodePythonError); !strings.Contains(res.Stderr, "ValueError: no") {
			t.Errorf("got stderr %q, want the traceback", res.Stderr)
		}
		// A deadline ends a tool as it ends code.
		r.agent.taught("(func f)", func(g *guest) *hw.Exception { return g.loop(false) })
		ms := int64(50)
		c.request("tool", "5", &protocol.Tool{Tool: "f", TimeoutMS: &ms})
		c.wantCode("5", protocol.CodeDeadline)
	})
}

func TestToolOfAProgram(t *testing.T) {
	bubble(t, options{yaml: shop}, func(t *testing.T, r *rig) {
		c := r.dial(r.bot)
		r.offers("@tool\ndef add(a: int, b: int = 1) -> int:\n    'Adds.'\n    return a + b\n", "add")
		c.exec("1", "@tool\ndef add(a: int, b: int = 1) -> int:\n    'Adds.'\n    return a + b\n")
		c.wantCode("1", "")
		c.request("describe", "d", nil)
		d, ok := c.read().(*protocol.Describe)
		if !ok || len(d.Tools) != 2 {
			t.Fatalf("got %+v, want two tools", d)
		}
		want := protocol.FuncInfo{Name: "add", Signature: "add(a: int, b: int = 1) -> int", Doc: "Adds.", MadeBy: "agent", Actor: identity.LocalAgent, Session: "main"}
		if d.Tools[0].MadeBy != "board" || d.Tools[1] != want {
			t.Errorf("got %+v", d.Tools)
		}
		r.agent.taught("(func add)", func(g *guest) *hw.Exception { g.out.Value = []byte("3"); return nil })
		c.request("tool", "2", &protocol.Tool{Tool: "add", Args: []byte(`{"a":2}`)})
		if res := c.wantCode("2", ""); string(res.Value) != "3" {
			t.Errorf("got value %s", res.Value)
		}
		jobs := r.agent.ran()
		if j := jobs[len(jobs)-1]; j.Session == "" || j.Session != jobs[len(jobs)-2].Session {
			t.Errorf("got session %q, want that of the program", j.Session)
		}
		// It is the session's own, and nobody else's.
		c.request("tool", "3", &protocol.Tool{Tool: "add", Session: "other", Args: []byte(`{"a":2}`)})
		c.wantCode("3", protocol.CodeNotFound)
		h := r.dial(r.human)
		h.request("tool", "1", &protocol.Tool{Tool: "add", Args: []byte(`{"a":2}`)})
		h.wantCode("1", protocol.CodeNotFound)
		// What a person checked is not replaced, and what is not there is not offered.
		for i, bad := range []string{"f", "Add", "machine.x", "", "nothing", strings.Repeat("a", 65)} {
			code := fmt.Sprintf("def f(): pass\ndef Add(): pass\nx=%d", i)
			r.offers(code, bad)
			c.exec("bad"+fmt.Sprint(i), code)
			if res := c.result("bad" + fmt.Sprint(i)); res.Rule != "tool.name" {
				t.Errorf("%q: got code %q rule %q, want it refused", bad, res.Code, res.Rule)
			}
		}
		// As many as may be.
		var code strings.Builder
		var names []string
		for i := range limits.SessionTools {
			names = append(names, fmt.Sprintf("t%d", i))
			fmt.Fprintf(&code, "def t%d(): pass\n", i)
		}
		r.offers(code.String(), names...)
		c.exec("many", code.String())
		c.wantCode("many", protocol.CodeFull)
		// They are gone with the session.
		c.request("reset", "r", &protocol.Reset{Session: "main"})
		c.ack("r")
		c.request("tool", "4", &protocol.Tool{Tool: "add", Args: []byte(`{"a":2}`)})
		c.wantCode("4", protocol.CodeNotFound)
		c.exec("again", "@tool\ndef add(a: int, b: int = 1) -> int:\n    'Adds.'\n    return a + b\n")
		c.wantCode("again", "")
		r.core.Notice(MachineAgent, hw.Notice{Kind: hw.NoticeLost})
		c.request("tool", "5", &protocol.Tool{Tool: "add", Args: []byte(`{"a":2}`)})
		c.wantCode("5", protocol.CodeNotFound)
	})
}

// timer is a program that starts a timer.
func timer(number uint16, period time.Duration, periodic int64) program {
	return func(g *guest) *hw.Exception {
		_, e := g.call(hw.Call{Op: hw.OpTimer, Pin: number, A: period.Microseconds(), B: periodic})
		return e
	}
}

func TestTimers(t *testing.T) {
	bubble(t, options{}, func(t *testing.T, r *rig) {
		ran := r.handlers()
		c := r.dial(r.bot)
		r.run(c, timer(3, 10*time.Millisecond, 1), protocol.Exec{})
		pass(105 * time.Millisecond)
		if len(ran) != 10 {
			t.Errorf("got %d turns in 105 ms of a 10 ms timer, want 10", len(ran))
		}
		if j := <-ran; j.Edge.Source != hw.SourceTimer || j.Edge.Pin != 3 || j.Session == "" || j.Edge.Label != j.Session {
			t.Errorf("got %+v, want a turn of timer 3 under its session", j.Edge)
		}
		r.run(c, timer(3, 0, 0), protocol.Exec{})
		for len(ran) > 0 {
			<-ran
		}
		pass(time.Second)
		if len(ran) != 0 {
			t.Errorf("ended: got %d turns, want none", len(ran))
		}
		// Once.
		r.run(c, timer(4, 20*time.Millisecond, 0), protocol.Exec{})
		pass(time.Second)
		synctest.Wait()
		if len(ran) != 1 || len(r.core.irqs.armed) != 0 {
			t.Errorf("one shot: got %d turns and %d armed, want 1 and none", len(ran), len(r.core.irqs.armed))
		}
		<-ran
		for _, bad := range []time.Duration{limits.TimerLeast - time.Microsecond, limits.TimerLongest + time.Second} {
			if res := r.run(c, timer(5, bad, 1), protocol.Exec{}); res.Rule != "timer.period" {
				t.Errorf("period %v: got %q, want it refused", bad, res.Rule)
			}
		}
		many := func(g *guest) (e *hw.Exception) {
			for i := range limits.Timers + 1 {
				if e = timer(uint16(i), time.Hour, 1)(g); e != nil {
					return e
				}
			}
			return nil
		}
		if res := r.run(c, many, protocol.Exec{}); res.Code != protocol.CodeFull {
			t.Errorf("too many: got %q", res.Code)
		}
	})
}

// A timer that is quicker than its callback: one turn waits at most, the others are counted, and code of others gets its turn.
func TestTimerWithASlowCallback(t *testing.T) {
	bubble(t, options{}, func(t *testing.T, r *rig) {
		turns, lost := 0, 0
		r.agent.taught("(handler)", func(g *guest) *hw.Exception {
			turns, lost = turns+1, lost+int(g.job.Edge.Lost)
			pass(30 * time.Millisecond)
			return nil
		})
		c := r.dial(r.bot)
		r.run(c, timer(0, time.Millisecond, 1), protocol.Exec{})
		pass(time.Second)
		c.exec("1", "print")
		r.agent.taught("print", func(*guest) *hw.Exception { return nil })
		c.wantCode("1", "")
		r.run(c, timer(0, 0, 1), protocol.Exec{})
		synctest.Wait()
		if turns < 20 || turns > 40 || turns+lost < 900 {
			t.Errorf("got %d turns and %d lost in a second and a bit, want about 33 and the rest lost", turns, lost)
		}
	})
}
