package pin

import (
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pal-terminal/pal/board"
	"github.com/pal-terminal/pal/hw"
	"github.com/pal-terminal/pal/limits"
)

// verb says what a request asks of the driver.
type verb uint8

const (
	verbRead verb = iota
	verbADC
	verbInput  // configure as an input
	verbOutput // configure as an output, level -1 to keep or start safe
	verbWrite
	verbToggle
	verbSafe // by the guard itself
	verbWatch
	verbPWM  // frequency 0 ends it
	verbHold // give the line to a bus or a counter
	verbLend // give the line to a timed protocol
)

// request is one use of the driver, with its answer.
type request struct {
	verb    verb
	caller  Caller
	level   int
	mode    hw.Mode
	pull    hw.Pull
	cause   string
	only    func(*pin) bool // verbSafe: do it only if this holds, asked with Table.mu held; nil for always
	unmet   bool            // an input that the output requires does not have its level
	granted bool            // a person has approved it
	edge    func(rose bool, at time.Time)
	freq    int64
	duty    int
	hold    *hold
	use     *use

	effect     Effect
	drove      bool
	value      int
	microvolts int64
	cancel     func() // undoes what a caller that has given up will not
	err        error

	// For workers: state moves waiting → running → finished, or to abandoned from either of the first two when the caller
	// gives up. After that the answer belongs to the worker.
	state atomic.Int32
	done  chan struct{}
}

const (
	waiting = iota
	running
	finished
	abandoned
)

// do has a request performed and returns its error. The answer may be looked at only if do returned nil.
func (t *Table) do(p *pin, r *request) error {
	if t.direct {
		p.drive.Lock()
		t.perform(p, r)
		p.drive.Unlock()
		return r.err
	}
	t.mu.Lock()
	stuck := p.stuck
	t.mu.Unlock()
	if stuck {
		return hungRefusal(p)
	}
	r.done = make(chan struct{})
	timer := time.NewTimer(limits.DriveTimeout)
	defer timer.Stop()
	select {
	case p.queue <- r:
	case <-timer.C:
		return refusal(p, ebusy, codeConflict, RuleBusy, "%s is still busy with an earlier call", p.name())
	case <-t.done:
		return closedRefusal(p)
	}
	select {
	case <-r.done:
		return r.err
	case <-timer.C:
	}
	if r.state.CompareAndSwap(waiting, abandoned) {
		return refusal(p, ebusy, codeConflict, RuleBusy, "%s is still busy with an earlier call", p.name())
	}
	if t.hung(p, r) {
		return hungRefusal(p)
	}
	<-r.done // finished in this very moment
	return r.err
}

// ask is do for what may need a person's approval, which is asked for without locks and when nothing else stands against it.
func (t *Table) ask(p *pin, r *request) error {
	epoch := t.Epoch()
	err := t.do(p, r)
	refused, ok := errors.AsType[*Refusal](err)
	if !ok || refused.Rule != RuleDanger || t.approve == nil {
		return err
	}
	ok, id, no := t.approve(r.caller, p.h)
	switch {
	case no != nil:
		return no
	case !ok:
		refused.Approval = id
		refused.Message += " (pal approve " + id + ")"
		return refused
	}
	if t.Epoch() != epoch { // a stop and a release have been while the person was asked
		return refusal(p, eperm, codeEstopped, RuleEstop, "the e-stop was set while %s was being approved: ask again", p.name())
	}
	r.unmet = t.unmet(p)         // what the output requires may have changed
	r.granted, r.err = true, nil // a request that was refused was performed: it is the caller's again
	r.state.Store(waiting)
	return t.do(p, r)
}

// work is the worker of one pin behind a driver that may wait. Everything that is done to the pin is done here, one after
// another, and making it safe comes before anything else.
func (t *Table) work(p *pin) {
	for {
		select {
		case <-t.done:
			t.runSafe(p) // word left while the driver did not answer
			return
		case <-p.wake:
			t.runSafe(p)
		case r := <-p.queue:
			t.runSafe(p)
			if r.state.CompareAndSwap(waiting, running) {
				t.perform(p, r)
				if !r.state.CompareAndSwap(running, finished) {
					t.returned(p, r)
				}
			}
			close(r.done)
		}
	}
}

// returned takes in the late answer to a request whose caller has given up. For an output, hung has left word to make it safe.
func (t *Table) returned(p *pin, r *request) {
	if r.cancel != nil && r.err == nil {
		r.cancel()
	}
	if !p.b.Output() {
		t.mu.Lock()
		p.stuck = false
		t.mu.Unlock()
	}
}

