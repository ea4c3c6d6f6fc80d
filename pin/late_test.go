package pin

import (
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pal-terminal/pal/board/load"
	"github.com/pal-terminal/pal/board/sim"
	"github.com/pal-terminal/pal/limits"
)

// TestSafeTellsOfNoDriveThatFailed: what the guard says it made safe, it made safe.
func TestSafeTellsOfNoDriveThatFailed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &gate{err: errors.New("bus gone")}
		r := gated(t, g)
		defer r.end()
		r.set("PLAIN", 1)
		g.action.Store("set PLAIN")
		everything := func(Driven) bool { return true }
		if got := r.Safe("test", everything); len(got) > 0 {
			t.Errorf("the drive failed: got effects %v, want none", got)
		}
		g.action.Store("")
		if err := r.Clear(); err != nil {
			t.Fatal(err)
		}
		r.set("PLAIN", 1)
		if got := r.Safe("test", everything); len(got) != 1 || got[0].To != 0 || got[0].ReadBack != 0 {
			t.Errorf("the drive went well: got effects %v, want PLAIN's", got)
		}
	})
}

// TestMaxOnWithAClockSetBack: the clock of rules falls behind the timers. The output goes off late, but it goes off.
func TestMaxOnWithAClockSetBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, err := load.Bytes("test.yaml", []byte(rulesBoard), nil)
		if err != nil {
			t.Fatal(err)
		}
		drv, err := sim.New(d, sim.Options{})
		if err != nil {
			t.Fatal(err)
		}
		var back atomic.Int64
		table, err := New(d, drv, Options{Now: func() time.Time { return time.Now().Add(-time.Duration(back.Load())) }})
		if err != nil {
			t.Fatal(err)
		}
		r := &rig{Table: table, t: t, d: d, sim: drv}
		defer r.end()
		r.set("TIMED", 1)
		back.Store(int64(time.Second))
		pass(2900 * time.Millisecond)
		if got := r.line("TIMED"); got != 1 {
			t.Errorf("after 1.9 s by its clock: got %d", got)
		}
		pass(100 * time.Millisecond)
		if got := r.line("TIMED"); got != 0 {
			t.Errorf("after 2 s by its clock: got %d", got)
		}
	})
}

// TestSlowDriverDoesNotShortenMinOff: the time off counts from when the output was off.
func TestSlowDriverDoesNotShortenMinOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &gate{hold: make(chan struct{})}
		r := gated(t, g)
		defer r.end()
		pass(3 * time.Second)
		r.set("SLOW", 1)
		g.action.Store("set SLOW")
		const late = limits.DriveTimeout - time.Millisecond
		time.AfterFunc(late, func() { close(g.hold) })
		r.set("SLOW", 0)
		pass(3*time.Second - late)
		refused(t, r.tryOn("SLOW"), RuleMinOff)
		pass(late)
		r.set("SLOW", 1)
	})
}

// TestAnswerAtTheLastMoment: a call that was answered in the moment it was to be given up marks nothing, and one that was
// given up is unmarked by its late answer.
func TestAnswerAtTheLastMoment(t *testing.T) {
	r := newRig(t, rulesBoard, noWait)
	defer r.end()
	p := r.pins[r.h("KEY")]
	answered := &request{}
	answered.state.Store(finished)
	if r.hung(p, answered) || p.stuck {
		t.Error("an answered call marked its pin")
	}
	late := &request{}
	late.state.Store(running)
	if !r.hung(p, late) || !p.stuck {
		t.Error("a call given up did not mark its pin")
	}
	refused(t, r.tryRead("KEY"), RuleFault)
	r.returned(p, late)
	if err := r.tryRead("KEY"); err != nil {
		t.Errorf("after the driver came back: got %v", err)
	}
}

func (r *rig) tryRead(name string) error {
	_, err := r.Read(reader, r.h(name))
	return err
}
