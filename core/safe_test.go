package core

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pal-terminal/pal/hw"
	"github.com/pal-terminal/pal/hw/hwtest"
	"github.com/pal-terminal/pal/identity"
	"github.com/pal-terminal/pal/limits"
	"github.com/pal-terminal/pal/protocol"
)

const shop = `
board: shop
mode: open
board_py: board.py
pins:
  - {id: 1, name: PUMP, owner: agent, can: [out], safe: low, on_disconnect: safe}
  - {id: 2, name: LAMP, owner: agent, can: [out], safe: low}
  - {id: 3, name: BUTTON, owner: agent, can: [in], pull: up}
drivers: {kind: sim}
devices:
  - {type: button, pin: BUTTON}
`

func TestSafeWhenAnExecIsEnded(t *testing.T) {
	bubble(t, options{}, func(t *testing.T, r *rig) {
		c := r.dial(r.bot)
		r.run(c, drives("LED_B", 1), protocol.Exec{}) // ended by itself: keeps its level
		both := func(end program) program {
			return func(g *guest) *hw.Exception {
				if e := g.drive("LED", 1); e != nil {
					return e
				}
				return end(g)
			}
		}
		deaf := func(g *guest) *hw.Exception { return g.loop(true) }
		short := ms(50)
		for _, test := range []struct {
			name    string
			run     program
			want    protocol.Code
			effects string
			cause   string
			other   int // what an earlier exec drove
		}{
			{"deadline", both(func(g *guest) *hw.Exception { return g.loop(false) }), protocol.CodeDeadline, "1 0exec_ended ", causeEnded, 1},
			{"deaf", both(deaf), protocol.CodeDeadline, "1 ", causeLost, 0},
			{"crash", both(func(g *guest) *hw.Exception { g.out.Died = true; return nil }), protocol.CodeVMRestarted, "1 ", causeLost, 0},
		} {
			res, effects := r.run(c, test.run, protocol.Exec{TimeoutMS: short}), ""
			for _, e := range res.Effects {
				effects += fmt.Sprint(e.To, e.Cause, " ")
			}
			if res.Code != test.want || effects != test.effects {
				t.Errorf("%s: got code %s effects %q, want %s and %q", test.name, res.Code, effects, test.want, test.effects)
			}
			if told := r.seen("output_safe"); len(told) == 0 || !strings.Contains(strings.Join(told, ""), `"cause":"`+test.cause+`","name":"LED"`) {
				t.Errorf("%s: got events %q, want the light made safe, cause %s", test.name, told, test.cause)
			}
			r.wantLevel(test.name, "LED", 0)
			r.wantLevel(test.name, "LED_B", test.other)
			r.run(c, drives("LED_B", 1), protocol.Exec{})
		}
		// An exception of the program's own leaves outputs as they are, as on a board.
		r.run(c, both(func(*guest) *hw.Exception { return &hw.Exception{Class: "ValueError"} }), protocol.Exec{})
		r.wantLevel("exception", "LED", 1)
		// A machine lost between jobs takes along whatever it drove, not what was set beside it.
		c.request("pin_set", "p", &protocol.PinSet{Pin: "BUZZER", Value: 1})
		c.wantCode("p", "")
		r.core.Notice(MachineAgent, hw.Notice{Kind: hw.NoticeLost})
		r.wantLevel("lost", "LED", 0)
		r.wantLevel("lost", "LED_B", 0)
		r.wantLevel("lost", "BUZZER", 1)
	})
}

func TestNotices(t *testing.T) {
	bubble(t, options{}, func(t *testing.T, r *rig) {
		r.core.Notice(MachineAgent, hw.Notice{Kind: hw.NoticeWarning, Cause: "slow"})
		r.core.Notice(MachineAgent, hw.Notice{Kind: hw.NoticeRestarted, Cause: "crash", Took: 3 * time.Millisecond})
		wantStrings(t, "warning", r.seen("watchdog_warning"), `{"cause":"slow","machine":"agent"}`)
		wantStrings(t, "restart", r.seen("core1_restarted"), `{"cause":"crash","machine":"agent","took_us":3000}`)
		c := r.dial(r.bot)
		c.request("status", "1", nil)
		if st := c.read().(*protocol.Status); st.Restarts != 1 {
			t.Errorf("status: got %d restarts, want 1", st.Restarts)
		}
	})
}

