package pin

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pal-terminal/pal/hw"
	"github.com/pal-terminal/pal/limits"
)

// person stands for who approves: it counts how often it was asked.
type person struct {
	r     *rig
	asked []Caller
	ok    bool
	no    *Refusal
}

func (p *person) approve(c Caller, h Handle) (bool, string, *Refusal) {
	p.r.Snapshot() // no lock of the table is held
	p.asked = append(p.asked, c)
	if h != p.r.h("MAIN") {
		p.r.t.Errorf("asked about pin %d", h)
	}
	return p.ok, "k3f9", p.no
}

func TestApproval(t *testing.T) {
	p := &person{}
	withOptions(t, claimBoard, Options{Approve: p.approve}, func(t *testing.T, r *rig, k *claimed) {
		*p = person{r: r}
		asking := agent
		asking.Ask = true
		for way, err := range r.ways(asking, "MAIN", 1) {
			f := refused(t, err, RuleDanger)
			want := "MAIN (pin 4) is high danger: a person must approve (pal approve k3f9)"
			if f.Code != "approval_needed" || f.Approval != "k3f9" || f.Message != want || f.Errno != 13 {
				t.Errorf("%s: got %+v", way, f)
			}
		}
		if len(p.asked) != 5 || p.asked[0] != asking || r.line("MAIN") != 0 {
			t.Errorf("asked %d times, level %d", len(p.asked), r.line("MAIN"))
		}
		p.no = &Refusal{Code: "full", Rule: "approval.full"}
		_, err := r.Write(asking, r.h("MAIN"), 1)
		refused(t, err, "approval.full")

		// What would be refused all the same is asked of nobody.
		p.no, p.asked = nil, nil
		r.world("set", "DOOR", "0")
		_, err = r.Write(asking, r.h("MAIN"), 1)
		refused(t, err, RuleRequires)
		r.world("set", "DOOR", "1")
		k.take("other", is("other"), "MAIN")
		_, err = r.Write(asking, r.h("MAIN"), 1)
		refused(t, err, RuleLeaseHeld)
		k.take("", nil)
		if err := r.Stop("test"); err != nil {
			t.Error(err)
		}
		_, err = r.Write(asking, r.h("MAIN"), 1)
		refused(t, err, RuleEstop)
		if err := r.Clear(); err != nil {
			t.Fatal(err)
		}
		for _, c := range []Caller{agent, asking} { // who need not ask, and what needs no asking
			level := map[bool]int{false: 1, true: 0}[c.Ask]
			if _, err := r.Write(c, r.h("MAIN"), level); err != nil {
				t.Error(err)
			}
		}
		if len(p.asked) != 0 {
			t.Errorf("asked %d times", len(p.asked))
		}
		p.ok = true
		r.approved(p, asking)
	})
}

// approved drives by every way with a person's yes.
func (r *rig) approved(p *person, c Caller) {
	h := r.h("MAIN")
	lent := 0
	for way, drive := range map[string]func() error{
		"write":  func() error { _, err := r.Write(c, h, 1); return err },
		"toggle": func() error { _, err := r.Toggle(c, h); return err },
		"out":    func() error { _, err := r.Configure(c, h, hw.ModeOut, hw.PullNone, 1); return err },
		"pwm":    func() error { _, err := r.PWM(c, h, 1000, 30_000, -1); return err },
		"lend":   func() error { return r.lendTo(c, "MAIN", func(context.Context) error { lent++; return nil }) },
	} {
		p.asked = nil
		if err := drive(); err != nil || len(p.asked) != 1 {
			r.t.Errorf("%s: got %v, asked %d times", way, err, len(p.asked))
		}
		if got := r.state(r.pins[h]).On; got != (way != "lend") {
			r.t.Errorf("%s: on is %v", way, got)
		}
		if _, err := r.PWM(c, h, 0, 0, -1); err != nil {
			r.t.Error(err)
		}
		if _, err := r.Write(c, h, 0); err != nil {
			r.t.Error(err)
		}
	}
	if lent != 1 {
		r.t.Errorf("lent %d times", lent)
	}
}

