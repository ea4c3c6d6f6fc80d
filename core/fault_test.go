package core

import (
	"errors"
	"strings"
	"testing"

	"github.com/pal-terminal/pal/identity"
	"github.com/pal-terminal/pal/protocol"
	"github.com/pal-terminal/pal/rights"
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

// A request type that somebody adds and gives no rule is nobody's.
func TestTypeWithoutRule(t *testing.T) {
	bubble(t, options{}, func(t *testing.T, r *rig) {
		err := rights.Allowed(&who{Actor: identity.Actor{Name: "all", Scopes: []identity.Scope{"read", "exec", "actuate", "admin"}}}, false,
			&protocol.Request{Type: "invented"})
		if refusal, ok := errors.AsType[*protocol.Error](err); !ok || refusal.Code != protocol.CodeDenied {
			t.Errorf("got %v, want it denied", err)
		}
	})
}
