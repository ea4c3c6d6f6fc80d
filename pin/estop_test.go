package pin

import (
	"errors"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

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
		if e, err := r.Configure(agent, r.h("PLAIN"), hw.ModeOut, 0, -1); err != nil || e != nil {
			t.Errorf("asking an output to be one under the latch: got %+v %v, want nothing done and no refusal", e, err)
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
		if _, err := r.Configure(agent, r.h("TIMED"), hw.ModeIn, hw.PullDown, -1); err != nil {
			t.Fatal(err)
		}
		r.world("set", "TIMED", "1")
		r.Stop("test")
		if got := r.Snapshot()[r.h("TIMED")]; got.Mode != hw.ModeIn || got.Level != 1 {
			t.Errorf("got %+v", got)
		}
	})
}

// TestClearLosesAgainstStop holds Clear in the middle, at the read of an input, and stops the board there.
func TestClearLosesAgainstStop(t *testing.T) {
	for name, before := range map[string]bool{"stopped": true, "not-stopped": false} {
		t.Run(name, func(t *testing.T) { clearAgainstStop(t, before) })
	}
}

func clearAgainstStop(t *testing.T, stoppedBefore bool) {
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
	if stoppedBefore {
		r.Stop("first")
	}
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
	for name, direct := range map[string]bool{"direct": true, "workers": false} {
		t.Run(name, func(t *testing.T) {
			s, table := newSpy(t, modelBoard, direct, true)
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
						h := Handle(3 + i%5)
						if _, err := table.Write(agent, h, 1-s.d.Pins[h].Safe); err != nil {
							if _, ok := errors.AsType[*Refusal](err); !ok {
								t.Errorf("got %v", err)
							}
						}
					}
				})
			}
			for range 300 {
				table.Stop("hammer")
				for range 10 {
					for pin := 3; pin < 8; pin++ {
						if level, err := s.Get(pin); err != nil || level != s.d.Pins[pin].Safe {
							t.Fatalf("%s is at %d (%v) after Stop", s.d.Pins[pin].Name, level, err)
						}
					}
					runtime.Gosched()
				}
				if err := table.Clear(); err != nil {
					t.Fatal(err)
				}
				runtime.Gosched()
			}
			close(done)
			wg.Wait()
			if err := table.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}
