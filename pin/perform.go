package pin

import (
	"fmt"
	"time"

	"github.com/pal-terminal/pal/board"
	"github.com/pal-terminal/pal/hw"
	"github.com/pal-terminal/pal/limits"
)

// perform does one request. Requests of one pin are performed one after another: under pin.drive, or by the pin's worker.
func (t *Table) perform(p *pin, r *request) {
	switch r.verb {
	case verbRead:
		var err error
		if r.value, err = t.drv.Get(int(p.h)); err != nil {
			r.err = driverRefusal(p, "reading", err)
		}
	case verbADC:
		var err error
		if r.value, r.microvolts, err = t.drv.ReadADC(int(p.h)); err != nil {
			r.err = driverRefusal(p, "sampling", err)
		}
	case verbWatch:
		var err error
		if r.cancel, err = t.drv.Watch(int(p.h), hw.EdgeRising|hw.EdgeFalling, r.edge); err != nil {
			r.err = driverRefusal(p, "watching", err)
		}
	case verbInput:
		t.toInput(p, r)
	case verbHold:
		r.err = t.take(p, r)
	case verbLend:
		t.lend(p, r)
	default:
		t.toLevel(p, r)
	}
}

// change is a drive that has been claimed.
type change struct {
	from, to  int
	mode      hw.Mode
	pull      hw.Pull
	freq      int64 // of PWM
	duty      int
	retuned   bool
	configure bool // direction or bias change as well
	at        time.Time
}

// toLevel performs everything that drives an output: claim, drive, read back, record.
func (t *Table) toLevel(p *pin, r *request) {
	c, err := t.claim(p, r)
	if err != nil {
		r.err = err
		return
	}
	if c.at.IsZero() {
		return
	}
	back, err := t.driveLine(p, c)
	if err != nil {
		r.err = t.failed(p, c, err)
		return
	}
	t.record(p, c)
	r.effect, r.drove = p.effect(c, back, r.cause), true
	// The first drive at the start is no news: nothing is known of the level before.
	if r.verb == verbSafe && r.cause != "" && c.from >= 0 && c.from != c.to {
		t.emit(p, Event{
			Kind: EventOutputSafe, Level: back, Cause: r.cause, At: c.at,
			Text: fmt.Sprintf("%s was made safe: %s", p.name(), r.cause),
		})
	}
}

// claim decides what a request comes to and, when the rules allow it, marks the output as on before anything is driven. The
// zero change means that nothing is to be done.
func (t *Table) claim(p *pin, r *request) (change, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	c := change{from: p.level, to: p.b.Safe, mode: p.mode, pull: p.pull, at: t.now()}
	if p.level < 0 || p.freq > 0 || p.lent != nil {
		c.mode, c.pull, c.configure = startMode(p.b), p.b.Pull, true // no bias of an input, which may be against the safe level
	}
	if r.verb == verbSafe {
		// An output that a program made an input drives nothing: to drive it now could set it against whatever drives it.
		if p.level < 0 && !p.energised || r.only != nil && !r.only(p) {
			return change{}, nil
		}
		if p.lent != nil {
			p.lent.cancel() // the line is driven safe now, and once more when the protocol has ended
		}
		c.retuned = p.freq != 0
		return c, nil
	}
	// To ask an output to be what it is already drives nothing: board.py, which says so of its pins, must not fail while the
	// e-stop is set, or its functions would be missing after the release.
	if !c.aim(p, r) {
		return change{}, nil
	}
	if err := t.open(p); err != nil {
		return change{}, err
	}
	if p.mode == hw.ModeIn && (r.verb == verbWrite || r.verb == verbToggle) {
		return change{}, refusal(p, einval, codeConflict, RuleArgument, "%s is configured as an input: make it an output first", p.name())
	}
	own, err := t.claimed(&r.caller, p)
	if err != nil && !c.onlySafe(p, r) {
		return change{}, err
	}
	if c.to != p.b.Safe {
		if err := t.mayBeOn(p, r, own, c.at); err != nil {
			return change{}, err
		}
		p.energised = true
	}
	p.caller = r.caller
	if r.use != nil { // of verbLend
		p.lent = r.use
		t.uses[r.use] = struct{}{}
	}
	c.retuned = c.freq != p.freq || c.duty != p.duty
	return c, nil
}

