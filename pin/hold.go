package pin

import (
	"github.com/pal-terminal/pal/board"
	"github.com/pal-terminal/pal/hw"
)

// Holding says who takes lines for what.
type Holding struct {
	Name  string // of the bus or counter, for refusals: "i2c0"
	Free  string // what a program does to free the lines again: "its deinit()"
	Drive bool   // what is to be done needs the scope to drive and an e-stop that is clear
	Input bool   // the lines are watched only, and stay the inputs they are
}

// hold is a Holding of one line.
type hold struct {
	Holding
	by   Caller
	mode hw.Mode // before
}

// Hold takes lines for a bus or a counter: until release they cannot be configured, driven or taken by another. A line that is on,
// faulty or bound by rules that a bus would not keep is refused. Lines that are no inputs yet are made so when they are to be
// watched. release makes outputs safe again and may be called once; it does not wait for a driver longer than limits.DriveTimeout.
func (t *Table) Hold(c Caller, o Holding, lines []Handle) (release func(), err error) {
	if err := t.CheckUse(c, lines, o.Drive); err != nil {
		return nil, err
	}
	var taken []*pin
	release = func() {
		for _, p := range taken {
			t.letGo(p)
		}
	}
	for _, h := range lines {
		if err := t.takeOne(c, o, h); err != nil {
			release()
			return nil, err
		}
		taken = append(taken, t.pins[h])
	}
	return release, nil
}

func (t *Table) takeOne(c Caller, o Holding, h Handle) error {
	p := t.pins[h]
	t.mu.Lock()
	input := o.Input && p.held == nil && p.mode != hw.ModeIn && !p.energised
	t.mu.Unlock()
	if input {
		if _, err := t.Configure(c, h, hw.ModeIn, hw.PullNone, -1); err != nil {
			return err
		}
	}
	return t.do(p, &request{verb: verbHold, hold: &hold{Holding: o, by: c}, cancel: func() { t.untake(p) }})
}

// take gives a line to who asks for it. It is performed like a change of the pin, so that none is under way.
func (t *Table) take(p *pin, r *request) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	_, err := t.claimed(&r.hold.by, p)
	switch {
	case t.closed:
		return closedRefusal(p)
	case p.held != nil:
		return heldRefusal(p)
	case p.fault != "":
		return refusal(p, eio, codeUnavailable, RuleFault, "%s is out of service until a person clears it: %s", p.name(), p.fault)
	case !r.hold.Input && p.watched:
		return fixed(p)
	case !r.hold.Input && p.b.Output() && p.b.HasRules():
		return refusal(p, eacces, codeDenied, RuleCapability, "%s has rules that %s would not keep", p.name(), r.hold.Name)
	case err != nil:
		return err
	case p.energised || r.hold.Input && p.level >= 0:
		f := refusal(p, ebusy, codeConflict, RuleInUse, "%s is in use as an output (last driven by %q): switch it off before %s takes it",
			p.name(), p.caller.Name, r.hold.Name)
		f.Holder = p.caller.Name
		return f
	}
	r.hold.mode = p.mode
	p.held, p.mode = r.hold, hw.ModeBus
	p.level, p.freq, p.duty = -1, 0, 0
	return nil
}

// untake undoes a take that came too late for its caller, in the pin's worker. For an output, hung has left word to make it safe.
func (t *Table) untake(p *pin) {
	t.mu.Lock()
	defer t.mu.Unlock()
	p.mode, p.held = p.held.mode, nil
}

// letGo ends a hold. What the line does after a bus is unknown, so that an output counts as on until it was driven safe.
func (t *Table) letGo(p *pin) {
	t.mu.Lock()
	h := p.held
	safe := h != nil && !h.Input && p.b.Output()
	p.energised = p.energised || safe
	t.mu.Unlock()
	if safe {
		t.makeSafe(p, "", nil)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case h == nil:
	case h.Input:
		p.mode = h.mode
	case !safe:
		p.mode = hw.ModeNone
	}
	p.held = nil
}

// CheckUse reports why a caller may not use lines that a bus or counter holds, nil when it may. drive says that what is to be done
// can move something.
func (t *Table) CheckUse(c Caller, lines []Handle, drive bool) error {
	for _, h := range lines {
		p, err := t.at(h)
		if err != nil {
			return err
		}
		if err := t.mayTouch(c, p, drive); err != nil {
			return err
		}
		if !drive {
			continue
		}
		t.mu.Lock()
		err = t.barred(p)
		if err == nil {
			_, err = t.claimed(&c, p)
		}
		t.mu.Unlock()
		if err != nil {
			return err
		}
	}
	return nil
}

// Claimed reports whether c has claimed all of lines for driving, and the refusal of one that somebody else has.
func (t *Table) Claimed(c Caller, lines []Handle) (own bool, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	own = len(lines) > 0
	for _, h := range lines {
		if int(h) >= len(t.pins) {
			return false, nil
		}
		one, err := t.claimed(&c, t.pins[h])
		if err != nil {
			return false, err
		}
		own = own && one
	}
	return own, nil
}

// counted reports whether a counter holds p with this bias. Callers do not hold mu.
func (t *Table) counted(p *pin, pull hw.Pull) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return p.held != nil && p.held.Input && pull == p.pull
}

func heldRefusal(p *pin) *Refusal {
	h := p.held
	r := refusal(p, ebusy, codeConflict, RuleInUse, "%s is a line of %s, opened by %q: %s frees it", p.name(), h.Name, h.by.Name, h.Free)
	r.Holder = h.Name
	return r
}

// CheckCan reports why a pin cannot do one of what is wanted, nil when it can.
func (t *Table) CheckCan(h Handle, want board.Caps, doing string) error {
	p, err := t.at(h)
	if err != nil {
		return err
	}
	return t.can(p, want, doing)
}