// hung marks a pin whose driver has not answered in time, and gives up r, the call that has waited for it; nil for none. It
// reports false when r was answered after all. An output is out of service from here on, and is made safe as soon as the
// driver comes back.
func (t *Table) hung(p *pin, r *request) bool {
	t.mu.Lock()
	// With mu held, so that returned comes after this: a pin marked after its driver came back would stay marked.
	if r != nil && !r.state.CompareAndSwap(running, abandoned) {
		t.mu.Unlock()
		return false
	}
	p.stuck = true
	fresh := false
	if p.b.Output() {
		fresh = p.setFault("the driver did not answer in " + limits.DriveTimeout.String())
		p.energised = true
		t.pend(p, CauseFault)
	}
	t.mu.Unlock()
	if fresh {
		t.emit(p, Event{Kind: EventOutputFault, Level: -1, Cause: CauseFault, Text: p.name() + ": the driver does not answer"})
	}
	return true
}

// setFault takes the output out of service and reports whether it was not before. Callers hold Table.mu.
func (p *pin) setFault(why string) (fresh bool) {
	fresh = p.fault == ""
	if fresh {
		p.fault = why
	}
	return fresh
}

// safeCall is word to a worker to make its output safe. Whoever wants that while the word stands shares it, so that a hung
// driver gathers no queue.
type safeCall struct {
	cause  string
	ended  chan struct{} // closed, once, when the drive has ended or has not done so in limits.DriveTimeout
	once   sync.Once
	timer  *time.Timer
	effect Effect // guarded by Table.mu
	drove  bool
}

func (s *safeCall) end() { s.once.Do(func() { close(s.ended) }) }

// pend leaves word to make p safe. Callers hold Table.mu.
func (t *Table) pend(p *pin, cause string) *safeCall {
	s := p.pending
	if s == nil {
		s = &safeCall{cause: cause, ended: make(chan struct{})}
		p.pending = s
		// Not counted in t.running: it ends by itself, and Close must not wait for what is late.
		s.timer = time.AfterFunc(limits.DriveTimeout, func() { t.overdue(p, s) })
	}
	if cause == CauseEstop || s.cause == "" {
		s.cause = cause
	}
	select {
	case p.wake <- struct{}{}:
	default:
	}
	return s
}

// overdue ends the wait for a safeCall that was not done in time.
func (t *Table) overdue(p *pin, s *safeCall) {
	t.mu.Lock()
	late := p.pending == s
	t.mu.Unlock()
	if late {
		t.hung(p, nil)
	}
	s.end()
}

// runSafe does what pend has left word for.
func (t *Table) runSafe(p *pin) {
	t.mu.Lock()
	s := p.pending
	if s == nil {
		t.mu.Unlock()
		return
	}
	r := &request{verb: verbSafe, cause: s.cause}
	t.mu.Unlock()
	t.perform(p, r)
	t.mu.Lock()
	s.effect, s.drove = r.effect, r.drove
	p.pending, p.stuck = nil, false
	s.timer.Stop()
	t.mu.Unlock()
	s.end()
}

// makeSafe makes one output safe if only holds, and waits until it is or limits.DriveTimeout has passed.
func (t *Table) makeSafe(p *pin, cause string, only func(*pin) bool) (Effect, bool) {
	if t.direct {
		r := &request{verb: verbSafe, cause: cause, only: only}
		if t.do(p, r) != nil {
			return Effect{}, false
		}
		return r.effect, r.drove
	}
	return t.wait(t.startSafe(p, cause, only))
}

// startSafe begins to make an output safe behind a worker. It returns nil when only does not hold.
func (t *Table) startSafe(p *pin, cause string, only func(*pin) bool) *safeCall {
	t.mu.Lock()
	defer t.mu.Unlock()
	if only != nil && !only(p) || p.held != nil && !p.energised { // a bus's line drives nothing of its own
		return nil
	}
	return t.pend(p, cause)
}

// wait waits for the end of a safeCall; nil is none.
func (t *Table) wait(s *safeCall) (Effect, bool) {
	if s == nil {
		return Effect{}, false
	}
	<-s.ended
	t.mu.Lock()
	defer t.mu.Unlock()
	return s.effect, s.drove
}

// safeEach makes the outputs safe for which only holds, all at once, and returns the drives that changed something. A nil
// only is every output, whatever its state is thought to be.
func (t *Table) safeEach(cause string, only func(*pin) bool) []Effect {
	var effects []Effect
	keep := func(e Effect, drove bool) {
		if drove && e.Changed() {
			effects = append(effects, e)
		}
	}
	var calls []*safeCall
	for _, p := range t.pins {
		switch {
		case p.b.Owner == board.OwnerSystem || !p.b.Output():
		case t.direct:
			keep(t.makeSafe(p, cause, only))
		default:
			calls = append(calls, t.startSafe(p, cause, only))
		}
	}
	for _, s := range calls {
		keep(t.wait(s))
	}
	return effects
}
