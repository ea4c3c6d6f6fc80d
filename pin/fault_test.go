package pin

import (
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pal-terminal/pal/hw"
	"github.com/pal-terminal/pal/limits"
)

// gate is a driver hook that can hold or fail one action on one pin.
type gate struct {
	r      *rig
	action atomic.Value // string "action NAME" that is held or failed
	hold   chan struct{}
	err    error
}

func (g *gate) hook(action string, pin int) error {
	want, _ := g.action.Load().(string)
	if want == "" || want != action+" "+g.r.d.Pins[pin].Name {
		return nil
	}
	if g.hold != nil {
		<-g.hold
	}
	return g.err
}

// errBroken is what a driver that fails says.
var errBroken = errors.New("bus gone")

func gated(t *testing.T, g *gate) *rig {
	t.Helper()
	r := newRig(t, rulesBoard, g.hook)
	g.r = r
	return r
}

func TestHungDriver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &gate{hold: make(chan struct{})}
		r := gated(t, g)
		defer r.end()
		r.set("PLAIN", 1)
		g.action.Store("set LEFT")
		start := time.Now()
		err := r.tryOn("LEFT")
		if got := refused(t, err, RuleFault); got.Errno != 5 || got.Code != "unavailable" {
			t.Errorf("got %+v", got)
		}
		if took := time.Since(start); took != limits.DriveTimeout {
			t.Errorf("a hung driver: got an answer after %s want %s", took, limits.DriveTimeout)
		}
		start = time.Now()
		refused(t, r.tryOn("LEFT"), RuleFault)
		if got := time.Since(start); got != 0 {
			t.Errorf("the next call waited %s", got)
		}
		// It may be on, so its interlock holds; other outputs do not notice.
		refused(t, r.tryOn("RIGHT"), RuleInterlock)
		r.set("PLAIN", 0)
		r.set("PLAIN", 1)

		start = time.Now()
		r.Stop("test")
		if took := time.Since(start); took > limits.DriveTimeout {
			t.Errorf("Stop waited %s for a hung output", took)
		}
		if got := r.line("PLAIN"); got != 0 {
			t.Errorf("a hung output kept another from being stopped: got %d", got)
		}
		g.action.Store("")
		close(g.hold) // the late drive lands: on, after the stop
		synctest.Wait()
		if got := r.line("LEFT"); got != 0 {
			t.Errorf("a drive that came after the stop: got %d", got)
		}
		if got := r.kinds(); !cmp.Equal(got[:1], []string{"output_fault LEFT output_fault"}) {
			t.Errorf("events: got %v", got)
		}
		if got := r.Snapshot()[r.h("LEFT")].Fault; !strings.Contains(got, "did not answer") {
			t.Errorf("fault: got %q", got)
		}
		if err := r.Clear(); err != nil {
			t.Fatal(err)
		}
		r.set("LEFT", 1)
	})
}

// TestSlowDriverKeepsInterlock: while an output takes its time to switch off, the other one stays refused.
func TestSlowDriverKeepsInterlock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &gate{hold: make(chan struct{})}
		r := gated(t, g)
		defer r.end()
		r.set("LEFT", 1)
		g.action.Store("set LEFT")
		off := make(chan error, 1)
		go func() {
			_, err := r.Write(agent, r.h("LEFT"), 0)
			off <- err
		}()
		synctest.Wait()
		refused(t, r.tryOn("RIGHT"), RuleInterlock)
		pass(limits.DriveTimeout / 2)
		refused(t, r.tryOn("RIGHT"), RuleInterlock)
		close(g.hold)
		if err := <-off; err != nil {
			t.Fatal(err)
		}
		r.set("RIGHT", 1)
	})
}

// TestSlowSwitchOnHoldsInterlock: an output that is about to be on counts as on.
func TestSlowSwitchOnHoldsInterlock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &gate{hold: make(chan struct{})}
		r := gated(t, g)
		defer r.end()
		g.action.Store("set LEFT")
		on := make(chan error, 1)
		go func() { on <- r.tryOn("LEFT") }()
		synctest.Wait()
		refused(t, r.tryOn("RIGHT"), RuleInterlock)
		close(g.hold)
		if err := <-on; err != nil {
			t.Fatal(err)
		}
		refused(t, r.tryOn("RIGHT"), RuleInterlock)
	})
}

// TestLateDriveIsUndone: nobody stops anything; a drive that lands after its caller was told that it failed is undone.
func TestLateDriveIsUndone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &gate{hold: make(chan struct{})}
		r := gated(t, g)
		defer r.end()
		g.action.Store("set PLAIN")
		refused(t, r.tryOn("PLAIN"), RuleFault)
		g.action.Store("")
		close(g.hold)
		synctest.Wait()
		if got := r.line("PLAIN"); got != 0 {
			t.Errorf("got level %d", got)
		}
		refused(t, r.tryOn("PLAIN"), RuleFault)
	})
}

