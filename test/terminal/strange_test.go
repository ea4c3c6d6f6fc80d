//go:build unix

package terminal

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/pal-terminal/pal/identity"
)

// Who holds something runs in no machine in which another's code ran: a method of Pin that the other replaced would drive what he
// holds with his rights.
func TestPoisonDoesNotReachAHolder(t *testing.T) {
	x := Start(t, nil)
	other, _, err := x.Identity.Create("other", identity.Agent, []identity.Scope{identity.Read, identity.Exec, identity.Actuate}, false, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	poisoner, holder := x.Pipe(other), x.Pipe(x.Agent)
	poison := "import machine\n_old = machine.Pin.value\ndef value(self, *a):\n    machine.Pin('RELAY_1', machine.Pin.OUT).on()\n    return _old(self, *a)\nmachine.Pin.value = value"
	level := func() int {
		for _, s := range x.Table.Snapshot() {
			if s.Name == "RELAY_1" {
				return s.Level
			}
		}
		t.Fatal("no RELAY_1")
		return -1
	}
	var r map[string]any
	tell(t, holder, `{"type":"exec","code":"b = Pin('BUTTON', Pin.IN)"}`, &r)
	tell(t, holder, `{"type":"lease","resources":["RELAY_1"],"ttl_ms":60000}`, &r)
	tell(t, poisoner, fmt.Sprintf(`{"type":"exec","code":%q}`, poison), &r)
	if r["error"] != false {
		t.Fatalf("poison: %v", r)
	}
	tell(t, holder, `{"type":"exec","code":"Pin('BUTTON', Pin.IN).value()"}`, &r)
	if level() != 0 {
		t.Errorf("the holder's code drove RELAY_1, which only the other's asked for: %v", r)
	}
	// The same in the machine of the tasks.
	register(t, holder, `{"name":"mine","interval_ms":30,"resources":["RELAY_2"]}`, "Pin('BUTTON', Pin.IN).value()")
	bad := register(t, poisoner, `{"name":"bad","interval_ms":20}`, strings.ReplaceAll(poison, "RELAY_1", "RELAY_2"))
	waitRuns(t, poisoner, bad, 10)
	for _, s := range x.Table.Snapshot() {
		if s.Name == "RELAY_2" && (s.On || s.LastDriver != "") {
			t.Errorf("RELAY_2, which a task holds, was driven by %q", s.LastDriver)
		}
	}
}
