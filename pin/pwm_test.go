package pin

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/pal-terminal/pal/hw"
	"github.com/pal-terminal/pal/limits"
)

// pwmBoard is rulesBoard with outputs that can do PWM.
var pwmBoard = strings.ReplaceAll(strings.ReplaceAll(rulesBoard, "can: [out]", "can: [out, pwm]"), "can: [in, out]", "can: [in, out, pwm]")

// onPWM runs a test on pwmBoard in simulated time, with and without workers.
func onPWM(t *testing.T, run func(t *testing.T, r *rig)) {
	t.Helper()
	inBubbleOn(t, pwmBoard, run)
}

func (r *rig) fade(name string, freq, duty int64) error {
	_, err := r.PWM(agent, r.h(name), freq, duty, -1)
	return err
}

func TestPWMEffects(t *testing.T) {
	onPWM(t, func(t *testing.T, r *rig) {
		plain := r.h("PLAIN")
		steps := []struct {
			name string
			do   func() (Effect, error)
			want Effect
		}{
			{"begin", func() (Effect, error) { return r.PWM(agent, plain, 1000, 32_768, -1) },
				Effect{From: 0, To: 1, ReadBack: -1, Freq: 1000, Duty: 32_768, Retuned: true}},
			{"the same", func() (Effect, error) { return r.PWM(agent, plain, 1000, 32_768, -1) },
				Effect{From: 1, To: 1, ReadBack: -1, Freq: 1000, Duty: 32_768}},
			{"on-time", func() (Effect, error) { return r.PWM(agent, plain, 50, 0, 1_500_000) },
				Effect{From: 1, To: 1, ReadBack: -1, Freq: 50, Duty: 4915, Retuned: true}},
			{"always", func() (Effect, error) { return r.PWM(agent, plain, 50, dutyMax, -1) },
				Effect{From: 1, To: 1, ReadBack: 1, Freq: 50, Duty: dutyMax, Retuned: true}},
			{"never", func() (Effect, error) { return r.PWM(agent, plain, 50, 0, -1) },
				Effect{From: 1, To: 0, ReadBack: 0, Freq: 50, Retuned: true}},
			{"a level ends it", func() (Effect, error) { return r.Write(agent, plain, 1) },
				Effect{From: 0, To: 1, ReadBack: 1, Retuned: true}},
			{"again", func() (Effect, error) { return r.PWM(agent, plain, limits.PWMHz, 1, -1) },
				Effect{From: 1, To: 1, ReadBack: -1, Freq: limits.PWMHz, Duty: 1, Retuned: true}},
			{"toggled", func() (Effect, error) { return r.Toggle(agent, plain) },
				Effect{From: 1, To: 0, ReadBack: 0, Retuned: true}},
			{"once more", func() (Effect, error) { return r.PWM(agent, plain, 1, 65_534, -1) },
				Effect{From: 0, To: 1, ReadBack: -1, Freq: 1, Duty: 65_534, Retuned: true}},
			{"ended", func() (Effect, error) { return r.PWM(agent, plain, 0, 0, -1) },
				Effect{From: 1, To: 0, ReadBack: 0, Retuned: true}},
		}
		for _, tt := range steps {
			got, err := tt.do()
			if err != nil {
				t.Fatalf("%s: %v", tt.name, err)
			}
			if diff := cmp.Diff(tt.want, got, cmpopts.IgnoreFields(Effect{}, "Handle", "Pin", "Name", "At")); diff != "" {
				t.Errorf("%s: %s", tt.name, diff)
			}
		}
		if got, err := r.PWM(agent, plain, 0, 0, -1); err != nil || got.Changed() {
			t.Errorf("ended twice: got %+v, %v", got, err)
		}
	})
}

