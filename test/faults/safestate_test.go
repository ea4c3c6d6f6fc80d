//go:build unix

package faults

import (
	"syscall"
	"testing"
	"time"

	"github.com/pal-terminal/pal/core"
	"github.com/pal-terminal/pal/identity"
	"github.com/pal-terminal/pal/protocol"
	"github.com/pal-terminal/pal/test/terminal"
)

// The table of safe states: each cause makes its outputs safe, and leaves the others as they are. RELAY is driven by somebody who has
// nothing to do with the cause.
func TestSafeStates(t *testing.T) {
	r := start(t, terminal.Options{})
	bystander := r.dial(r.token("bystander", identity.Agent, false, identity.Read, identity.Exec, identity.Actuate))
	on := "Pin('VALVE', Pin.OUT).off()\nPin('LED', Pin.OUT).on()\n"
	endless := on + "while True: pass"
	deaf := on + "while True:\n  try:\n    while True: pass\n  except BaseException: pass"
	driven := map[string]int{"LED": 1, "VALVE": 0}
	begin := func(code string) <-chan *protocol.Result {
		ended := make(chan *protocol.Result, 1)
		go func() {
			res, _ := r.agent.Exec(r.ctx(), protocol.Exec{Code: code, TimeoutMS: new(int64(20_000))}) // nil then
			ended <- res
		}()
		eventually(t, "it drives", func() bool { return r.level("LED") == 1 && r.level("VALVE") == 0 })
		return ended
	}
	trace := func() string {
		s, err := r.human.Status(r.ctx())
		if err != nil || s.Running == nil {
			t.Fatalf("status: %+v, %v", s, err)
		}
		return s.Running.Trace
	}
	for _, row := range []struct {
		cause string
		do    func(t *testing.T)
		safe  map[string]int // levels then
		all   bool
		vm    bool // what its machine drove, whoever for
	}{
		{cause: "exec that ended well", do: func(*testing.T) { r.run(r.agent, on) }, safe: driven},
		{cause: "exec deadline", do: func(*testing.T) { r.exec(r.agent, protocol.Exec{Code: endless, TimeoutMS: new(int64(150))}) }},
		{cause: "exec deadline, deaf", vm: true, do: func(*testing.T) { r.exec(r.agent, protocol.Exec{Code: deaf, TimeoutMS: new(int64(150))}) }},
		{cause: "interrupt", do: func(t *testing.T) {
			ended := begin(endless)
			if err := r.human.Interrupt(r.ctx(), trace()); err != nil {
				t.Fatal(err)
			}
			<-ended
		}},
		{cause: "VM kill", vm: true, do: func(t *testing.T) {
			ended := begin(endless)
			r.signal(core.MachineAgent, syscall.SIGKILL)
			<-ended
		}},
		{cause: "heartbeat loss", vm: true, do: func(t *testing.T) {
			ended := begin(endless)
			r.signal(core.MachineAgent, syscall.SIGSTOP)
			at := time.Now()
			if res := <-ended; res == nil || res.Code != protocol.CodeVMRestarted && res.Rung != 3 {
				t.Errorf("got %+v", res)
			}
			figure("heartbeat loss: safe in %v", time.Since(at).Round(time.Millisecond))
		}},
		{cause: "its own connection ends", do: func(*testing.T) {
			c := r.dial(r.Agent)
			go c.Exec(r.ctx(), protocol.Exec{Code: endless}) // it is cut
			eventually(t, "it drives", func() bool { return r.level("LED") == 1 && r.level("VALVE") == 0 })
			c.Close()
			eventually(t, "its program has ended", func() bool { return !running(r) })
		}},
		{cause: "e-stop", all: true, do: func(t *testing.T) {
			r.run(r.agent, on)
			if err := r.agent.Stop(r.ctx(), "test"); err != nil {
				t.Fatal(err)
			}
		}},
		{cause: "trip", safe: map[string]int{"HEATER": 0, "LED": 1, "VALVE": 0}, do: func(t *testing.T) {
			r.run(r.agent, on+"Pin('HEATER', Pin.OUT).on()")
			r.wantLevel("before the trip", "HEATER", 1)
			if _, err := r.Sim.Sim("set", "TEMP", "3000"); err != nil {
				t.Fatal(err)
			}
			eventually(t, "the trip", func() bool { return r.level("HEATER") == 0 })
			if _, err := r.Sim.Sim("set", "TEMP", "300"); err != nil {
				t.Fatal(err)
			}
			r.waitEvent("trip", map[string]any{"name": "HEATER"})
			if res := r.exec(r.agent, protocol.Exec{Code: "Pin('HEATER', Pin.OUT).on()"}); res.Code != protocol.CodeConflict || res.Rule != "trip" {
				t.Errorf("driving after the trip: got %+v", res)
			}
		}},
	} {
		t.Run(row.cause, func(t *testing.T) {
			r.t = t
			r.clear()
			r.run(bystander, "Pin('RELAY', Pin.OUT).on()")
			row.do(t)
			if row.safe == nil {
				row.safe = map[string]int{"LED": 0, "VALVE": 1}
			}
			for name, level := range row.safe {
				r.wantLevel(row.cause, name, level)
			}
			if row.all {
				r.wantSafe(row.cause)
				return
			}
			r.wantLevel(row.cause+", of somebody else", "RELAY", map[bool]int{true: 0, false: 1}[row.vm])
		})
	}
	r.t = t
}

