package pin

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/pal-terminal/pal/board"
	"github.com/pal-terminal/pal/board/load"
	"github.com/pal-terminal/pal/board/sim"
	"github.com/pal-terminal/pal/hw"
)

const claimBoard = `board: claims
pins:
  - {id: 1, name: DOOR, owner: guard, can: [in], pull: up}
  - {id: 2, name: OUT, owner: agent, can: [in, out, open_drain, pwm, bitstream], safe: low}
  - {id: 3, name: HOUR, owner: agent, can: [in, out, pwm, bitstream], safe: high, lease_required: true}
  - {id: 4, name: MAIN, owner: agent, can: [in, out, pwm, bitstream], safe: low, danger: high, requires: DOOR}
  - {id: 5, name: FREE, owner: agent, can: [in, out], safe: low}
  - {id: 6, name: IDLE, owner: agent, can: [in, out], safe: low}
  - {id: 7, name: BARE, owner: agent, can: [in, out, open_drain], safe: low}
`

var (
	other = Caller{Name: "other", Drive: true, Run: 2, Machine: "agent"}
	task  = Caller{Name: "agent", Drive: true, Run: 3, Machine: "tasks", Task: "003"}
)

// claimed is one claim at a time on all pins with one of names; own says whom it lets drive.
type claimed struct {
	d *board.Description

	mu     sync.Mutex // guards what follows
	names  map[string]bool
	holder string
	own    func(Caller) bool
}

var since = time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)

func (k *claimed) take(holder string, own func(Caller) bool, names ...string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.holder, k.own, k.names = holder, own, map[string]bool{}
	for _, name := range names {
		k.names[name] = true
	}
}

func (k *claimed) Holder(c Caller, h Handle) (held, own bool, holder string, at time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.names[k.d.Pins[h].Name] {
		return false, false, "", time.Time{}
	}
	return true, k.own(c), k.holder, since
}

func is(name string) func(Caller) bool { return func(c Caller) bool { return c.Name == name } }

// withOptions runs a test on a board with options, behind a quick driver and behind workers.
func withOptions(t *testing.T, src string, o Options, run func(t *testing.T, r *rig, k *claimed)) {
	t.Helper()
	for name, hook := range map[string]func(string, int) error{"direct": nil, "workers": noWait} {
		t.Run(name, func(t *testing.T) {
			d, err := load.Bytes("test.yaml", []byte(src), nil)
			if err != nil {
				t.Fatal(err)
			}
			drv, err := sim.New(d, sim.Options{Hook: hook})
			if err != nil {
				t.Fatal(err)
			}
			k := &claimed{d: d}
			o := o
			o.Claims = k
			r := &rig{t: t, d: d, sim: drv}
			if r.Table, err = New(d, drv, o); err != nil {
				t.Fatal(err)
			}
			defer r.end()
			run(t, r, k)
		})
	}
}

// ways are all the ways in which a caller can switch an output on or change what it is.
func (r *rig) ways(c Caller, name string, on int) map[string]error {
	h := r.h(name)
	configure := func(m hw.Mode, level int) error {
		_, err := r.Configure(c, h, m, hw.PullNone, level)
		return err
	}
	_, err := r.Write(c, h, on)
	_, pwm := r.PWM(c, h, 1000, 30_000, -1)
	_, toggle := r.Toggle(c, h)
	return map[string]error{
		"write": err, "toggle": toggle, "pwm": pwm, "out": configure(hw.ModeOut, on),
		"lend": r.lendTo(c, name, func(context.Context) error {
			r.t.Error("lent")
			return nil
		}),
	}
}