// TestPWMIsOn: whatever can end or forbid an output that is on does so to one that does PWM.
func TestPWMIsOn(t *testing.T) {
	onPWM(t, func(t *testing.T, r *rig) {
		if err := r.fade("TIMED", 1000, 100); err != nil {
			t.Fatal(err)
		}
		if got := r.Snapshot()[r.h("TIMED")]; got.Mode != hw.ModePWM || got.Freq != 1000 || got.Duty != 100 || !got.On {
			t.Errorf("got %+v", got)
		}
		pass(time.Second)
		if err := r.fade("TIMED", 1000, 200); err != nil { // does not begin anew
			t.Fatal(err)
		}
		pass(time.Second)
		off := func(name string) {
			t.Helper()
			got := r.Snapshot()[r.h(name)]
			if got.On || got.Freq != 0 || got.Mode != hw.ModeOut || got.Level != got.Safe {
				t.Errorf("%s: got %+v", name, got)
			}
		}
		off("TIMED")
		if err := r.fade("LEFT", 1000, 100); err != nil {
			t.Fatal(err)
		}
		refused(t, r.fade("RIGHT", 1000, 100), RuleInterlock)
		refused(t, r.fade("SLOW", 1000, 100), RuleMinOff)
		refused(t, r.fade("RATED", 1, 100), RuleMaxRate)
		if err := r.fade("RATED", 1, dutyMax); err != nil { // a level
			t.Error(err)
		}
		for _, name := range []string{"PUMP", "HEAT"} {
			if err := r.fade(name, 1000, 100); err != nil {
				t.Fatal(err)
			}
		}
		r.world("set", "DOOR", "0")
		r.world("set", "TEMP", "900")
		pass(100 * time.Millisecond)
		off("PUMP")
		off("HEAT")
		refused(t, r.fade("PUMP", 1000, 100), RuleRequires)
		refused(t, r.fade("HEAT", 1000, 100), RuleTrip)
		if got := r.Safe("test", func(d Driven) bool { return d.Caller.Run == agent.Run }); len(got) == 0 {
			t.Error("the run's PWM was not made safe")
		}
		off("LEFT")
		if err := r.fade("LEFT", 1000, 100); err != nil {
			t.Fatal(err)
		}
		if err := r.Stop("test"); err != nil {
			t.Fatal(err)
		}
		off("LEFT")
		refused(t, r.fade("LEFT", 1000, 100), RuleEstop)
		if err := r.fade("LEFT", 0, 0); err != nil {
			t.Errorf("to end what has ended: %v", err)
		}
	})
}

func TestPWMConfigured(t *testing.T) {
	onPWM(t, func(t *testing.T, r *rig) {
		timed := r.h("TIMED")
		for _, tt := range []struct {
			mode        hw.Mode
			level, want int
		}{{hw.ModeOut, -1, 0}, {hw.ModeOut, 1, 1}, {hw.ModeIn, -1, 0}} {
			if err := r.fade("TIMED", 1000, 60_000); err != nil {
				t.Fatal(err)
			}
			e, err := r.Configure(agent, timed, tt.mode, hw.PullNone, tt.level)
			if err != nil || e == nil || !e.Retuned {
				t.Errorf("%s %d: got %+v, %v", tt.mode, tt.level, e, err)
			}
			got := r.Snapshot()[timed]
			if got.Mode != tt.mode || got.Freq != 0 || got.Level != tt.want || got.On != (tt.want == 1) {
				t.Errorf("%s %d: got %+v", tt.mode, tt.level, got)
			}
		}
		// From an input, without passing by any level but the safe one.
		if err := r.fade("TIMED", 1000, 60_000); err != nil {
			t.Error(err)
		}
	})
}

// TestPWMHangs: the driver does not come back from PWM, or fails at it. The output is out of service and made safe.
func TestPWMHangs(t *testing.T) {
	for name, g := range map[string]*gate{"hangs": {hold: make(chan struct{})}, "fails": {err: errBroken}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := &gate{err: g.err, hold: map[bool]chan struct{}{true: make(chan struct{})}[g.hold != nil]}
				r := newRig(t, pwmBoard, g.hook)
				g.r = r
				defer r.end()
				g.action.Store("pwm LEFT")
				start := time.Now()
				refused(t, r.fade("LEFT", 1000, 100), RuleFault)
				if took := time.Since(start); took > limits.DriveTimeout {
					t.Errorf("got an answer after %s", took)
				}
				if g.hold != nil {
					refused(t, r.tryOn("RIGHT"), RuleInterlock)
					_ = r.Stop("test") // names LEFT
					close(g.hold)
				}
				g.action.Store("")
				synctest.Wait()
				got := r.Snapshot()[r.h("LEFT")]
				if got.On || got.Fault == "" || got.Freq != 0 || got.Level != 0 {
					t.Errorf("got %+v", got)
				}
				if err := r.Clear(); err != nil {
					t.Fatal(err)
				}
				if err := r.fade("LEFT", 1000, 100); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

func TestPWMStuckLine(t *testing.T) {
	onPWM(t, func(t *testing.T, r *rig) {
		r.world("stuck", "PLAIN", "1")
		if err := r.fade("PLAIN", 1000, 100); err != nil { // a reading of a line that switches proves nothing
			t.Errorf("got %v", err)
		}
		refused(t, r.fade("PLAIN", 1000, 0), RuleFault)
		r.world("stuck", "PLAIN", "off")
	})
}
