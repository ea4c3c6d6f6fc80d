package pin

import (
	"fmt"
	"strings"
	"time"

	"github.com/pal-terminal/pal/board"
	"github.com/pal-terminal/pal/hw"
)

// refusal makes a Refusal about p.
func refusal(p *pin, errno int, code, rule, format string, args ...any) *Refusal {
	return &Refusal{Errno: errno, Code: code, Rule: rule, Resource: p.b.Label(), Message: fmt.Sprintf(format, args...)}
}

func closedRefusal(p *pin) *Refusal {
	return refusal(p, eio, codeUnavailable, RuleClosed, "the guard is shutting down")
}

func hungRefusal(p *pin) *Refusal {
	return refusal(p, eio, codeUnavailable, RuleFault, "%s: its driver does not answer", p.name())
}

func driverRefusal(p *pin, doing string, err error) *Refusal {
	return refusal(p, eio, codeUnavailable, RuleFault, "%s %s went wrong: %v", doing, p.name(), err)
}

// mayTouch checks what does not depend on the state of the pin: may this caller configure or drive it at all?
func (t *Table) mayTouch(c Caller, p *pin, drive bool) error {
	switch {
	case p.b.Owner == board.OwnerGuard:
		r := refusal(p, eacces, codeDenied, RuleGuardPin, "%s belongs to the guard: it can be read, not used", p.name())
		r.Holder, r.Nearest = "guard", t.nearest(p.b.Label())
		return r
	case t.d.Mode == board.ModeEngineering && !c.Board:
		return refusal(p, eacces, codeDenied, RuleEngineering,
			"this board is in engineering mode: only the functions of board.py configure and drive %s", p.name())
	case drive && !c.Drive:
		return refusal(p, eacces, codeDenied, RuleScope, "driving %s needs the scope actuate", p.name())
	}
	return nil
}

// can checks that the pin can do one of what is wanted.
func (t *Table) can(p *pin, want board.Caps, doing string) error {
	if p.b.Can.Any(want) {
		return nil
	}
	r := refusal(p, eacces, codeDenied, RuleCapability, "%s cannot be used as %s (it can: %s)", p.name(), doing, p.b.Can)
	r.Nearest = t.nearestThatCan(p.b.Label(), want)
	return r
}

// barred checks that nothing at all may be driven now. Callers hold mu.
func (t *Table) barred(p *pin) error {
	switch {
	case t.closed:
		return closedRefusal(p)
	case t.latch.Load()&1 == 1:
		r := refusal(p, eperm, codeEstopped, RuleEstop, "the e-stop is set (%s): a person must release it before %s is driven",
			t.reason, p.name())
		r.Holder = "estop"
		return r
	}
	return nil
}

// open checks that p may be touched at all now. Callers hold mu.
func (t *Table) open(p *pin) error {
	switch {
	case p.held != nil:
		return heldRefusal(p)
	case p.lent != nil:
		return refusal(p, ebusy, codeConflict, RuleBusy, "%s is in the middle of a timed transfer", p.name())
	}
	return t.barred(p)
}

// claimed refuses what somebody else has claimed, and reports whether c has claimed it itself. Callers hold mu.
func (t *Table) claimed(c *Caller, p *pin) (own bool, err error) {
	if t.claims == nil {
		return false, nil
	}
	held, own, holder, since := t.claims.Holder(*c, p.h)
	if !held || own {
		return own, nil
	}
	rule := RuleLeaseHeld
	if strings.HasPrefix(holder, "task ") { // no actor's name has a blank
		rule = RuleTaskHeld
	}
	r := refusal(p, eacces, codeConflict, rule, "%s is held by %s since %s", p.name(), holder, since.UTC().Format(time.RFC3339))
	r.Holder, r.Since = holder, since
	return false, r
}

// mayBeOn checks every rule against driving p to a level that is not safe; own says that the caller has claimed it. What asks a person
// comes last: nobody is to approve what would be refused all the same. Callers hold mu.
func (t *Table) mayBeOn(p *pin, r *request, own bool, now time.Time) error {
	if err := t.ruled(p, r, own, now); err != nil {
		return err
	}
	if p.b.Danger == board.DangerHigh && !r.granted && (r.caller.Ask || !r.caller.Human && t.askAll()) {
		return refusal(p, eacces, codeApproval, RuleDanger, "%s is high danger: a person must approve", p.name())
	}
	return nil
}

// ruled checks the rules that ask nobody.
func (t *Table) ruled(p *pin, r *request, own bool, now time.Time) error {
	b := p.b
	deny := func(code, rule, format string, args ...any) *Refusal {
		return refusal(p, eacces, code, rule, p.name()+" "+format, args...)
	}
	switch {
	case p.fault != "":
		return refusal(p, eio, codeUnavailable, RuleFault, "%s is out of service until a person clears it: %s", p.name(), p.fault)
	case b.LeaseRequired && !own:
		return deny(codeDenied, RuleLease, "needs a lease, which %q does not hold", r.caller.Name)
	case p.tripped:
		return deny(codeConflict, RuleTrip, "was tripped by %s and stays off until a person clears it", t.pins[b.Trip.ADC].name())
	case r.unmet:
		return deny(codeConflict, RuleRequires, "needs %s to be %d", t.pins[b.Requires.Pin].name(), b.Requires.Level)
	}
	for _, other := range p.locked {
		if other.energised {
			refused := deny(codeConflict, RuleInterlock, "is never on together with %s, which is on or still switching", other.name())
			refused.Holder = other.b.Label()
			return refused
		}
	}
	if r.verb == verbLend || r.verb == verbPWM && switching(r.duty) {
		if b.MinOff > 0 {
			return deny(codeDenied, RuleMinOff, "must stay off for %s at a time: it cannot be switched on and off by PWM or a timed protocol", b.MinOff)
		}
		if b.MaxRate.N > 0 {
			return deny(codeDenied, RuleMaxRate, "changes at most %s: it cannot be switched on and off by PWM or a timed protocol", b.MaxRate)
		}
	}
	if p.on() {
		return nil // no switching, so no rule about how often
	}
	if wait := b.MinOff - now.Sub(p.offSince); b.MinOff > 0 && wait > 0 {
		return deny(codeConflict, RuleMinOff, "must stay off for %s, %s more", b.MinOff, wait.Round(time.Millisecond))
	}
	if len(p.ring) > 0 {
		// The place to be written next holds the oldest of the last N changes.
		if oldest := p.ring[p.next]; !oldest.IsZero() && now.Sub(oldest) < b.MaxRate.Per {
			return deny(codeConflict, RuleMaxRate, "changes at most %s", b.MaxRate)
		}
	}
	return nil
}

// unmet reads the input that p requires. An input that cannot be read is not met.
func (t *Table) unmet(p *pin) bool {
	if p.b.Requires == nil {
		return false
	}
	r := &request{verb: verbRead}
	return t.do(t.pins[p.b.Requires.Pin], r) != nil || r.value != p.b.Requires.Level
}

// modeCaps is what a pin must be able to do for each mode, and how messages call that.
var modeCaps = map[hw.Mode]struct {
	caps  board.Caps
	doing string
}{
	hw.ModeIn:        {board.CapIn, "an input"},
	hw.ModeOut:       {board.CapOut, "an output"},
	hw.ModeOpenDrain: {board.CapOpenDrain, "an open drain output"},
	hw.ModeAnalog:    {board.CapADC, "an analogue input"},
}