// TestClaimedByAnother: nothing that drives gets past somebody else's claim; all that makes safe does.
func TestClaimedByAnother(t *testing.T) {
	withOptions(t, claimBoard, Options{}, func(t *testing.T, r *rig, k *claimed) {
		for _, name := range []string{"IDLE", "BARE"} {
			if _, err := r.Configure(agent, r.h(name), hw.ModeIn, hw.PullNone, -1); err != nil {
				t.Fatal(err)
			}
		}
		k.take("other", is("other"), "OUT", "IDLE", "BARE")
		for way, err := range r.ways(agent, "OUT", 1) {
			f := refused(t, err, RuleLeaseHeld)
			if f.Code != "conflict" || f.Errno != 13 || f.Holder != "other" || !f.Since.Equal(since) || f.Resource != "OUT" {
				t.Errorf("%s: got %+v", way, f)
			}
		}
		for _, m := range []hw.Mode{hw.ModeIn, hw.ModeOpenDrain} { // either takes the output away from its holder
			_, err := r.Configure(agent, r.h("OUT"), m, hw.PullNone, -1)
			refused(t, err, RuleLeaseHeld)
		}
		for _, level := range []int{-1, 0, 1} {
			_, err := r.Configure(agent, r.h("IDLE"), hw.ModeOut, hw.PullNone, level)
			refused(t, err, RuleLeaseHeld)
		}
		_, err := r.Configure(agent, r.h("BARE"), hw.ModeIn, hw.PullUp, -1) // drives it, weakly
		refused(t, err, RuleLeaseHeld)
		_, err = r.Hold(agent, Holding{Name: "bus", Drive: true}, []Handle{r.h("IDLE")})
		refused(t, err, RuleLeaseHeld)
		_, err = r.Hold(agent, Holding{Name: "counter", Input: true}, []Handle{r.h("IDLE")})
		refused(t, err, RuleLeaseHeld)
		refused(t, r.CheckUse(agent, []Handle{r.h("FREE"), r.h("IDLE")}, true), RuleLeaseHeld)
		_, err = r.Begin(agent, "bus", []Handle{r.h("IDLE")}, true, func() {})
		refused(t, err, RuleLeaseHeld)
		if r.Posts(agent, r.h("OUT")) || !r.Posts(other, r.h("OUT")) {
			t.Error("writes of a claimed pin are posted for the wrong one")
		}
		if got := r.line("OUT") + r.line("IDLE") + r.line("BARE"); got != 0 {
			t.Error("a line is on")
		}

		// Reading, and making it safe.
		if _, err := r.Read(agent, r.h("OUT")); err != nil {
			t.Error(err)
		}
		if err := r.CheckUse(agent, []Handle{r.h("IDLE")}, false); err != nil {
			t.Error(err)
		}
		for way, off := range map[string]func() error{
			"write": func() error { _, err := r.Write(agent, r.h("OUT"), 0); return err },
			"out":   func() error { _, err := r.Configure(agent, r.h("OUT"), hw.ModeOut, hw.PullNone, 0); return err },
			"flip":  func() error { _, err := r.Toggle(agent, r.h("OUT")); return err },
			"safe":  func() error { r.Safe("test", func(d Driven) bool { return d.Caller.Name == "other" }); return nil },
			"stop":  func() error { return r.Stop("test") },
		} {
			if _, err := r.Write(other, r.h("OUT"), 1); err != nil {
				t.Fatalf("the holder: %v", err)
			}
			if err := off(); err != nil || r.line("OUT") != 0 {
				t.Errorf("%s: got %v, level %d", way, err, r.line("OUT"))
			}
			if err := r.Clear(); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := r.PWM(other, r.h("OUT"), 1000, 30_000, -1); err != nil {
			t.Fatal(err)
		}
		_, err = r.PWM(agent, r.h("OUT"), 1000, 0, -1) // safe, but no level that the holder could go on from
		refused(t, err, RuleLeaseHeld)
		if e, err := r.PWM(agent, r.h("OUT"), 0, 0, -1); err != nil || e.To != 0 {
			t.Errorf("to end PWM: got %+v, %v", e, err)
		}
	})
}

func TestTaskHeld(t *testing.T) {
	withOptions(t, claimBoard, Options{}, func(t *testing.T, r *rig, k *claimed) {
		k.take("task 003 (agent)", func(c Caller) bool { return c.Task == "003" }, "OUT", "HOUR")
		f := refused(t, r.tryOn("OUT"), RuleTaskHeld)
		if f.Holder != "task 003 (agent)" || f.Code != "conflict" {
			t.Errorf("got %+v", f)
		}
		for name, level := range map[string]int{"OUT": 1, "HOUR": 0} {
			if _, err := r.Write(task, r.h(name), level); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		own, err := r.Claimed(task, []Handle{r.h("OUT"), r.h("HOUR")})
		if !own || err != nil {
			t.Errorf("got %v, %v", own, err)
		}
		own, err = r.Claimed(task, []Handle{r.h("OUT"), r.h("FREE")})
		if own || err != nil {
			t.Errorf("got %v, %v", own, err)
		}
		_, err = r.Claimed(agent, []Handle{r.h("FREE"), r.h("OUT")})
		refused(t, err, RuleTaskHeld)
		if own, err := r.Claimed(task, []Handle{99}); own || err != nil {
			t.Errorf("no pin: got %v, %v", own, err)
		}
	})
}

// TestLeaseRequired: on is only for who holds the claim itself, by whatever way; safe is for everybody.
func TestLeaseRequired(t *testing.T) {
	withOptions(t, claimBoard, Options{}, func(t *testing.T, r *rig, k *claimed) {
		if _, err := r.Write(agent, r.h("HOUR"), 1); err != nil {
			t.Fatal(err)
		}
		for way, err := range r.ways(agent, "HOUR", 0) {
			if f := refused(t, err, RuleLease); f.Code != "denied" {
				t.Errorf("%s: got %+v", way, f)
			}
		}
		k.take("other", is("other"), "HOUR")
		for _, err := range r.ways(agent, "HOUR", 0) {
			refused(t, err, RuleLeaseHeld)
		}
		if _, err := r.Write(other, r.h("HOUR"), 0); err != nil {
			t.Error(err)
		}
		k.take("", nil)
		if _, err := r.Write(other, r.h("HOUR"), 0); err == nil { // on already, but nobody holds it any more
			t.Error("an output that needs a lease was driven without one")
		}
		if _, err := r.Write(agent, r.h("HOUR"), 1); err != nil {
			t.Error(err)
		}
	})
}

// TestLines: what can be claimed, by any of its names.
func TestLines(t *testing.T) {
	r := rigOn(t, builtin(t), nil)
	defer r.end()
	for _, name := range []string{"RELAY_1", string(r.d.Pins[r.h("RELAY_1")].ID), "GPIO" + string(r.d.Pins[r.h("RELAY_1")].ID)} {
		lines, label, err := r.Lines(name)
		if err != nil || len(lines) != 1 || lines[0] != r.h("RELAY_1") || label != "RELAY_1" {
			t.Errorf("%s: got %v %q %v", name, lines, label, err)
		}
	}
	for i := range r.d.Buses {
		b := &r.d.Buses[i]
		lines, label, err := r.Lines(b.Name())
		if b.Owner == board.OwnerSystem {
			refused(t, err, RuleSystemPin)
		} else if err != nil || label != b.Name() || len(lines) != len(b.Pins) {
			t.Errorf("%s: got %v %q %v", b.Name(), lines, label, err)
		}
	}
	for i := range r.d.Pins {
		if p := &r.d.Pins[i]; p.Owner == board.OwnerSystem {
			_, _, err := r.Lines(string(p.ID))
			refused(t, err, RuleSystemPin)
		}
	}
	for _, name := range []string{"", "i2c", "i2c99", "I2C0", "nosuch"} {
		_, _, err := r.Lines(name)
		refused(t, err, RuleUnknownPin)
	}
}

// A stop and a release while a person is asked: what was asked for before does not drive after.
func TestApprovedAcrossAStop(t *testing.T) {
	d, err := load.Bytes("b.yaml", []byte("board: b\npins:\n  - {id: 1, name: PUMP, owner: agent, can: [out], safe: low, danger: high}\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	drv, err := sim.New(d, sim.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var table *Table
	table, err = New(d, drv, Options{Approve: func(Caller, Handle) (bool, string, *Refusal) {
		if err := table.Stop("test"); err != nil {
			t.Error(err)
		}
		if err := table.Clear(); err != nil {
			t.Error(err)
		}
		return true, "", nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer table.Close()
	_, err = table.Write(Caller{Name: "bot", Drive: true, Ask: true}, 0, 1)
	if r, ok := errors.AsType[*Refusal](err); !ok || r.Code != codeEstopped {
		t.Errorf("got %v, want estopped", err)
	}
}
