package core

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/pal-terminal/pal/hw"
	"github.com/pal-terminal/pal/identity"
	"github.com/pal-terminal/pal/limits"
	"github.com/pal-terminal/pal/protocol"
)

// press pushes and releases a button: a falling and a rising edge.
func (r *rig) press(name string) {
	r.t.Helper()
	r.world("press", name, "")
	r.world("release", name, "")
}

// irq is a call that arms or, with no edges, disarms a pin.
func irq(g *guest, pin string, edges hw.Edges) *hw.Exception {
	h, e := g.open(pin, hw.ModeIn)
	if e == nil {
		_, e = g.call(hw.Call{Op: hw.OpPinIRQ, Pin: h, A: int64(edges)})
	}
	return e
}

func arms(pin string, edges hw.Edges) program {
	return func(g *guest) *hw.Exception { return irq(g, pin, edges) }
}

// handlers teaches the interrupt handler; what it saw comes out of the channel.
func (r *rig) handlers() <-chan hw.Job {
	ran := make(chan hw.Job, 1000)
	r.agent.taught("(handler)", func(g *guest) *hw.Exception { ran <- g.job; return nil })
	return ran
}

// waitFor is a program that ends after n edges and shows them.
func waitFor(pin string, edges hw.Edges, n int) program {
	return func(g *guest) *hw.Exception {
		if e := irq(g, pin, edges); e != nil {
			return e
		}
		g.sink.Call(g.ctx, hw.Call{Op: hw.OpEvent, Text: "armed"})
		for range n {
			e := <-g.edges
			g.print(fmt.Sprintf("%d %v;", e.Pin, e.Rose))
		}
		return nil
	}
}

func TestEdgesWhileRunning(t *testing.T) {
	bubble(t, options{}, func(t *testing.T, r *rig) {
		ran := r.handlers()
		c := r.dial(r.bot)
		r.agent.taught("wait", waitFor("BUTTON", hw.EdgeFalling|hw.EdgeRising, 4))
		c.exec("1", "wait")
		synctest.Wait()
		r.press("BUTTON")
		r.press("BUTTON")
		if res := c.wantCode("1", ""); res.Stdout != "21 false;21 true;21 false;21 true;" {
			t.Errorf("got %q, want the edges in order", res.Stdout)
		}
		// Armed still, now that the machine is idle.
		r.press("BUTTON")
		synctest.Wait()
		if len(ran) != 2 {
			t.Fatalf("idle: got %d handler jobs, want 2", len(ran))
		}
		j := <-ran
		if exec := r.agent.ran()[0]; j.Session == "" || j.Edge.Label != j.Session || j.Edge.Rose || j.Generation != r.agent.Generation() || exec.Kind != hw.JobBoard {
			t.Errorf("handler job: got %+v, want one under the arming session", j)
		}
		if sessions := r.agent.ran(); sessions[1].Session != j.Session {
			t.Errorf("handler job runs under %q, want %q", j.Session, sessions[1].Session)
		}
		<-ran
		// Disarmed.
		r.run(c, arms("BUTTON", 0), protocol.Exec{})
		r.press("BUTTON")
		synctest.Wait()
		if len(ran) != 0 {
			t.Errorf("disarmed: got %d handler jobs, want none", len(ran))
		}
		// Arming again replaces: one handler job for each edge.
		r.run(c, arms("BUTTON", hw.EdgeFalling), protocol.Exec{})
		r.run(c, arms("BUTTON", hw.EdgeFalling), protocol.Exec{})
		r.press("BUTTON")
		synctest.Wait()
		if len(ran) != 1 || len(r.core.irqs.armed) != 1 {
			t.Errorf("armed twice: got %d handler jobs and %d armed, want one", len(ran), len(r.core.irqs.armed))
		}
		if res := r.run(c, arms("BUTTON", 200), protocol.Exec{}); res.Rule != "argument" {
			t.Errorf("edges of no kind: got code %q rule %q, want a refusal", res.Code, res.Rule)
		}
		if res := r.run(c, arms("0", hw.EdgeFalling), protocol.Exec{}); res.Code != protocol.CodeDenied {
			t.Errorf("system pin: got code %q, want %q", res.Code, protocol.CodeDenied)
		}
	})
}