// onlySafe reports whether a caller's change does no more than make an output safe, which no claim stands against.
func (c *change) onlySafe(p *pin, r *request) bool {
	return c.to == p.b.Safe && c.freq == 0 && p.level >= 0 && (r.verb != verbOutput || !c.configure)
}

// aim sets what a caller's request drives the output to. It reports false when the output is that already and nothing was asked
// of its level. Callers hold mu.
func (c *change) aim(p *pin, r *request) bool {
	switch r.verb { //nolint:exhaustive // the others drive nothing
	case verbWrite:
		c.to = r.level
	case verbToggle:
		c.to = 1 - max(p.level, 0)
	case verbOutput:
		c.configure = c.configure || r.mode != p.mode || r.pull != p.pull
		c.mode, c.pull = r.mode, r.pull
		switch {
		case r.level >= 0:
			c.to = r.level
		case p.level >= 0 && p.freq == 0: // PWM that ends has no level to keep
			c.to = p.level
			return c.configure
		}
	case verbPWM:
		if r.freq > 0 {
			c.to, c.freq, c.duty, c.mode, c.pull = r.level, r.freq, r.duty, hw.ModePWM, p.pull
			c.configure = p.mode != hw.ModeOut && p.mode != hw.ModePWM
		}
		return r.freq > 0 || p.freq > 0
	case verbLend:
		c.to, c.mode, c.pull = 1-p.b.Safe, startMode(p.b), p.b.Pull
	}
	return true
}

// startMode is how an output is driven while no program has said otherwise.
func startMode(b *board.Pin) hw.Mode {
	if !b.Can.Any(board.CapOut | board.CapPWM) {
		return hw.ModeOpenDrain
	}
	return hw.ModeOut
}

// driveLine drives a claimed change and returns the level found on the line, -1 when it could not be read.
func (t *Table) driveLine(p *pin, c change) (back int, err error) {
	switch {
	case c.mode == hw.ModePWM:
		err = t.startPWM(p, c)
	case c.configure:
		err = t.drv.Configure(int(p.h), c.mode, c.pull, c.to)
	default:
		err = t.drv.Set(int(p.h), c.to)
	}
	if err != nil || c.mode == hw.ModePWM && switching(c.duty) {
		return -1, err
	}
	back, err = t.drv.Get(int(p.h))
	if err != nil {
		return -1, fmt.Errorf("read back: %w", err)
	}
	// A line let go in open drain may be held low by others: that is what open drain is for.
	letGo := c.mode == hw.ModeOpenDrain && c.to == 1
	if back != c.to && !letGo {
		return back, fmt.Errorf("the line reads %d after it was driven to %d", back, c.to)
	}
	return back, nil
}

// record keeps a drive that succeeded.
func (t *Table) record(p *pin, c change) {
	t.mu.Lock()
	defer t.mu.Unlock()
	wasOn := p.on()
	p.level, p.mode, p.pull, p.freq, p.duty = c.to, c.mode, c.pull, c.freq, c.duty
	p.energised = p.on() || p.lent != nil
	if c.from == c.to {
		return
	}
	p.changed = c.at
	if len(p.ring) > 0 && (c.from >= 0 || p.on()) { // the drive to safe at start is no change
		p.ring[p.next] = c.at
		p.next = (p.next + 1) % len(p.ring)
	}
	switch {
	case p.on() && !wasOn:
		p.onSince = c.at
		if p.b.MaxOn > 0 {
			p.alarm.Reset(p.b.MaxOn - t.now().Sub(c.at))
		}
	case wasOn && !p.on():
		p.offSince = t.now() // not when it was told to be off: a slow driver must not shorten min_off
		p.alarm.Stop()
	}
}