// TestStopWhileAsking: a yes that comes after a stop switches nothing on.
func TestStopWhileAsking(t *testing.T) {
	var r *rig
	stop := func(Caller, Handle) (bool, string, *Refusal) { return r.Stop("while asking") == nil, "x", nil }
	withOptions(t, claimBoard, Options{Approve: stop}, func(t *testing.T, on *rig, _ *claimed) {
		r = on
		asking := agent
		asking.Ask = true
		_, err := r.Write(asking, r.h("MAIN"), 1)
		refused(t, err, RuleEstop)
		if r.line("MAIN") != 0 {
			t.Error("it is on")
		}
	})
}

func TestAskAll(t *testing.T) {
	on := false
	withOptions(t, claimBoard, Options{AskAll: func() bool { return on }}, func(t *testing.T, r *rig, _ *claimed) {
		maria := agent
		maria.Human = true
		for _, tt := range []struct {
			all  bool
			c    Caller
			rule string
		}{
			{false, agent, ""}, {false, maria, ""}, {true, agent, RuleDanger}, {true, maria, ""},
			{true, Caller{Name: "maria", Drive: true, Human: true, Ask: true}, RuleDanger},
		} {
			on = tt.all
			_, err := r.Write(tt.c, r.h("MAIN"), 1)
			if tt.rule == "" && err != nil {
				t.Errorf("%+v: got %v", tt, err)
			} else if tt.rule != "" {
				if f := refused(t, err, tt.rule); f.Approval != "" {
					t.Errorf("nobody approves here: got %+v", f)
				}
			}
			r.set("MAIN", 0)
		}
	})
}

// TestLatchedAtStart: what was stopped stays so until a person clears it, and nothing is on meanwhile.
func TestLatchedAtStart(t *testing.T) {
	at := time.Now().Add(-time.Hour)
	for _, s := range []*Latched{{Reason: "smoke", Actor: "maria", At: at}, {Actor: "maria", At: at}} {
		withOptions(t, claimBoard, Options{Stopped: s}, func(t *testing.T, r *rig, _ *claimed) {
			refused(t, r.tryOn("OUT"), RuleEstop)
			want := s.Reason
			if want == "" {
				want = "by maria"
			}
			if stopped, reason, since := r.Stopped(); !stopped || reason != want || !since.Equal(at) {
				t.Errorf("got %v %q %s", stopped, reason, since)
			}
			if r.line("OUT") != 0 || r.line("HOUR") != 1 {
				t.Error("not safe at the start")
			}
			_ = r.Stop("again") // keeps the first reason
			if _, reason, _ := r.Stopped(); reason != want {
				t.Errorf("got %q", reason)
			}
			if err := r.Clear(); err != nil {
				t.Fatal(err)
			}
			r.set("OUT", 1)
		})
	}
}

// TestSafeOfATask: what a task drove becomes safe, by level, by PWM and while lent, and nothing else; one output whose driver hangs
// delays no other and is reported.
func TestSafeOfATask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &gate{hold: make(chan struct{})}
		r := newRig(t, claimBoard, g.hook)
		g.r = r
		defer r.end()
		for _, name := range []string{"FREE", "IDLE"} {
			if _, err := r.Write(task, r.h(name), 1); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := r.PWM(task, r.h("OUT"), 1000, 30_000, -1); err != nil {
			t.Fatal(err)
		}
		r.set("BARE", 1)
		cancelled := make(chan struct{})
		go func() {
			_ = r.lendTo(task, "MAIN", func(ctx context.Context) error {
				<-ctx.Done()
				close(cancelled)
				return ctx.Err()
			})
		}()
		synctest.Wait()
		g.action.Store("set FREE")
		start := time.Now()
		var handles []Handle
		effects := r.Safe("task ended", func(d Driven) bool {
			handles = append(handles, d.Handle)
			return d.Caller.Task == "003"
		})
		if took := time.Since(start); took > limits.DriveTimeout {
			t.Errorf("took %s", took)
		}
		<-cancelled
		if len(effects) != 3 || len(handles) != 5 {
			t.Errorf("got %d effects of %d outputs that are on", len(effects), len(handles))
		}
		for name, level := range map[string]int{"IDLE": 0, "OUT": 0, "MAIN": 0, "BARE": 1} {
			if got := r.line(name); got != level {
				t.Errorf("%s: got %d want %d", name, got, level)
			}
		}
		if got := r.Snapshot()[r.h("FREE")].Fault; got == "" {
			t.Error("an output that could not be made safe is not reported")
		}
		g.action.Store("")
		close(g.hold)
		synctest.Wait()
		if got := r.line("FREE"); got != 0 {
			t.Errorf("after its driver came back: got %d", got)
		}
	})
}
