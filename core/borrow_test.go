package core

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pal-terminal/pal/flash"
	"github.com/pal-terminal/pal/hw"
	"github.com/pal-terminal/pal/identity"
	"github.com/pal-terminal/pal/protocol"
)

// Ways in which code could drive with the rights of somebody else, each tried.

// reads is an import as the guard sees it.
func reads(g *guest, path string) (hw.Reply, *hw.Exception) {
	return g.call(hw.Call{Op: hw.OpFile, A: hw.FileRead, Text: path, C: 100})
}

// In engineering mode board.py alone may drive: a module that an agent planted must not run in its machine, neither at the start
// nor from a function that imports later.
func TestBoardPyImportsNoProgramsFile(t *testing.T) {
	bubble(t, options{yaml: engineering}, func(t *testing.T, r *rig) {
		check(t, r.flash.Write(flash.Full, "/helper.py", []byte("planted")))
		check(t, r.flash.Write(flash.Full, "/values.txt", []byte("17")))
		imports := func(g *guest) *hw.Exception {
			if reply, e := reads(g, "/values.txt"); e != nil || string(reply.Data) != "17" {
				t.Errorf("data: got %q, %v, want it read", reply.Data, e)
			}
			if reply, e := reads(g, "/helper.py"); e == nil || len(reply.Data) > 0 || !strings.Contains(reply.Text, "flash.rights") {
				t.Errorf("module: got %q, %v, want it refused by the rule flash.rights", reply.Data, e)
			}
			return nil
		}
		begun := 0
		r.boardVM.taught("(board)", func(g *guest) *hw.Exception { begun++; return imports(g) })
		r.boardVM.taught("(func pump)", func(g *guest) *hw.Exception { begun++; return imports(g) })
		c := r.dial(r.bot)
		if res := r.run(c, calls("pump"), protocol.Exec{}); res.Code != "" || begun != 2 {
			t.Errorf("got code %q %q and %d imports, want both tried", res.Code, res.Message, begun)
		}
		res := r.run(c, func(g *guest) *hw.Exception { _, e := reads(g, "/helper.py"); return e }, protocol.Exec{})
		if res.Code != "" {
			t.Errorf("the agent's own import: got code %q %q, want it allowed", res.Code, res.Message)
		}
	})
}

// A handler that board.py armed in open mode would run with board.py's rights in the machine of an agent, who can change what it
// calls.
func TestBoardPyArmsNothing(t *testing.T) {
	bubble(t, options{yaml: shop}, func(t *testing.T, r *rig) {
		var refused *hw.Exception
		r.agent.taught("(board)", func(g *guest) *hw.Exception { refused = timer(0, 10*time.Millisecond, 1)(g); return nil })
		r.agent.taught("(handler)", drives("LAMP", 1))
		c := r.dial(r.token("reader", identity.Agent, identity.Read, identity.Exec))
		if res := r.run(c, func(*guest) *hw.Exception { return nil }, protocol.Exec{}); res.Code != "" {
			t.Fatalf("got code %q", res.Code)
		}
		pass(time.Second)
		synctest.Wait()
		r.wantLevel("without the scope actuate", "LAMP", 0)
		if refused == nil || !strings.Contains(refused.Message, "board.no_irq") {
			t.Errorf("got %v, want the rule board.no_irq", refused)
		}
		// A handler arms again in the name of who armed it.
		again := 0
		r.agent.taught("(handler)", func(g *guest) *hw.Exception { again++; return timer(1, 10*time.Millisecond, 0)(g) })
		r.run(c, timer(1, 10*time.Millisecond, 0), protocol.Exec{})
		pass(105 * time.Millisecond)
		synctest.Wait()
		if again != 10 {
			t.Errorf("got %d turns of a timer that arms itself, want 10", again)
		}
	})
}