// TestSafeComesBeforeWaitingCalls: word to make an output safe, given while a call waits, is done before that call.
func TestSafeComesBeforeWaitingCalls(t *testing.T) {
	for range 16 { // a worker that chose by chance would pass now and then
		synctest.Test(t, func(t *testing.T) {
			g := &gate{hold: make(chan struct{})}
			r := gated(t, g)
			defer r.end()
			r.set("PLAIN", 1)
			g.action.Store("get PLAIN")
			results := make(chan error, 2)
			go func() {
				_, err := r.Read(reader, r.h("PLAIN"))
				results <- err
			}()
			synctest.Wait()
			go func() {
				_, err := r.Write(Caller{Name: "next", Drive: true, Run: 2}, r.h("PLAIN"), 1)
				results <- err
			}()
			synctest.Wait()
			go r.Safe("exec_ended", func(d Driven) bool { return d.Caller.Run == agent.Run })
			synctest.Wait()
			g.action.Store("")
			close(g.hold)
			for range 2 {
				if err := <-results; err != nil {
					t.Error(err)
				}
			}
			synctest.Wait()
			if got := r.line("PLAIN"); got != 1 {
				t.Errorf("the next run's drive was undone: got level %d", got)
			}
		})
	}
}

func TestFaultStartsMinOff(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		pass(3 * time.Second)
		r.world("stuck", "SLOW", "0")
		refused(t, r.tryOn("SLOW"), RuleFault)
		r.world("stuck", "SLOW", "off")
		if err := r.Clear(); err != nil {
			t.Fatal(err)
		}
		refused(t, r.tryOn("SLOW"), RuleMinOff) // it may have been on for a moment
	})
}

// TestOpenDrainHeldLowIsNoFault: others may hold a line low that was let go.
func TestOpenDrainHeldLowIsNoFault(t *testing.T) {
	r := rigOn(t, builtin(t), nil)
	defer r.end()
	r.world("set", "SDA_1", "0")
	for _, level := range []int{0, 1} {
		e, err := r.Write(agent, r.h("SDA_1"), level)
		if err != nil || e.ReadBack != 0 {
			t.Errorf("driven to %d: got %+v, %v", level, e, err)
		}
	}
	r.world("stuck", "SDA_1", "1")
	_, err := r.Write(agent, r.h("SDA_1"), 0)
	refused(t, err, RuleFault)
}

// TestBusyOutput: a call that waits behind a slow one is given up in time, and is not done afterwards.
func TestBusyOutput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &gate{hold: make(chan struct{})}
		r := gated(t, g)
		defer r.end()
		g.action.Store("set PLAIN")
		first := make(chan error, 1)
		go func() {
			_, err := r.Write(agent, r.h("PLAIN"), 0)
			first <- err
		}()
		synctest.Wait()
		pass(time.Millisecond)
		start := time.Now()
		if got := refused(t, r.tryOn("PLAIN"), RuleBusy); got.Errno != 16 || got.Code != "conflict" {
			t.Errorf("got %+v", got)
		}
		if took := time.Since(start); took != limits.DriveTimeout {
			t.Errorf("the waiting call: got an answer after %s", took)
		}
		refused(t, <-first, RuleFault)
		g.action.Store("")
		close(g.hold)
		synctest.Wait()
		if got := r.line("PLAIN"); got != 0 {
			t.Errorf("a call that was given up was done: got level %d", got)
		}
	})
}

// TestHungReadHoldsInterlock: what an output does whose driver is lost, nobody knows.
func TestHungReadHoldsInterlock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &gate{hold: make(chan struct{})}
		r := gated(t, g)
		defer r.end()
		g.action.Store("get LEFT")
		_, err := r.Read(reader, r.h("LEFT"))
		refused(t, err, RuleFault)
		refused(t, r.tryOn("RIGHT"), RuleInterlock)
		g.action.Store("")
		close(g.hold)
		synctest.Wait()
		r.set("RIGHT", 1)
	})
}

func TestDriverErrors(t *testing.T) {
	boom := errors.New("bus gone")
	tests := []struct {
		name, action string
		call         func(r *rig) error
		fault        bool
	}{
		{"set", "set LEFT", func(r *rig) error { return r.tryOn("LEFT") }, true},
		{"read-back", "get LEFT", func(r *rig) error { return r.tryOn("LEFT") }, true},
		{"read", "get KEY", func(r *rig) error { _, err := r.Read(reader, r.h("KEY")); return err }, false},
		{"adc", "adc TEMP", func(r *rig) error { _, _, err := r.ReadADC(reader, r.h("TEMP")); return err }, false},
		{"configure-input", "configure KEY", func(r *rig) error {
			_, err := r.Configure(agent, r.h("KEY"), hw.ModeIn, hw.PullUp, -1)
			return err
		}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := &gate{err: boom}
				r := gated(t, g)
				defer r.end()
				g.action.Store(tt.action)
				got := refused(t, tt.call(r), RuleFault)
				if got.Errno != 5 || !strings.Contains(got.Message, "bus gone") {
					t.Errorf("got %+v", got)
				}
				g.action.Store("")
				pass(2 * limits.DriveTimeout)
				err := tt.call(r)
				if !tt.fault {
					if err != nil {
						t.Errorf("afterwards: got %v", err)
					}
					return
				}
				refused(t, err, RuleFault) // latched
				if got := r.line("LEFT"); got != 0 {
					t.Errorf("line of a failed output: got %d", got)
				}
				r.set("LEFT", 0) // safe is always allowed
				r.set("RIGHT", 1)
				r.set("RIGHT", 0)
				if err := r.Clear(); err != nil {
					t.Fatal(err)
				}
				r.set("LEFT", 1)
			})
		})
	}
}