// clear makes everything safe and releases the stop.
func (r *rig) clear() {
	r.t.Helper()
	if err := r.human.Stop(r.ctx(), "between"); err != nil {
		r.t.Fatal(err)
	}
	if err := r.human.EstopClear(r.ctx(), "between"); err != nil {
		r.t.Fatal(err)
	}
}

// Lease lost: the leased outputs become safe, by each way that a lease ends, and not otherwise.
func TestLeaseLost(t *testing.T) {
	r := start(t, terminal.Options{})
	if res := r.exec(r.agent, protocol.Exec{Code: "Pin('LOCK', Pin.OUT).on()"}); res.Rule != "lease_required" {
		t.Errorf("without a lease: got %+v", res)
	}
	for _, row := range []struct {
		name string
		ttl  time.Duration
		keep bool
		lose func(id string, leave func())
		safe bool
	}{
		{"expiry", 300 * time.Millisecond, true, func(string, func()) {}, true},
		{"connection end", time.Minute, false, func(_ string, leave func()) { leave() }, true},
		{"connection end, keep", time.Minute, true, func(_ string, leave func()) { leave() }, false},
		{"release", time.Minute, true, func(id string, _ func()) {
			if _, err := r.human.LeaseRelease(r.ctx(), id); err != nil {
				t.Fatal(err)
			}
		}, true},
		{"token ended", time.Minute, true, func(string, func()) {
			if err := r.Identity.Revoke("holder"); err != nil {
				t.Fatal(err)
			}
		}, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			r.t = t
			holder := r.dial(r.token("holder", identity.Agent, false, identity.Read, identity.Exec, identity.Actuate))
			l, err := holder.Lease(r.ctx(), protocol.Lease{Resources: []protocol.ResourceUse{drives("LOCK"), drives("LED")}, TTLMS: new(row.ttl.Milliseconds()), Keep: row.keep})
			if err != nil {
				t.Fatal(err)
			}
			at := time.Now()
			r.run(holder, "Pin('LOCK', Pin.OUT).on()\nPin('LED', Pin.OUT).on()\nPin('RELAY', Pin.OUT).on()")
			if res := r.exec(r.agent, protocol.Exec{Code: "Pin('LED').on()"}); res.Rule != "lease.held" || res.Holder != "holder" {
				t.Errorf("another: got %+v", res)
			}
			row.lose(l.LeaseID, func() { holder.Close() })
			if !row.safe {
				eventually(t, "its connection is gone", func() bool { c, err := r.human.Conns(r.ctx()); return err == nil && len(c.Conns) == 2 })
				r.wantLevel(row.name, "LOCK", 1)
				r.wantLevel(row.name, "LED", 1)
				if _, err := r.human.LeaseRelease(r.ctx(), l.LeaseID); err != nil {
					t.Fatal(err)
				}
			}
			eventually(t, "the leased outputs are safe", func() bool { return r.level("LOCK") == 0 && r.level("LED") == 0 })
			if row.name == "expiry" {
				if took := time.Since(at); took < row.ttl/2 || took > row.ttl+2*slack {
					t.Errorf("a lease of %v ended after %v", row.ttl, took)
				}
				r.waitEvent("lease_expired", map[string]any{"lease_id": l.LeaseID, "holder": "holder"})
			}
			r.wantLevel(row.name+", not leased", "RELAY", 1)
			r.run(r.agent, "Pin('LED', Pin.OUT).on()\nPin('LED', Pin.OUT).off()")
			r.Identity.Revoke("holder") // it may have ended
		})
	}
	r.t = t
}

