package pin

import (
	"context"
	"time"

	"github.com/pal-terminal/pal/board"
	"github.com/pal-terminal/pal/limits"
)

// use is something under way that drives more than one level: a timed protocol on a line, a transfer that writes to a bus.
type use struct {
	name   string
	cancel func()
	ended  chan struct{}
}

// Begin lets a transfer on the lines of a bus begin if the caller may, and answers with what to call when the driver has come back
// from it. One that drives is cancelled by an e-stop, which waits for its end: cancel must not wait and must not call the table.
func (t *Table) Begin(c Caller, name string, lines []Handle, drive bool, cancel func()) (end func(), err error) {
	if err := t.CheckUse(c, lines, drive); err != nil {
		return nil, err
	}
	if !drive || len(lines) == 0 {
		return func() {}, nil
	}
	u := &use{name: name, cancel: cancel, ended: make(chan struct{})}
	t.mu.Lock()
	defer t.mu.Unlock()
	// Once more, in the step that makes it known: a stop sees every use that it does not refuse.
	if err := t.barred(t.pins[lines[0]]); err != nil {
		return nil, err
	}
	t.uses[u] = struct{}{}
	return func() { t.finish(u) }, nil
}

func (t *Table) finish(u *use) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.uses, u)
	close(u.ended)
}

// endUses cancels what is under way. What it returns waits until that has ended or limits.DriveTimeout has passed.
func (t *Table) endUses() (wait func()) {
	var list []*use
	t.mu.Lock()
	for u := range t.uses {
		u.cancel()
		list = append(list, u)
	}
	t.mu.Unlock()
	timer := time.NewTimer(limits.DriveTimeout)
	return func() {
		defer timer.Stop()
		for _, u := range list {
			select {
			case <-u.ended:
			case <-timer.C:
				return
			}
		}
	}
}

// Lend has a timed protocol drive a line while fn runs, at most for the time within, and then makes the line safe. The checks are those
// of a drive to the level that is not safe, and no other change of the pin gets in between. fn's context ends with the time, with
// ctx and when the output must be safe for any reason; a driver that may wait runs fn in a goroutine, which Lend gives up, with
// the output out of service, when it does not come back. The error is the refusal, or fn's.
func (t *Table) Lend(ctx context.Context, c Caller, h Handle, want board.Caps, within time.Duration, fn func(context.Context) error) (Effect, error) {
	p, err := t.at(h)
	if err != nil {
		return Effect{}, err
	}
	if err := t.mayTouch(c, p, true); err != nil {
		return Effect{}, err
	}
	if err := t.can(p, want, "a line of that protocol"); err != nil {
		return Effect{}, err
	}
	if err := t.can(p, board.CapOut|board.CapOpenDrain, "an output"); err != nil {
		return Effect{}, err
	}
	if !t.enter() {
		return Effect{}, closedRefusal(p)
	}
	ctx, cancel := context.WithTimeout(ctx, within)
	u := &use{name: p.b.Label(), cancel: cancel, ended: make(chan struct{})}
	r := &request{verb: verbLend, caller: c, use: u, unmet: t.unmet(p), cancel: func() { t.unlend(p, u) }}
	if err := t.ask(p, r); err != nil {
		cancel()
		t.running.Done()
		return Effect{}, err
	}
	var back Effect
	run := func() error {
		defer t.running.Done()
		defer cancel()
		err := fn(ctx)
		back = t.giveBack(p, u)
		return err
	}
	if t.direct {
		err = run()
	} else {
		done := make(chan error, 1)
		go func() { done <- run() }()
		timer := time.NewTimer(within + 2*limits.DriveTimeout)
		defer timer.Stop()
		select {
		case err = <-done:
		case <-timer.C:
			t.overran(p)
			return Effect{}, hungRefusal(p)
		}
	}
	back.From, back.Retuned = r.effect.From, r.effect.Retuned
	return back, err
}

// lend performs the claim of a Lend.
func (t *Table) lend(p *pin, r *request) {
	c, err := t.claim(p, r)
	if err != nil {
		r.err = err
		return
	}
	t.record(p, c)
	r.effect = p.effect(c, -1, "")
}

// giveBack makes a lent line safe and ends the loan.
func (t *Table) giveBack(p *pin, u *use) Effect {
	e, drove := t.makeSafe(p, "", func(p *pin) bool { return p.lent == u })
	t.mu.Lock()
	p.lent = nil
	p.energised = p.on() || !drove
	t.mu.Unlock()
	t.finish(u)
	if !drove {
		e = p.effect(change{to: p.b.Safe, at: t.now()}, -1, "")
	}
	return e
}

// unlend undoes a loan that came too late for its caller, in the pin's worker. hung has left word to make the output safe.
func (t *Table) unlend(p *pin, u *use) {
	t.mu.Lock()
	p.lent = nil
	t.mu.Unlock()
	t.finish(u)
}

// overran takes an output out of service whose protocol does not end.
func (t *Table) overran(p *pin) {
	t.mu.Lock()
	fresh := p.setFault("a timed protocol did not end in time")
	t.mu.Unlock()
	if fresh {
		t.emit(p, Event{Kind: EventOutputFault, Level: -1, Cause: CauseFault, Text: p.name() + ": the driver does not end a timed protocol"})
	}
}
