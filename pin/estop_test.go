package pin

import (
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pal-terminal/pal/board"
	"github.com/pal-terminal/pal/hw"
)

func TestStop(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		for _, name := range []string{"TIMED", "LEFT", "PUMP", "PLAIN"} {
			r.set(name, 1)
		}
		if stopped, _, _ := r.Stopped(); stopped {
			t.Error("stopped before Stop")
		}
		since := time.Now()
		r.Stop("smoke")
		for i := range r.d.Pins {
			if p := &r.d.Pins[i]; p.Output() && r.line(p.Name) != p.Safe {
				t.Errorf("%s: got %d after Stop", p.Name, r.line(p.Name))
			}
		}
		pass(time.Second)
		r.Stop("second")
		stopped, reason, at := r.Stopped()
		if !stopped || reason != "smoke" || !at.Equal(since) {
			t.Errorf("got %v %q %v want the first reason and time", stopped, reason, at)
		}
		calls := map[string]error{"on": r.tryOn("PLAIN")}
		_, calls["off"] = r.Write(agent, r.h("PLAIN"), 0)
		_, calls["toggle"] = r.Toggle(agent, r.h("PLAIN"))
		_, calls["configure"] = r.Configure(agent, r.h("PLAIN"), hw.ModeOut, 0, 1)
		_, calls["to-input"] = r.Configure(agent, r.h("TIMED"), hw.ModeIn, 0, -1)
		for call, err := range calls {
			if got := refused(t, err, RuleEstop); got.Errno != 1 || got.Code != "estopped" || !strings.Contains(got.Message, "smoke") {
				t.Errorf("%s: got %+v", call, got)
			}
		}
		if _, err := r.Read(reader, r.h("KEY")); err != nil {
			t.Errorf("reading under the latch: got %v", err)
		}
		if _, _, err := r.ReadADC(reader, r.h("TEMP")); err != nil {
			t.Errorf("sampling under the latch: got %v", err)
		}
		if err := r.Clear(); err != nil {
			t.Fatal(err)
		}
		if got := r.line("PLAIN"); got != 0 {
			t.Error("clearing switched an output on")
		}
		if stopped, reason, _ := r.Stopped(); stopped || reason != "" {
			t.Errorf("after Clear: got %v %q", stopped, reason)
		}
		r.set("PLAIN", 1)
		if err := r.Clear(); err != nil { // nothing to clear
			t.Error(err)
		}
		if got := r.line("PLAIN"); got != 1 {
			t.Error("clearing nothing switched an output off")
		}
	})
}

// TestStopLeavesInputsAlone: an output pin that a program made an input is not driven by a stop, which could set it against
// another output.
func TestStopLeavesInputsAlone(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		if _, err := r.Configure(agent, r.h("TIMED"), hw.ModeIn, hw.PullUp, -1); err != nil {
			t.Fatal(err)
		}
		r.Stop("test")
		if got := r.Snapshot()[r.h("TIMED")]; got.Mode != hw.ModeIn || got.Level != 1 {
			t.Errorf("got %+v", got)
		}
	})
}

// TestClearLosesAgainstStop holds Clear in the middle, at the read of an input, and stops the board there.
func TestClearLosesAgainstStop(t *testing.T) {
	var r *rig
	var once sync.Once
	var armed atomic.Bool
	hook := func(action string, pin int) error {
		if armed.Load() && action == "get" && r.d.Pins[pin].Name == "DOOR" {
			once.Do(func() { r.Stop("second") })
		}
		return nil
	}
	r = newRig(t, rulesBoard, hook)
	defer r.end()
	r.Stop("first")
	armed.Store(true)
	if got := refused(t, r.Clear(), RuleEstop); got.Code != "conflict" {
		t.Errorf("got %+v", got)
	}
	if stopped, _, _ := r.Stopped(); !stopped {
		t.Error("Clear undid a Stop that it had not seen")
	}
	if err := r.Clear(); err != nil {
		t.Error(err)
	}
}

// TestHammerStop lets writers race against stops. Whenever a stop has returned, every line must be safe and stay so until
// Clear: a write that passed the latch just before must not win.
func TestHammerStop(t *testing.T) {
	for name, hook := range map[string]func(string, int) error{"direct": nil, "workers": noWait} {
		t.Run(name, func(t *testing.T) {
			r := rigOn(t, builtin(t), hook)
			defer r.end()
			var outputs []Handle
			for i := range r.d.Pins {
				if p := &r.d.Pins[i]; p.Owner == board.OwnerAgent && p.Can.Has(board.CapOut) {
					outputs = append(outputs, Handle(i))
				}
			}
			done := make(chan struct{})
			var wg sync.WaitGroup
			for w := range 4 {
				wg.Go(func() {
					for i := w; ; i++ {
						select {
						case <-done:
							return
						default:
						}
						h := outputs[i%len(outputs)]
						if _, err := r.Write(agent, h, 1-r.d.Pins[h].Safe); err != nil {
							if _, ok := err.(*Refusal); !ok { //nolint:errorlint // the table returns it bare
								t.Errorf("got %v", err)
							}
						}
					}
				})
			}
			for range 200 {
				r.Stop("hammer")
				for range 3 {
					for _, h := range outputs {
						if level, err := r.sim.Get(int(h)); err != nil || level != r.d.Pins[h].Safe {
							t.Fatalf("%s is at %d (%v) after Stop", r.d.Pins[h].Label(), level, err)
						}
					}
				}
				if err := r.Clear(); err != nil {
					t.Fatal(err)
				}
			}
			close(done)
			wg.Wait()
		})
	}
}
