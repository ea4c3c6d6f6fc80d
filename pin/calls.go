package pin

import (
	"github.com/pal-terminal/pal/board"
	"github.com/pal-terminal/pal/hw"
)

// digital is what makes a level of a pin worth reading.
const digital = board.CapIn | board.CapOut | board.CapOpenDrain | board.CapPWM | board.CapCount | board.CapEncoder

// Configure sets a pin's direction, bias and, for an output, level: 0, 1, or -1 to keep the level of what is an output already
// and to start safe otherwise. A bias of PullNone is the bias the board file gives the pin. The effect is nil when nothing was
// driven. Taking an output's direction away counts as driving it, and so does a bias against its safe level.
func (t *Table) Configure(c Caller, h Handle, m hw.Mode, pull hw.Pull, level int) (*Effect, error) {
	p, err := t.at(h)
	if err != nil {
		return nil, err
	}
	mode, ok := modeCaps[m]
	if !ok || level < -1 || level > 1 || pull > hw.PullDown {
		return nil, refusal(p, einval, codeBadRequest, RuleArgument, "%s: mode %d, pull %d, level %d make no sense", p.name(), m, pull, level)
	}
	if pull == hw.PullNone {
		pull = p.b.Pull
	}
	out := m == hw.ModeOut || m == hw.ModeOpenDrain
	if p.watched && !out && pull == p.b.Pull || m == hw.ModeIn && t.counted(p, pull) {
		// A rule watches this input, or a counter. To ask for what it is anyway is harmless and usual; nothing is changed.
		return nil, t.can(p, mode.caps, mode.doing)
	}
	if err := t.mayConfigure(c, p, m, out, pull); err != nil {
		return nil, err
	}
	r := &request{verb: verbInput, caller: c, mode: m, pull: pull, level: level}
	if out {
		r.verb = verbOutput
		r.unmet = level != p.b.Safe && t.unmet(p)
	}
	if err := t.ask(p, r); err != nil || !r.drove {
		return nil, err
	}
	return &r.effect, nil
}

// mayConfigure checks what does not change from one moment to the next. A bias drives as well, if weakly: enough for a relay's
// input stage. Against the safe level it is for inputs that are outputs without rules, since no rule could follow it.
func (t *Table) mayConfigure(c Caller, p *pin, m hw.Mode, out bool, pull hw.Pull) error {
	against := m != hw.ModeOut && p.b.Against(pull)
	t.mu.Lock()
	drives := out || against || p.level >= 0
	t.mu.Unlock()
	if err := t.mayTouch(c, p, drives); err != nil {
		return err
	}
	if err := fixed(p); err != nil {
		return err
	}
	if against && (out || p.b.HasRules()) {
		return refusal(p, eacces, codeDenied, RuleBias, "%s is an output: a bias against its safe level could switch it on past its rules", p.name())
	}
	return t.can(p, modeCaps[m].caps, modeCaps[m].doing)
}

// fixed refuses to make anything else of an input that a rule watches.
func fixed(p *pin) error {
	if !p.watched {
		return nil
	}
	r := refusal(p, eacces, codeDenied, RuleGuardPin, "a rule of this board watches %s: its direction and bias are fixed", p.name())
	r.Holder = "guard"
	return r
}

// Read returns the level on the line. It never configures anything.
func (t *Table) Read(_ Caller, h Handle) (int, error) {
	p, err := t.at(h)
	if err != nil {
		return 0, err
	}
	if err := t.can(p, digital, "a line with a level"); err != nil {
		return 0, err
	}
	r := &request{verb: verbRead}
	if err := t.do(p, r); err != nil {
		return 0, err
	}
	return r.value, nil
}

// Write drives an output to 0 or 1. A pin without a mode becomes an output where its board file allows one.
func (t *Table) Write(c Caller, h Handle, level int) (Effect, error) {
	return t.write(c, h, verbWrite, level)
}

// Toggle flips an output's own level in one step.
func (t *Table) Toggle(c Caller, h Handle) (Effect, error) { return t.write(c, h, verbToggle, 0) }

func (t *Table) write(c Caller, h Handle, v verb, level int) (Effect, error) {
	p, err := t.at(h)
	if err != nil {
		return Effect{}, err
	}
	if level != 0 && level != 1 {
		return Effect{}, refusal(p, einval, codeBadRequest, RuleArgument, "%s: %d is no level (0 or 1)", p.name(), level)
	}
	if err := t.mayTouch(c, p, true); err != nil {
		return Effect{}, err
	}
	if err := t.can(p, board.CapOut|board.CapOpenDrain, "an output"); err != nil {
		return Effect{}, err
	}
	r := &request{verb: v, caller: c, level: level, unmet: t.unmet(p)}
	if err := t.ask(p, r); err != nil {
		return Effect{}, err
	}
	return r.effect, nil
}

// CheckADC reports why a pin cannot be sampled, nil when it can.
func (t *Table) CheckADC(_ Caller, h Handle) error {
	p, err := t.at(h)
	if err != nil {
		return err
	}
	return t.can(p, board.CapADC, "an analogue input")
}

// ReadADC samples an analogue input: 12 bits and microvolts.
func (t *Table) ReadADC(c Caller, h Handle) (raw int, microvolts int64, err error) {
	if err := t.CheckADC(c, h); err != nil {
		return 0, 0, err
	}
	r := &request{verb: verbADC}
	if err := t.do(t.pins[h], r); err != nil {
		return 0, 0, err
	}
	return r.value, r.microvolts, nil
}
