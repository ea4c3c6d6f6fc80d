package core

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/pal-terminal/pal/hw"
	"github.com/pal-terminal/pal/limits"
	"github.com/pal-terminal/pal/pin"
	"github.com/pal-terminal/pal/protocol"
)

const engineering = `
board: works
mode: engineering
board_py: board.py
pins:
  - {id: 0, owner: system}
  - {id: 1, name: PUMP, owner: agent, can: [out], safe: low, on_disconnect: safe}
  - {id: 2, name: VALVE, owner: agent, can: [in, out], safe: low}
  - {id: 3, name: BUTTON, owner: agent, can: [in], pull: up}
drivers: {kind: sim}
devices:
  - {type: button, pin: BUTTON}
`

// calls is an exec that calls a function of board.py.
func calls(name string) program {
	return func(g *guest) *hw.Exception {
		r, e := g.call(hw.Call{Op: hw.OpBoardCall, Text: name, Data: []byte(`[[],{}]`)})
		if e != nil {
			g.print(string(r.Data))
			return e
		}
		g.out.Value = r.Data
		return nil
	}
}

func drives(pin string, levels ...int64) program {
	return func(g *guest) *hw.Exception { return g.drive(pin, levels...) }
}

// kinds are the kinds of the jobs so far.
func (f *fake) kinds() string {
	s := ""
	for _, j := range f.ran() {
		s += map[hw.JobKind]string{hw.JobExec: "e", hw.JobBoard: "b", hw.JobProxy: "p", hw.JobFunc: "f", hw.JobHandler: "h"}[j.Kind]
	}
	return s
}

func TestBoardFunctions(t *testing.T) {
	bubble(t, options{yaml: engineering}, func(t *testing.T, r *rig) {
		r.boardVM.taught("(board)", func(g *guest) *hw.Exception { g.out.Value = []byte(`["pump"]`); return g.drive("VALVE", 0) })
		r.boardVM.taught("(func pump)", func(g *guest) *hw.Exception {
			g.print("pumping\n")
			g.out.Value = []byte(`{"ok":true}`)
			return g.drive("PUMP", 1)
		})
		c := r.dial(r.bot)
		res := r.run(c, calls("pump"), protocol.Exec{})
		if res.Code != "" || string(res.Value) != `{"ok":true}` || res.Stdout != "pumping\n" || len(res.Effects) != 1 || res.Effects[0].Name != "PUMP" {
			t.Errorf("got %+v, want the function's value, print and effect", res)
		}
		if a, b := r.agent.kinds(), r.boardVM.kinds(); a != "pe" || b != "bf" || string(r.agent.ran()[0].Args) != `["pump"]` {
			t.Errorf("jobs: got %s with %s and %s, want the proxy from the list of functions", a, r.agent.ran()[0].Args, b)
		}
		// The agent's own hands are tied, whoever's name it uses.
		if res := r.run(c, drives("PUMP", 0), protocol.Exec{}); res.Rule != "engineering" {
			t.Errorf("raw drive: got code %q rule %q, want the rule engineering", res.Code, res.Rule)
		}
		c.request("pin_set", "s", &protocol.PinSet{Pin: "PUMP", Value: 0})
		if res := c.wantCode("s", protocol.CodeDenied); res.Rule != "engineering" {
			t.Errorf("pin_set: got rule %q, want engineering", res.Rule)
		}
		r.wantLevel("after raw drives", "PUMP", 1)
	})
}

// What a board function prints counts as the exec's own, and what is cut is counted.
func TestBoardOutputIsCut(t *testing.T) {
	bubble(t, options{yaml: engineering}, func(t *testing.T, r *rig) {
		r.boardVM.taught("(func talk)", func(g *guest) *hw.Exception { g.print(strings.Repeat("b", 15)); return nil })
		ten := int64(10)
		res := r.run(r.dial(r.bot), func(g *guest) *hw.Exception {
			g.print("aaaaaaaa")
			return calls("talk")(g)
		}, protocol.Exec{MaxOutput: &ten})
		if res.Stdout != "aaaaaaaabb" || res.DroppedBytes != 13 || !res.Truncated {
			t.Errorf("got %q, %d dropped, truncated %v; want 13 dropped of 23", res.Stdout, res.DroppedBytes, res.Truncated)
		}
	})
}