func TestSafeOnDisconnect(t *testing.T) {
	bubble(t, options{yaml: shop}, func(t *testing.T, r *rig) {
		on := func(g *guest) *hw.Exception {
			if e := g.drive("PUMP", 1); e != nil {
				return e
			}
			return g.drive("LAMP", 1)
		}
		off := func() {
			t.Helper()
			c := r.dial(r.bot)
			r.run(c, drives("PUMP", 0), protocol.Exec{})
			r.run(c, drives("LAMP", 0), protocol.Exec{})
			c.leave()
		}
		other := r.dial(r.bot)
		c := r.dial(r.bot)
		r.run(c, on, protocol.Exec{})
		other.leave()
		r.wantLevel("somebody else left", "PUMP", 1)
		c.leave()
		r.wantLevel("the driver left", "PUMP", 0)
		r.wantLevel("the driver left", "LAMP", 1)
		off()

		// A program that ends by itself just when its client leaves, after it has driven once more.
		c = r.dial(r.bot)
		left := make(chan struct{})
		r.agent.taught("late", func(g *guest) *hw.Exception { <-left; return on(g) })
		c.exec("1", "late")
		synctest.Wait()
		c.leave()
		close(left)
		synctest.Wait()
		r.wantLevel("driven after the client had left", "PUMP", 0)
		r.wantLevel("driven after the client had left", "LAMP", 1)
		off()

		// One that was detached goes on, and keeps what it needs until it ends.
		c = r.dial(r.bot)
		h := r.hold("hold")
		r.agent.taught("detached", func(g *guest) *hw.Exception {
			h.run(g)
			r.wantLevel("the client left", "PUMP", 0)
			if e := on(g); e != nil {
				return e
			}
			r.wantLevel("detached", "PUMP", 1)
			return nil
		})
		c.request("exec", "2", &protocol.Exec{Code: "detached", Detach: true})
		<-h.running
		c.leave()
		close(h.release)
		synctest.Wait()
		r.wantLevel("after the detached exec", "PUMP", 0)
		off()

		// A handler that a gone client left armed.
		r.agent.taught("(handler)", on)
		c = r.dial(r.bot)
		r.run(c, arms("BUTTON", hw.EdgeFalling), protocol.Exec{})
		c.leave()
		r.press("BUTTON")
		synctest.Wait()
		r.wantLevel("handler of a gone client", "PUMP", 0)
		r.wantLevel("handler of a gone client", "LAMP", 1)
	})
}

