package approval

import (
	"crypto/sha256"
	"errors"
	"testing"

	"github.com/pal-terminal/pal/board/load"
	"github.com/pal-terminal/pal/board/sim"
	"github.com/pal-terminal/pal/pin"
)

const guardBoard = `board: guard
pins:
  - {id: 1, name: MAIN, owner: agent, can: [out, pwm], safe: low, danger: high}
  - {id: 2, name: VALVE, owner: agent, can: [out], safe: low, danger: high}
  - {id: 3, name: LED, owner: agent, can: [out], safe: low}
`

// TestGuardAsks has the real guard ask the real queue, as a door wires them.
func TestGuardAsks(t *testing.T) {
	d, err := load.Bytes("guard.yaml", []byte(guardBoard), nil)
	if err != nil {
		t.Fatal(err)
	}
	drv, err := sim.New(d, sim.Options{})
	if err != nil {
		t.Fatal(err)
	}
	const source = "MAIN.on()"
	r := newRig(t)
	table, err := pin.New(d, drv, pin.Options{Approve: func(c pin.Caller, h pin.Handle) (bool, string, *pin.Refusal) {
		return r.Use(c.Name, c.Code, source, d.Pins[h].Label(), c.Run)
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer table.Close()
	handle := func(name string) pin.Handle {
		h, err := table.Resolve(name)
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	main, valve := handle("MAIN"), handle("VALVE")
	agent := pin.Caller{Name: "ann", Drive: true, Ask: true, Run: 1, Code: sha256.Sum256([]byte(source))}
	write := func(c pin.Caller, h pin.Handle, level int) *pin.Refusal {
		t.Helper()
		_, err := table.Write(c, h, level)
		no, ok := errors.AsType[*pin.Refusal](err)
		if err != nil && !ok {
			t.Fatal(err)
		}
		return no
	}
	no := write(agent, main, 1)
	if no == nil || no.Code != "approval_needed" || no.Approval == "" || no.Message != "MAIN (pin 1) is high danger: a person must approve (pal approve "+no.Approval+")" {
		t.Fatalf("got %+v", no)
	}
	if again := write(agent, main, 1); again == nil || again.Approval != no.Approval || len(r.events) != 1 {
		t.Errorf("asked again: got %+v, %d events", again, len(r.events))
	}
	if other := write(agent, valve, 1); other == nil || other.Approval == no.Approval {
		t.Errorf("another pin: got %+v", other)
	}
	r.approve(no.Approval)
	for range 3 { // all drives of the run, by every way
		if no := write(agent, main, 1); no != nil {
			t.Fatalf("approved: got %+v", no)
		}
		if no := write(agent, main, 0); no != nil {
			t.Fatalf("safe: got %+v", no)
		}
		if _, err := table.PWM(agent, main, 100, 100, -1); err != nil {
			t.Fatal(err)
		}
	}
	next := agent
	next.Run = 2
	for name, c := range map[string]pin.Caller{
		"another run": next, "another actor": {Name: "bob", Drive: true, Ask: true, Run: 1, Code: agent.Code},
	} {
		if got := write(c, main, 1); got == nil || got.Code != "approval_needed" || got.Approval == no.Approval {
			t.Errorf("%s: got %+v", name, got)
		}
	}
	changed := agent
	changed.Code = sha256.Sum256([]byte("MAIN.on() # changed"))
	if got := write(changed, main, 1); got == nil || got.Rule != RuleState {
		t.Errorf("code that is not what its hash says: got %+v", got)
	}
	if no := write(next, main, 0); no != nil { // by whom ever
		t.Errorf("safe: got %+v", no)
	}
	if level, err := drv.Get(int(main)); level != 0 || err != nil {
		t.Errorf("got level %d, %v", level, err)
	}
}