func TestBoardFunctionRaises(t *testing.T) {
	bubble(t, options{yaml: engineering}, func(t *testing.T, r *rig) {
		c := r.dial(r.bot)
		r.boardVM.taught("(func refused)", drives("0", 1))
		res := r.run(c, calls("refused"), protocol.Exec{})
		if res.Code != protocol.CodeDenied || res.Rule != "system pin" || res.Refusal == 0 || res.EffectsRefused != 1 {
			t.Errorf("refusal in a function: got code %q rule %q refusal %d of %d, want the guard's own", res.Code, res.Rule, res.Refusal, res.EffectsRefused)
		}
		var reply hw.Reply
		look := func(g *guest) *hw.Exception {
			reply = g.sink.Call(g.ctx, hw.Call{Op: hw.OpBoardCall, Text: "f"})
			return nil
		}
		for _, test := range []struct {
			name string
			run  program
			want hw.Reply
		}{
			{"another", func(*guest) *hw.Exception { return &hw.Exception{Class: "ValueError", Message: "n \"1\"\xff"} },
				hw.Reply{Errno: errnoIO, Text: "ValueError: n \"1\"\ufffd", Data: []byte(`["ValueError","n \"1\"` + "\ufffd" + `"]`)}},
			{"caught-refusal-first", func(g *guest) *hw.Exception {
				g.drive("0", 1)
				g.out.Refusal = 0
				return &hw.Exception{Class: "KeyError"}
			}, hw.Reply{Errno: errnoIO, Text: "KeyError: ", Data: []byte(`["KeyError",""]`)}},
			{"long", func(*guest) *hw.Exception { return &hw.Exception{Class: "E", Message: strings.Repeat("x", 1<<20)} },
				hw.Reply{Errno: errnoIO, Text: "E: " + strings.Repeat("x", limits.OutputDefault), Data: []byte(`["E","` + strings.Repeat("x", limits.OutputDefault) + `"]`)}},
		} {
			r.boardVM.taught("(func f)", test.run)
			r.run(c, look, protocol.Exec{})
			if reply.Errno != test.want.Errno || reply.Text != test.want.Text || string(reply.Data) != string(test.want.Data) || reply.Refusal != 0 {
				t.Errorf("%s: got %.200s, want %.200s", test.name, reply.Text, test.want.Text)
			}
		}
	})
}

// A board machine that asks to call a board function would wait for itself.
func TestBoardMachineCannotCallItself(t *testing.T) {
	bubble(t, options{yaml: engineering}, func(t *testing.T, r *rig) {
		var inFunc, inSetup hw.Reply
		r.boardVM.taught("(func f)", func(g *guest) *hw.Exception {
			inFunc = g.sink.Call(g.ctx, hw.Call{Op: hw.OpBoardCall, Text: "f"})
			return nil
		})
		r.boardVM.taught("(board)", func(g *guest) *hw.Exception {
			inSetup = g.sink.Call(g.ctx, hw.Call{Op: hw.OpBoardCall, Text: "f"})
			return nil
		})
		r.run(r.dial(r.bot), calls("f"), protocol.Exec{})
		if inFunc.Errno != errnoACCES || inSetup.Errno != errnoACCES {
			t.Errorf("got %+v and %+v, want both refused", inFunc, inSetup)
		}
		if reply := (&sink{c: r.core, caller: pin.Caller{Drive: true, Board: true, Machine: MachineBoard}}).Call(context.Background(), hw.Call{Op: hw.OpPinIRQ, Pin: 3, A: 1}); reply.Refusal == 0 {
			t.Errorf("interrupt in the board machine: got %+v, want a refusal", reply)
		}
	})
}

func TestBoardMachineLostMidCall(t *testing.T) {
	bubble(t, options{yaml: engineering}, func(t *testing.T, r *rig) {
		c := r.dial(r.bot)
		r.boardVM.taught("(func crash)", func(g *guest) *hw.Exception {
			g.drive("PUMP", 1)
			r.core.Notice(MachineBoard, hw.Notice{Kind: hw.NoticeLost, Cause: "crash"})
			g.out.Died, g.out.Cause = true, "crash"
			return nil
		})
		res := r.run(c, calls("crash"), protocol.Exec{})
		if res.Code != protocol.CodePythonError || res.VMRestarted || !strings.Contains(res.Exception.Message, "crash") {
			t.Errorf("got %+v, want an OSError in a program that goes on", res)
		}
		r.wantLevel("after the board's machine was lost", "PUMP", 0)
		r.boardVM.taught("(func f)", func(g *guest) *hw.Exception { g.out.Value = []byte("1"); return nil })
		if res := r.run(c, calls("f"), protocol.Exec{}); string(res.Value) != "1" {
			t.Errorf("after that: got %+v, want the function's value", res)
		}
		if got := r.boardVM.kinds(); got != "bfbf" {
			t.Errorf("jobs of the board's machine: got %s, want it set up again", got)
		}
		r.boardVM.setDown("out of order")
		res = r.run(c, calls("f"), protocol.Exec{})
		if res.Code != protocol.CodePythonError || !strings.Contains(res.Exception.Message, "out of order") {
			t.Errorf("no board machine: got %+v, want an OSError that says why", res)
		}
	})
}