// TestStuckOutput: the line does not follow. The fault is latched, the interlock holds as long as the line may be on, and the
// drive to safe is tried until it works.
func TestStuckOutput(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.set("LEFT", 1)
		r.world("stuck", "LEFT", "1")
		_, err := r.Write(agent, r.h("LEFT"), 0)
		if got := refused(t, err, RuleFault); !strings.Contains(got.Message, "reads 1 after it was driven to 0") {
			t.Errorf("got %+v", got)
		}
		refused(t, r.tryOn("RIGHT"), RuleInterlock)
		if got, want := r.kinds(), []string{"output_fault LEFT output_fault"}; !cmp.Equal(got, want) {
			t.Errorf("events: got %v want %v", got, want)
		}
		if err := r.Clear(); err != nil {
			t.Fatal(err)
		}
		if got := r.Snapshot()[r.h("LEFT")]; got.Fault == "" || !got.On {
			t.Errorf("cleared while it cannot be made safe: got %+v", got)
		}
		refused(t, r.tryOn("RIGHT"), RuleInterlock)
		r.world("stuck", "LEFT", "off")
		pass(2 * limits.DriveTimeout)
		if got := r.Snapshot()[r.h("LEFT")]; got.Fault == "" || got.On || got.Level != 0 {
			t.Errorf("after it came loose: got %+v", got)
		}
		r.set("RIGHT", 1)
		r.set("RIGHT", 0)
		refused(t, r.tryOn("LEFT"), RuleFault)
		if err := r.Clear(); err != nil {
			t.Fatal(err)
		}
		r.set("LEFT", 1)
	})
}

func TestStuckAtSafeIsFoundWhenSwitchedOn(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.world("stuck", "PLAIN", "0")
		refused(t, r.tryOn("PLAIN"), RuleFault)
		if got := r.Snapshot()[r.h("PLAIN")]; got.Fault == "" || got.On {
			t.Errorf("got %+v", got)
		}
	})
}

func TestUnreadableInputsFailClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &gate{err: errors.New("gone")}
		r := gated(t, g)
		defer r.end()
		r.set("PUMP", 1)
		r.set("HEAT", 1)
		g.action.Store("get DOOR")
		pass(2 * limits.TripSampling)
		if got := r.line("PUMP"); got != 0 {
			t.Errorf("PUMP with its input unreadable: got %d", got)
		}
		refused(t, r.tryOn("PUMP"), RuleRequires)
		refused(t, r.Clear(), RuleRequires)
		g.action.Store("adc TEMP")
		pass(100 * time.Millisecond)
		if got := r.line("HEAT"); got != 0 {
			t.Errorf("HEAT with its sensor unreadable: got %d", got)
		}
		refused(t, r.Clear(), RuleTrip)
		events := r.kinds()
		if !slices.Contains(events, "trip HEAT trip") || !slices.Contains(events, "output_safe PUMP requires") {
			t.Errorf("events: got %v", events)
		}
	})
}

func TestHungInput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &gate{hold: make(chan struct{})}
		r := gated(t, g)
		defer r.end()
		g.action.Store("get KEY")
		start := time.Now()
		_, err := r.Read(reader, r.h("KEY"))
		refused(t, err, RuleFault)
		if took := time.Since(start); took != limits.DriveTimeout {
			t.Errorf("got an answer after %s", took)
		}
		if got := len(r.Snapshot()); got != len(r.d.Pins) {
			t.Errorf("snapshot with a hung input: got %d pins", got)
		}
		g.action.Store("")
		close(g.hold)
		synctest.Wait()
		if _, err := r.Read(reader, r.h("KEY")); err != nil {
			t.Errorf("after the driver came back: got %v", err)
		}
	})
}

func TestStartWithBrokenOutput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bad := errors.New("no such line")
		var broken atomic.Bool
		broken.Store(true)
		r := newRig(t, rulesBoard, func(action string, pin int) error {
			if broken.Load() && pin == 6 && action != "get" { // LEFT
				return bad
			}
			return nil
		})
		defer r.end()
		refused(t, r.tryOn("LEFT"), RuleFault)
		refused(t, r.tryOn("RIGHT"), RuleInterlock) // what LEFT does is unknown
		r.set("PLAIN", 1)
		broken.Store(false)
		pass(2 * limits.DriveTimeout)
		if err := r.Clear(); err != nil {
			t.Fatal(err)
		}
		r.set("LEFT", 1)
	})
}
