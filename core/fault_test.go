package core

import (
	"strings"
	"testing"
)

// A fault of the guard's own code ends the process with every output safe, not with outputs as they were.
func TestFaultStopsOutputs(t *testing.T) {
	bubble(t, options{}, func(t *testing.T, r *rig) {
		c := r.dial(r.bot, "maker")
		c.request("pin_set", "1", map[string]any{"pin": "LED", "value": 1})
		c.read()
		if got := r.level("LED"); got != 1 {
			t.Fatalf("LED: got %d, want it on", got)
		}
		func() {
			defer func() {
				if v := recover(); v != "broken" {
					t.Errorf("the fault: got %v, want it passed on", v)
				}
			}()
			defer r.core.faulted()
			panic("broken")
		}()
		if got := r.level("LED"); got != 0 {
			t.Errorf("LED after a fault: got %d, want it safe", got)
		}
		if stopped, reason, _ := r.table.Stopped(); !stopped || !strings.Contains(reason, "broken") {
			t.Errorf("latch: got %v %q, want it set with the fault", stopped, reason)
		}
	})
}
