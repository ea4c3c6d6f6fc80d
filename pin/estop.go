package pin

import (
	"time"

	"github.com/pal-terminal/pal/limits"
)

// Stop sets the e-stop latch and then makes every output safe, all at once. From the moment the latch is set no call drives
// anything; a drive that had been let through before is undone, since each output's changes come one after another. Stop
// returns when the outputs are safe; of those whose driver does not answer it does not wait longer than
// limits.DriveTimeout: they are reported as faults and made safe when the driver comes back, and the error names them. What
// writes to a bus or drives a line by a timed protocol is cancelled, and waited for in the same way. Stopping twice keeps the first reason and drives everything safe again.
func (t *Table) Stop(reason string) error {
	first := false
	for {
		v := t.latch.Load()
		next := v + 1 + v&1 // the next odd number
		if t.latch.CompareAndSwap(v, next) {
			first = v&1 == 0
			break
		}
	}
	t.mu.Lock()
	if first {
		t.reason, t.since = clip(reason, limits.ReasonBytes), t.now()
	}
	t.mu.Unlock()
	ended := t.endUses()
	t.safeEach(CauseEstop, nil)
	ended()
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.unsafe()
}

// Stopped reports the latch, with the reason and time of the first Stop since it was clear.
func (t *Table) Stopped() (stopped bool, reason string, since time.Time) {
	if t.latch.Load()&1 == 0 {
		return false, "", time.Time{}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return true, t.reason, t.since
}

// Epoch counts stops and releases: it is odd while the latch is set. What was asked for in one epoch must not drive in another.
func (t *Table) Epoch() uint64 { return t.latch.Load() }

// Clear releases the e-stop latch, trips and faults. Who may do that is the door's affair: a person. It is refused (code
// conflict) while a trip condition stands, while an input that an output requires is open, and when a Stop comes meanwhile.
// An output that still cannot be driven safe keeps its fault. Clearing switches nothing on.
func (t *Table) Clear() error {
	seen := t.latch.Load()
	for _, p := range t.pins {
		if err := t.mayClear(p); err != nil {
			return err
		}
	}
	for _, p := range t.pins {
		if p.b.Output() {
			t.makeSafe(p, CauseFault, func(p *pin) bool { return p.fault != "" })
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.latch.Load() != seen || seen&1 == 1 && !t.latch.CompareAndSwap(seen, seen+1) {
		return &Refusal{
			Errno: eperm, Code: codeConflict, Rule: RuleEstop, Resource: "estop", Holder: "estop",
			Message: "somebody stopped the board while it was being released",
		}
	}
	t.reason, t.since = "", time.Time{}
	for _, p := range t.pins {
		p.tripped, p.tripFrom = false, time.Time{}
		if !p.energised && !p.stuck {
			p.fault = ""
		}
	}
	return nil
}

// mayClear refuses while what holds p back stands.
func (t *Table) mayClear(p *pin) error {
	if t.unmet(p) {
		input := t.pins[p.b.Requires.Pin]
		return refusal(p, eacces, codeConflict, RuleRequires, "%s needs %s to be %d, which it is not", p.name(), input.name(), p.b.Requires.Level)
	}
	if p.b.Trip == nil {
		return nil
	}
	value, err := t.reading(t.pins[p.b.Trip.ADC])
	switch {
	case err != nil:
		return refusal(p, eacces, codeConflict, RuleTrip, "%s is tripped by an input that cannot be read: %v", p.name(), err)
	case p.b.Trip.Met(value):
		return refusal(p, eacces, codeConflict, RuleTrip, "%s reads %.4g %s, which still trips %s",
			t.pins[p.b.Trip.ADC].name(), value, t.pins[p.b.Trip.ADC].b.Unit, p.name())
	}
	return nil
}

// Safe makes those outputs safe that match, all at once, and returns the drives that changed a level. match is asked with
// the table locked: it must be quick and must not call the table. Outputs at their safe level are left alone.
func (t *Table) Safe(cause string, match func(Driven) bool) []Effect {
	return t.safeEach(cause, func(p *pin) bool {
		return p.energised && match(Driven{Handle: p.h, Caller: p.caller, OnDisconnectSafe: p.b.OnDisconnectSafe})
	})
}