func TestEstop(t *testing.T) {
	bubble(t, options{}, func(t *testing.T, r *rig) {
		observer := r.dial(r.token("observer", identity.Service, identity.Read)) // any identified actor may stop
		c, person := r.dial(r.bot), r.dial(r.human)
		r.run(c, drives("LED", 1), protocol.Exec{})
		observer.request("stop", "1", &protocol.Stop{Reason: "smoke"})
		observer.ack("1")
		r.wantLevel("stopped", "LED", 0)
		res := r.run(c, drives("LED", 1), protocol.Exec{})
		if res.Code != protocol.CodeEstopped || res.Rule != "estop" {
			t.Errorf("drive while stopped: got code %q rule %q, want %q", res.Code, res.Rule, protocol.CodeEstopped)
		}
		c.request("pin_set", "2", &protocol.PinSet{Pin: "LED", Value: 1})
		c.wantCode("2", protocol.CodeEstopped)
		c.request("status", "3", nil)
		if st := c.read().(*protocol.Status); !st.Estop.Latched || st.Estop.Reason != "smoke" || st.Estop.SinceMS == 0 {
			t.Errorf("status: got %+v, want the latch with its reason", st.Estop)
		}
		// Nobody but a person clears it, whatever the scopes, and a repeated message of theirs clears nothing later.
		service := r.dial(r.token("service", identity.Service, identity.Read, identity.Exec, identity.Actuate, identity.Admin))
		for _, who := range []*client{c, observer, service} {
			who.request("estop_clear", "4", &protocol.EstopClear{})
			if res := who.wantCode("4", protocol.CodeDenied); res.Rule != "estop.human" {
				t.Errorf("clear: got rule %q, want estop.human", res.Rule)
			}
		}
		// Nor does one who manages make a person for it.
		service.request("token", "6", &protocol.Token{Op: "create", Name: "straw", Class: "human", Scopes: []string{"read"}})
		if res := service.wantCode("6", protocol.CodeDenied); res.Rule != "token.human" {
			t.Errorf("token of a human: got rule %q, want token.human", res.Rule)
		}
		person.request("estop_clear", "5", &protocol.EstopClear{Reason: "all clear"})
		person.ack("5")
		r.wantLevel("cleared", "LED", 0) // clearing switches nothing on
		r.core.Stop("signal", "SIGUSR1")
		person.request("estop_clear", "5", &protocol.EstopClear{Reason: "all clear"})
		person.ack("5")
		if stopped, _, _ := r.table.Stopped(); !stopped {
			t.Error("a repeated estop_clear cleared a later stop")
		}
		wantStrings(t, "events", r.seen("estop"), `{"actor":"observer","latched":true,"reason":"smoke"}`,
			`{"actor":"local-human","latched":false,"reason":"all clear"}`, `{"actor":"signal","latched":true,"reason":"SIGUSR1"}`)
	})
}

// Neither a full admission queue, nor a machine that hangs, nor a driver that hangs on another pin delays a stop.
func TestEstopHasItsOwnPath(t *testing.T) {
	var stuck chan struct{}
	led := -1
	hook := func(action string, pin int) error {
		if stuck != nil && action != "get" && pin != led {
			<-stuck
		}
		return nil
	}
	bubble(t, options{hook: hook}, func(t *testing.T, r *rig) {
		led, _ = r.desc.Lookup("LED")
		c, person := r.dial(r.bot), r.dial(r.human)
		r.run(c, drives("LED", 1), protocol.Exec{})
		c.exec("1", hwtest.Swallow)
		// Admission itself stands still, and its queue is full.
		blocked := make(chan struct{})
		r.core.post(func() { <-blocked })
		synctest.Wait()
		for r.core.tryPost(func() {}) {
		}
		for i := range limits.RequestsPerConn {
			c.exec(fmt.Sprint("q", i), "ok")
		}
		stuck = make(chan struct{})
		start := time.Now()
		person.request("stop", "2", &protocol.Stop{})
		if res := person.wantCode("2", protocol.CodeInternal); !strings.Contains(res.Message, "latched: not known to be safe: ") || strings.Contains(res.Message, "LED,") {
			t.Errorf("stop: got %q, want those named whose driver hangs", res.Message)
		}
		if took := time.Since(start); took > limits.DriveTimeout {
			t.Errorf("stop took %v, want no more than %v", took, limits.DriveTimeout)
		}
		r.wantLevel("stopped", "LED", 0)
		close(stuck)
		close(blocked)
		c.leave()
	})
}

// Whoever may stop can do so for ever; the first stop stays to be seen.
func TestEventsFirstStopOutlastsOthers(t *testing.T) {
	bubble(t, options{}, func(t *testing.T, r *rig) {
		check(t, r.core.Stop("somebody", "first"))
		for range limits.EventRing + limits.GraveEvents {
			check(t, r.core.Stop("somebody", "more"))
			r.core.Notice(MachineAgent, hw.Notice{Kind: hw.NoticeRestarted})
		}
		log := r.events.Reader([]string{"boot", "estop"}, new(uint64))
		var first []string
		for range 2 {
			ev, _ := log.Next()
			first = append(first, string(ev.Data))
		}
		if !strings.Contains(first[0], "boot_id") || !strings.Contains(first[1], `"reason":"first"`) {
			t.Errorf("got %s, want the boot and the first stop", first)
		}
	})
}