// A task's outputs keep their level between runs, and become safe when it is cancelled, or paused by its failures.
func TestTaskEnds(t *testing.T) {
	r := start(t, terminal.Options{})
	uses := []protocol.ResourceUse{drives("FAN"), drives("VALVE")}
	code := "n = globals().get('n', 0) + 1\nif n == 1:\n  Pin('FAN', Pin.OUT).on()\n  Pin('VALVE', Pin.OUT).off()\n"
	r.run(r.agent, "Pin('RELAY', Pin.OUT).on()")
	id := r.task(r.agent, code, every("cancelled", 20*time.Millisecond, uses...))
	eventually(t, "it has run three times", func() bool { return r.info(id).Runs >= 3 })
	r.wantLevel("between runs", "FAN", 1)
	r.wantLevel("between runs", "VALVE", 0)
	if _, err := r.agent.Cancel(r.ctx(), id); err != nil {
		t.Fatal(err)
	}
	r.wantLevel("cancelled", "FAN", 0)
	r.wantLevel("cancelled", "VALVE", 1)
	r.wantLevel("cancelled, of somebody else", "RELAY", 1)

	id = r.task(r.agent, code+"if n > 1: raise ValueError('no')", every("fails", 20*time.Millisecond, uses...))
	eventually(t, "it is paused", func() bool { return r.info(id).State == "paused" })
	eventually(t, "paused by failure: safe", func() bool { return r.level("FAN") == 0 && r.level("VALVE") == 1 })
	r.waitEvent("task_paused", map[string]any{"task_id": id})
	if i := r.info(id); i.Failures != 5 || i.Reason == "" {
		t.Errorf("got %d failures, reason %q", i.Failures, i.Reason)
	}

	endless := protocol.Brief{Name: "endless", IntervalMS: new(int64(50)), TimeoutMS: new(int64(30_000)), Resources: []protocol.ResourceUse{drives("LED")}}
	id = r.task(r.agent, "Pin('LED', Pin.OUT).on()\nwhile True: pass", endless)
	eventually(t, "it drives", func() bool { return r.level("LED") == 1 })
	if _, err := r.agent.Cancel(r.ctx(), id); err != nil {
		t.Fatal(err)
	}
	eventually(t, "cancelled in the middle: safe", func() bool { return r.level("LED") == 0 })
}

// Guard start and orderly shutdown make all safe: on the same board, which outlives the guard.
func TestStartAndShutdown(t *testing.T) {
	desc := newBoard(t, "open")
	lasting := newLasting(t, desc)
	first := start(t, terminal.Options{Board: desc, Driver: lasting})
	first.run(first.agent, "Pin('VALVE', Pin.OUT).off()\nPin('LED', Pin.OUT).on()\nPin('FAN', Pin.OUT).on()\nPin('RELAY', Pin.OUT).on()")
	first.wantLevel("before", "VALVE", 0)
	first.end()
	first.wantSafe("after an orderly shutdown")
	for name, safe := range outputs { // as a guard that was killed leaves them
		p, _ := desc.Lookup(name)
		if err := lasting.Set(p, 1-safe); err != nil {
			t.Fatal(err)
		}
	}
	first.wantLevel("in between", "MAIN", 1)
	second := start(t, terminal.Options{Board: desc, Driver: lasting})
	second.wantSafe("after the start")
}