// Code of other rights gets a machine of its own, also after what armed an interrupt; code of the same rights does not.
func TestRightsAreKeptApart(t *testing.T) {
	bubble(t, options{}, func(t *testing.T, r *rig) {
		ran := r.handlers()
		idle := func(*guest) *hw.Exception { return nil }
		strong := r.dial(r.bot)
		weak := r.dial(r.token("weak", identity.Agent, identity.Read, identity.Exec))
		r.run(strong, arms("BUTTON", hw.EdgeFalling), protocol.Exec{})
		first := r.agent.Generation()
		r.run(r.dial(r.human), idle, protocol.Exec{})
		if got := r.agent.Generation(); got != first {
			t.Errorf("after code of the same rights: got generation %d, want %d", got, first)
		}
		r.run(weak, idle, protocol.Exec{})
		if got := r.agent.Generation(); got == first || len(r.core.irqs.armed) != 0 {
			t.Errorf("after code of fewer rights: got generation %d and %d armed, want a new one and none", got, len(r.core.irqs.armed))
		}
		r.press("BUTTON")
		synctest.Wait()
		if len(ran) != 0 {
			t.Errorf("got %d handler jobs of a machine that is gone", len(ran))
		}
		second := r.agent.Generation()
		r.run(weak, idle, protocol.Exec{})
		r.run(strong, idle, protocol.Exec{})
		if got := r.agent.Generation(); got != second+1 {
			t.Errorf("after code of more rights: got generation %d, want %d", got, second+1)
		}
		wantStrings(t, "events", r.seen("core1_restarted"),
			`{"cause":"code of other rights ran in it","machine":"agent"}`, `{"cause":"code of other rights ran in it","machine":"agent"}`)
	})
}

// A handler's calls have the rights of whoever runs: within somebody else's exec they would have theirs.
func TestEdgesNeverReachAnotherActor(t *testing.T) {
	bubble(t, options{}, func(t *testing.T, r *rig) {
		ran := r.handlers()
		// Of the same rights: code of others runs in another machine.
		other := r.dial(r.token("other", identity.Agent, identity.Read, identity.Exec, identity.Actuate))
		strong := r.dial(r.bot)
		r.run(other, arms("BUTTON", hw.EdgeFalling), protocol.Exec{})
		seen, release := 0, make(chan struct{})
		r.agent.taught("strong", func(g *guest) *hw.Exception {
			<-release
			seen = len(g.edges)
			return nil
		})
		strong.exec("1", "strong")
		synctest.Wait()
		r.press("BUTTON")
		synctest.Wait()
		if len(ran) != 0 {
			t.Fatal("a handler job ran beside an exec")
		}
		close(release)
		strong.wantCode("1", "")
		synctest.Wait()
		if seen != 0 || len(ran) != 1 {
			t.Errorf("got %d edges in another actor's exec and %d handler jobs after it, want 0 and 1", seen, len(ran))
		}
	})
}

func TestHandlersHaveTheArmingActorsRights(t *testing.T) {
	bubble(t, options{}, func(t *testing.T, r *rig) {
		r.agent.taught("(handler)", func(g *guest) *hw.Exception { return g.drive("LED", 1) })
		weak := r.dial(r.token("weak", identity.Agent, identity.Read, identity.Exec))
		r.run(weak, arms("BUTTON", hw.EdgeFalling), protocol.Exec{})
		r.press("BUTTON")
		synctest.Wait()
		r.wantLevel("handler of an actor that may not drive", "LED", 0)
		if got := strings.Join(r.seen("handler_error"), " "); !strings.Contains(got, `"actor":"weak","class":"OSError"`) || !strings.Contains(got, "[rule: scope]") {
			t.Errorf("events: got %s, want the refusal of the handler", got)
		}
		strong := r.dial(r.bot)
		r.run(strong, arms("BUTTON_B", hw.EdgeFalling), protocol.Exec{})
		r.press("BUTTON_B")
		synctest.Wait()
		r.wantLevel("handler of an actor that may", "LED", 1)
	})
}