// Releasing the e-stop restarts nothing: what was armed before must not drive by itself the moment a person clears the latch.
func TestClearDisarms(t *testing.T) {
	bubble(t, options{}, func(t *testing.T, r *rig) {
		r.agent.taught("(handler)", drives("LED", 1))
		c := r.dial(r.bot)
		h := r.dial(r.human)
		r.run(c, timer(0, 10*time.Millisecond, 1), protocol.Exec{})
		check(t, r.core.Stop("somebody", "test"))
		r.run(c, arms("BUTTON", hw.EdgeFalling), protocol.Exec{}) // under the stop
		pass(time.Second)
		h.request("estop_clear", "1", &protocol.EstopClear{})
		h.ack("1")
		pass(time.Second)
		r.press("BUTTON")
		synctest.Wait()
		r.wantLevel("after the release", "LED", 0)
		// Clearing what was no stop, such as a fault, leaves timers alone.
		r.run(c, timer(0, 10*time.Millisecond, 1), protocol.Exec{})
		h.request("estop_clear", "2", &protocol.EstopClear{})
		h.ack("2")
		pass(time.Second)
		r.wantLevel("armed after the release", "LED", 1)
	})
}

const serial = `
board: serial
mode: open
pins:
  - {id: 1, name: TX, owner: agent, can: [out, uart], safe: low}
  - {id: 2, name: RX, owner: agent, can: [in, uart], pull: up}
buses:
  - {uart: 1, tx: TX, rx: RX, owner: agent}
drivers: {kind: sim}
devices:
  - {type: led, pin: TX}
`

// A silent UART holds its line high: a stop must take the line from it when low is safe.
func TestStopTakesLinesFromBuses(t *testing.T) {
	bubble(t, options{yaml: serial}, func(t *testing.T, r *rig) {
		c := r.dial(r.bot)
		opens := func(g *guest) *hw.Exception { _, e := g.call(hw.Call{Op: hw.OpBusOpen, Text: "uart:1"}); return e }
		if res := r.run(c, opens, protocol.Exec{}); res.Code != "" {
			t.Fatalf("got code %q %q", res.Code, res.Message)
		}
		r.wantLevel("open and silent", "TX", 1)
		check(t, r.core.Stop("somebody", "test"))
		r.wantLevel("after the stop", "TX", 0)
		if res := r.run(c, opens, protocol.Exec{}); res.Code != protocol.CodeEstopped {
			t.Errorf("open under the stop: got code %q, want it refused", res.Code)
		}
	})
}

// A program that waits for the release, trying all the time, is ended by it.
func TestClearEndsWhatRuns(t *testing.T) {
	bubble(t, options{}, func(t *testing.T, r *rig) {
		held := r.hold("patient")
		c := r.dial(r.bot)
		c.exec("1", "patient")
		<-held.running
		check(t, r.core.Stop("somebody", "test"))
		h := r.dial(r.human)
		h.request("estop_clear", "1", &protocol.EstopClear{})
		h.ack("1")
		if res := c.wantCode("1", protocol.CodeInterrupted); !strings.Contains(res.Message, "released") {
			t.Errorf("got %q, want it to say why", res.Message)
		}
		// Without a stop, clearing ends nothing.
		c.exec("2", "patient")
		<-held.running
		h.request("estop_clear", "2", &protocol.EstopClear{})
		h.ack("2")
		close(held.release)
		c.wantCode("2", "")
	})
}

// What such a program arms in the moment that it has to end in ends with it.
func TestClearDisarmsLatecomers(t *testing.T) {
	bubble(t, options{}, func(t *testing.T, r *rig) {
		running := make(chan struct{})
		r.agent.taught("stubborn", func(g *guest) *hw.Exception {
			close(running)
			<-g.ctx.Done()
			if e := timer(0, 10*time.Millisecond, 1)(g); e != nil {
				t.Errorf("got %v, want the timer armed", e)
			}
			return g.loop(false)
		})
		r.agent.taught("(handler)", drives("LED", 1))
		c := r.dial(r.bot)
		c.exec("1", "stubborn")
		<-running
		check(t, r.core.Stop("somebody", "test"))
		h := r.dial(r.human)
		h.request("estop_clear", "1", &protocol.EstopClear{})
		h.ack("1")
		c.wantCode("1", protocol.CodeInterrupted)
		pass(time.Second)
		r.wantLevel("after the release", "LED", 0)
	})
}
