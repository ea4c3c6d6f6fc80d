//go:build unix

package e2e

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/pal-terminal/pal/client"
	"github.com/pal-terminal/pal/protocol"
)

// Two actors want two interlocked relays, first one after the other, then both as fast as they can. At no time may both be
// on, each refusal must name the rule and the other relay, and both must get their turns.
func TestInterlockedRelays(t *testing.T) {
	u := start(t)
	human := u.dial("", "watcher")
	const code = `
from machine import Pin
relay, won, lost = Pin("%s", Pin.OUT), 0, 0
for _ in range(200):
    try:
        relay.on()
        won += 1
        relay.off()
    except OSError as e:
        assert e.errno == 13 and "interlock" in str(e) and "%s" in str(e), e
        lost += 1
print(won, lost)
`
	// Programs take turns, and the level that one leaves is there when the next one runs.
	agent := u.dial(u.agent, "agent")
	hold, err := agent.Exec(u.ctx(), protocol.Exec{Code: `Pin("RELAY_1", Pin.OUT).on()`})
	if err != nil || hold.Error {
		t.Fatalf("take RELAY_1: %v, %+v", err, hold)
	}
	refused, err := human.Exec(u.ctx(), protocol.Exec{Code: `Pin("RELAY_2", Pin.OUT).on()`})
	if err != nil {
		t.Fatal(err)
	}
	if refused.Code != protocol.CodeConflict && refused.Code != protocol.CodeDenied || refused.Rule != "interlock" || refused.Refusal == 0 {
		t.Errorf("RELAY_2 while RELAY_1 is on: got code %q rule %q refusal %d, want a refusal by interlock", refused.Code, refused.Rule, refused.Refusal)
	}
	if levels := u.levels(human); levels["RELAY_1"] != 1 || levels["RELAY_2"] != 0 {
		t.Errorf("relays after the refusal: got %d and %d, want 1 and 0", levels["RELAY_1"], levels["RELAY_2"])
	}
	if _, err := agent.PinSet(u.ctx(), "RELAY_1", 0); err != nil {
		t.Fatal(err)
	}

	// The program and a client without the machine, so that the two really meet at the guard.
	var program *protocol.Result
	var wg sync.WaitGroup
	wg.Go(func() {
		program, err = agent.Exec(u.ctx(), protocol.Exec{Code: fmt.Sprintf(code, "RELAY_1", "RELAY_2"), Session: "one"})
	})
	won := u.switchRelay(human, "RELAY_2", "RELAY_1", 200)
	wg.Wait()
	if err != nil || program.Error {
		t.Errorf("program: %v, %+v", err, program)
	} else {
		t.Logf("the client won %d of 200, the program (and lost): %s", won, program.Stdout)
	}
	if won == 0 {
		t.Error("the client's relay never got its turn")
	}
	if levels := u.levels(human); levels["RELAY_1"] != 0 || levels["RELAY_2"] != 0 {
		t.Errorf("relays at the end: %d and %d, want both off", levels["RELAY_1"], levels["RELAY_2"])
	}
}

// switchRelay switches a relay on and off n times, looks at both while it is on, and returns how often it was let.
func (u *up) switchRelay(c *client.Client, relay, other string, n int) (won int) {
	for range n {
		_, err := c.PinSet(u.ctx(), relay, 1)
		if refusal, ok := errors.AsType[*protocol.Error](err); ok && refusal.Rule == "interlock" {
			if refusal.Holder != other {
				u.t.Errorf("refused: got holder %q, want %s", refusal.Holder, other)
			}
			continue
		}
		if err != nil {
			u.t.Errorf("switch %s on: %v", relay, err)
			return won
		}
		won++
		if levels := u.levels(c); levels[relay] != 1 || levels[other] != 0 {
			u.t.Errorf("while %s is on: got %d and %d, want 1 and 0", relay, levels[relay], levels[other])
		}
		if _, err := c.PinSet(u.ctx(), relay, 0); err != nil {
			u.t.Errorf("switch %s off: %v", relay, err)
		}
	}
	return won
}