func TestEdgesAreLostAndCounted(t *testing.T) {
	bubble(t, options{}, func(t *testing.T, r *rig) {
		ran := r.handlers()
		c, other := r.dial(r.bot), r.dial(r.human)
		r.run(c, arms("BUTTON", hw.EdgeFalling), protocol.Exec{})
		h := r.hold("hold")
		other.exec("1", "hold")
		<-h.running
		const extra = 7
		for range limits.EdgeQueue + extra {
			r.press("BUTTON")
			synctest.Wait()
		}
		close(h.release)
		other.wantCode("1", "")
		synctest.Wait()
		r.press("BUTTON")
		synctest.Wait()
		if len(ran) != limits.EdgeQueue+1 {
			t.Fatalf("got %d handler jobs, want %d", len(ran), limits.EdgeQueue+1)
		}
		for range limits.EdgeQueue {
			if j := <-ran; j.Edge.Lost != 0 {
				t.Errorf("got %d lost before one that was queued", j.Edge.Lost)
			}
		}
		if j := <-ran; j.Edge.Lost != extra {
			t.Errorf("next edge: got %d lost before it, want %d", j.Edge.Lost, extra)
		}
	})
}

// Edges and execs take turns: a bouncing contact must not keep programs from running.
func TestEdgesDoNotStarveExecs(t *testing.T) {
	bubble(t, options{}, func(t *testing.T, r *rig) {
		c, other := r.dial(r.bot), r.dial(r.human)
		r.run(c, arms("BUTTON", hw.EdgeFalling), protocol.Exec{})
		h := r.hold("hold")
		other.exec("1", "hold")
		<-h.running
		for range 10 {
			r.press("BUTTON")
		}
		for i := range 3 {
			other.exec(fmt.Sprint("e", i), "ok")
		}
		synctest.Wait()
		close(h.release)
		synctest.Wait()
		kinds := ""
		for _, j := range r.agent.ran()[2:] {
			kinds += map[hw.JobKind]string{hw.JobExec: "e", hw.JobHandler: "h"}[j.Kind]
		}
		if want := "ehehehehhhhhhh"; kinds != want {
			t.Errorf("got order %s, want %s", kinds, want)
		}
	})
}

func TestInterruptsEndWithTheirMachine(t *testing.T) {
	bubble(t, options{}, func(t *testing.T, r *rig) {
		ran := r.handlers()
		c := r.dial(r.bot)
		gone := map[string]func(){
			"lost":                         func() { r.agent.lose(); r.core.Notice(MachineAgent, hw.Notice{Kind: hw.NoticeLost}) },
			"lost in the moment of arming": func() { r.agent.lose() }, // the notice came before
			"reset":                        func() { c.request("reset", "r", &protocol.Reset{}); c.ack("r") },
			"revoked":                      func() { check(t, r.identity.Revoke("temp")) },
		}
		for _, how := range []string{"lost", "lost in the moment of arming", "reset", "revoked"} {
			who := c
			if how == "revoked" {
				who = r.dial(r.token("temp", identity.Agent, identity.Read, identity.Exec))
			}
			r.run(who, arms("BUTTON", hw.EdgeFalling), protocol.Exec{})
			gone[how]()
			r.press("BUTTON")
			synctest.Wait()
			if len(ran) != 0 || len(r.core.irqs.armed) != 0 {
				t.Errorf("%s: got %d handler jobs and %d armed, want none", how, len(ran), len(r.core.irqs.armed))
			}
		}
	})
}

func TestHandlerTimeout(t *testing.T) {
	bubble(t, options{}, func(t *testing.T, r *rig) {
		r.agent.taught("(handler)", func(g *guest) *hw.Exception {
			if e := g.drive("LED", 1); e != nil {
				return e
			}
			return g.loop(false)
		})
		c := r.dial(r.bot)
		r.run(c, arms("BUTTON", hw.EdgeFalling), protocol.Exec{})
		r.press("BUTTON")
		synctest.Wait()
		r.wantLevel("in the handler", "LED", 1)
		c.exec("1", "ok") // has to wait for the handler, and no longer
		c.wantCode("1", "")
		r.wantLevel("after a handler that did not end", "LED", 0)
		wantStrings(t, "events", r.seen("handler_error"), `{"actor":"local-agent","class":"KeyboardInterrupt","message":"","pin":"21","rung":1}`)
	})
}