func TestBoardIsSetUpAgain(t *testing.T) {
	bubble(t, options{}, func(t *testing.T, r *rig) {
		c := r.dial(r.bot)
		run := func(id string) {
			t.Helper()
			c.exec(id, "ok")
			c.wantCode(id, "")
		}
		run("1")
		run("2")
		r.agent.lose()
		run("3")
		// Replaced between set-up and exec: what was set up is gone, so both are done again.
		r.agent.lose()
		first := true
		r.agent.taught("(board)", func(g *guest) *hw.Exception {
			if first {
				first = false
				g.out.Died, g.out.Started = false, true
				r.agent.lose()
			}
			return nil
		})
		run("4")
		if got := r.agent.kinds(); got != "beebebbe" {
			t.Errorf("jobs: got %s, want the board before the first exec in each machine", got)
		}
		// A board.py that fails is told once, and programs run without its names.
		r.agent.taught("(board)", func(*guest) *hw.Exception {
			return &hw.Exception{Class: "NameError", Message: "x", Line: 3}
		})
		r.agent.lose()
		run("5")
		run("6")
		wantStrings(t, "events", r.seen("board_error"), `{"class":"NameError","line":3,"machine":"agent","message":"x"}`)
		// One that does not end is ended.
		r.agent.taught("(board)", func(g *guest) *hw.Exception { return g.loop(true) })
		r.agent.lose()
		c.exec("7", "ok")
		if res := c.wantCode("7", protocol.CodeUnavailable); res.VMRestarted || res.Rung != 0 || !strings.Contains(res.Message, "interrupt") {
			t.Errorf("got %+v, want an exec that was not started and why", res)
		}
		r.agent.taught("(board)", nil)
		run("8")
	})
}

// An exec without the time for the set-up of its machine leaves no machine behind that lacks half of board.py.
func TestSetUpCutShort(t *testing.T) {
	for name, o := range map[string]options{"open": {}, "engineering": {yaml: engineering}} {
		bubble(t, o, func(t *testing.T, r *rig) {
			vm := r.agent
			if r.boardVM != nil {
				vm = r.boardVM
			}
			vm.taught("(board)", func(g *guest) *hw.Exception { return g.loop(false) })
			c := r.dial(r.bot)
			c.request("exec", "1", &protocol.Exec{Code: "ok", TimeoutMS: ms(1)})
			c.wantCode("1", protocol.CodeDeadline)
			vm.taught("(board)", func(g *guest) *hw.Exception { g.out.Value = []byte(`["f"]`); return nil })
			c.exec("2", "ok")
			c.wantCode("2", "")
			if got := r.agent.codes(); !slices.Equal(got, []string{"ok"}) || !strings.HasPrefix(vm.kinds(), "bb") {
				t.Errorf("%s: ran %q after set-ups %s, want the second exec after a whole set-up", name, got, vm.kinds())
			}
			if r.boardVM != nil && string(r.agent.ran()[0].Args) != `["f"]` {
				t.Errorf("proxy: got functions %s", r.agent.ran()[0].Args)
			}
			wantStrings(t, name+": board errors", r.seen("board_error"))
		})
	}
}

// The deadline of an exec also ends the board function that it waits for.
func TestBoardFunctionDeadline(t *testing.T) {
	bubble(t, options{yaml: engineering}, func(t *testing.T, r *rig) {
		r.boardVM.taught("(func f)", func(g *guest) *hw.Exception {
			g.drive("PUMP", 1)
			return g.loop(false)
		})
		r.agent.taught("call", func(g *guest) *hw.Exception {
			calls("f")(g)
			return g.loop(false) // interrupted too
		})
		c := r.dial(r.bot)
		c.request("exec", "1", &protocol.Exec{Code: "call", TimeoutMS: ms(100)})
		c.wantCode("1", protocol.CodeDeadline)
		synctest.Wait()
		r.wantLevel("after the deadline", "PUMP", 0)
	})
}