// failed takes an output out of service after a drive that went wrong and makes it safe as well as it can be. An output that
// cannot be made safe counts as on, and is tried again until it can.
func (t *Table) failed(p *pin, c change, cause error) error {
	t.mu.Lock()
	fresh := p.setFault(cause.Error())
	p.offSince = t.now() // it may have been on until now
	t.mu.Unlock()
	if fresh {
		t.emit(p, Event{Kind: EventOutputFault, Level: -1, Cause: CauseFault, At: c.at, Text: p.name() + ": " + cause.Error()})
	}
	safe := change{from: c.to, to: p.b.Safe, mode: c.mode, pull: c.pull, configure: true, at: t.now()}
	if c.mode == hw.ModePWM {
		safe.mode = startMode(p.b)
	}
	_, err := t.driveLine(p, safe)
	if err == nil {
		safe.from = c.from
		t.record(p, safe)
	} else {
		t.mu.Lock()
		p.energised = true
		if !t.closed {
			p.alarm.Reset(limits.DriveTimeout)
		}
		t.mu.Unlock()
	}
	return driverRefusal(p, "driving", cause)
}

// alarmed runs when an output's timer fires: its time is up, or a drive to safe that failed is due again.
func (t *Table) alarmed(p *pin) {
	if !t.enter() {
		return
	}
	defer t.running.Done()
	t.mu.Lock()
	retry := p.fault != "" && p.energised
	t.mu.Unlock()
	if retry {
		t.makeSafe(p, CauseFault, func(p *pin) bool { return p.energised })
		return
	}
	t.makeSafe(p, CauseMaxOn, func(p *pin) bool {
		if !p.on() || p.b.MaxOn == 0 {
			return false
		}
		left := p.b.MaxOn - t.now().Sub(p.onSince)
		if left > 0 { // the timer belongs to an earlier time on, or the clock was set back
			p.alarm.Reset(left)
		}
		return left <= 0
	})
}

// toInput performs a configuration as an input. An output is driven safe first, so that a line with some capacitance or a
// slow relay does not keep a level that nobody stands for any more. One with a bias against its safe level may be on.
func (t *Table) toInput(p *pin, r *request) {
	against := p.b.Against(r.pull)
	t.mu.Lock()
	from, retuned := p.level, p.freq != 0
	own := false
	var err error
	if p.held != nil {
		err = heldRefusal(p)
	} else if from >= 0 || against {
		// Once more: it may have become an output since the caller was asked for the right.
		if err = t.mayTouch(r.caller, p, true); err == nil {
			err = t.open(p)
		}
		if err == nil {
			own, err = t.claimed(&r.caller, p)
		}
	}
	if err == nil && against {
		err = t.mayBeOn(p, r, own, t.now())
	}
	t.mu.Unlock()
	if err != nil {
		r.err = err
		return
	}
	c := change{from: from, to: -1, mode: r.mode, pull: r.pull, retuned: retuned, at: t.now()}
	if from >= 0 {
		safe := change{from: from, to: p.b.Safe, mode: p.mode, pull: p.pull, at: c.at}
		if retuned {
			safe.mode, safe.configure = startMode(p.b), true
		}
		if _, err := t.driveLine(p, safe); err != nil {
			r.err = t.failed(p, safe, err)
			return
		}
		t.record(p, safe)
	}
	if err := t.drv.Configure(int(p.h), r.mode, r.pull, 0); err != nil {
		r.err = driverRefusal(p, "configuring", err)
		if from >= 0 {
			r.err = t.failed(p, change{from: from, to: p.b.Safe, mode: startMode(p.b), at: c.at}, err)
		}
		return
	}
	t.mu.Lock()
	p.mode, p.pull, p.level, p.energised = r.mode, r.pull, -1, against
	if from >= 0 || against {
		p.caller, p.changed = r.caller, c.at
	}
	t.mu.Unlock()
	if from >= 0 {
		r.effect, r.drove = p.effect(c, -1, ""), true
	}
}

func (p *pin) effect(c change, back int, cause string) Effect {
	return Effect{
		Handle: p.h, Pin: string(p.b.ID), Name: p.b.Name, From: c.from, To: c.to, At: c.at, ReadBack: back, Cause: cause,
		Freq: c.freq, Duty: c.duty, Retuned: c.retuned,
	}
}
