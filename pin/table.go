package pin

import (
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pal-terminal/pal/board"
	"github.com/pal-terminal/pal/hw"
	"github.com/pal-terminal/pal/limits"
)

// Table is the guard of one board. Its methods are safe from any goroutine.
//
// Order of locks: pin.drive, then Table.mu. Neither the driver nor a callback is ever called with mu held.
type Table struct {
	d       *board.Description
	drv     board.Driver
	log     *slog.Logger
	now     func() time.Time
	onEvent func(Event)
	claims  Claims // nil when nothing can be claimed
	approve func(Caller, Handle) (bool, string, *Refusal)
	askAll  func() bool
	started time.Time
	direct  bool      // the driver never waits: call it without a worker in between
	pwm     board.PWM // nil when the driver has none
	pins    []*pin

	// latch is the e-stop: odd while set. It only grows, so that Clear cannot undo a Stop it has not seen.
	latch atomic.Uint64

	done    chan struct{}  // closed by Close: workers and the sampler end
	running sync.WaitGroup // workers, the sampler, and timers at work

	mu     sync.Mutex // guards what follows and the state of every pin
	closed bool
	reason string // of the first Stop since the latch was clear
	since  time.Time
	uses   map[*use]struct{} // what drives something that is not one level after another
}

// pin is one pin's rules and state.
type pin struct {
	h       Handle
	b       *board.Pin
	watched bool        // a rule of some output watches this input
	locked  []*pin      // interlocked outputs
	ring    []time.Time // times of the last changes, for max_rate; guarded by Table.mu

	drive sync.Mutex    // direct drivers: held over a whole change, so that changes of one output come one after another
	queue chan *request // other drivers: to the worker, unbuffered
	wake  chan struct{} // other drivers: pending is set

	fan fan

	// Guarded by Table.mu.
	mode      hw.Mode
	pull      hw.Pull
	level     int // as last driven, for PWM the one that is not safe unless the duty is a level; -1 when the pin is no output
	freq      int64
	duty      int
	held      *hold // by a bus or a counter
	lent      *use  // to a timed protocol
	energised bool  // may be on: from the claim to switch on until a drive to safe was confirmed
	onSince   time.Time
	offSince  time.Time
	next      int // next place in ring
	caller    Caller
	changed   time.Time
	tripped   bool
	tripFrom  time.Time // since when the trip condition holds; zero when it does not
	fault     string
	stuck     bool        // the worker has not come back from the driver
	pending   *safeCall   // the output is to be made safe by the worker
	alarm     *time.Timer // max_on, and retries of a failed drive to safe
}

// on reports whether the output is driven to a level that is not safe.
func (p *pin) on() bool { return p.level >= 0 && p.level != p.b.Safe }

// New takes charge of a board: it drives every output safe before it returns. An output that cannot be made safe does not
// stop the others from being guarded; it is out of service, as Snapshot and EventOutputFault say. The driver stays the
// caller's, to be closed after the table.
func New(d *board.Description, drv board.Driver, o Options) (*Table, error) {
	if len(d.Pins) > limits.BoardPins {
		return nil, fmt.Errorf("board %s has %d pins, more than %d", d.Name, len(d.Pins), limits.BoardPins)
	}
	t := &Table{d: d, drv: drv, log: o.Log, now: o.Now, onEvent: o.OnEvent, claims: o.Claims, approve: o.Approve, askAll: o.AskAll, done: make(chan struct{})}
	if t.log == nil {
		t.log = slog.New(slog.DiscardHandler)
	}
	if t.now == nil {
		t.now = time.Now
	}
	if t.onEvent == nil {
		t.onEvent = func(Event) {}
	}
	if t.askAll == nil {
		t.askAll = func() bool { return false }
	}
	if s := o.Stopped; s != nil {
		t.latch.Store(1)
		t.reason, t.since = clip(s.Reason, limits.ReasonBytes), s.At
		if s.Reason == "" {
			t.reason = "by " + s.Actor
		}
	}
	if im, ok := drv.(board.Immediate); ok {
		t.direct = im.Immediate()
	}
	t.pwm, _ = drv.(board.PWM)
	t.uses = map[*use]struct{}{}
	t.started = t.now()
	t.build()
	t.safeEach(CauseStart, nil)
	if slices.ContainsFunc(t.pins, func(p *pin) bool { return p.watched }) {
		t.sample() // a trip that stands already is known before the first call
		t.running.Go(t.sampler)
	}
	return t, nil
}

// build makes the pins and starts their workers.
func (t *Table) build() {
	t.pins = make([]*pin, len(t.d.Pins))
	for i := range t.d.Pins {
		b := &t.d.Pins[i]
		p := &pin{h: Handle(i), b: b, pull: b.Pull, level: -1, offSince: t.started, changed: t.started}
		t.pins[i] = p
		if b.Owner == board.OwnerSystem {
			continue
		}
		if b.Output() {
			// What the line does before the first drive is unknown, so it counts as on until it was driven safe.
			p.energised = true
			p.alarm = time.AfterFunc(longest, func() { t.alarmed(p) })
			p.alarm.Stop()
			p.ring = make([]time.Time, b.MaxRate.N)
		}
		if !t.direct {
			p.queue, p.wake = make(chan *request), make(chan struct{}, 1)
			t.running.Go(func() { t.work(p) })
		}
	}
	for _, p := range t.pins {
		for _, j := range p.b.Interlock {
			p.locked = append(p.locked, t.pins[j])
		}
		if p.b.Requires != nil {
			t.pins[p.b.Requires.Pin].watched = true
		}
		if p.b.Trip != nil {
			t.pins[p.b.Trip.ADC].watched = true
		}
	}
}

// longest is how far off a timer is set that is not meant to run.
const longest = time.Duration(1<<63 - 1)

// at returns the pin of a handle, which may come from hostile code.
func (t *Table) at(h Handle) (*pin, error) {
	if int(h) >= len(t.pins) {
		return nil, &Refusal{
			Errno: eacces, Code: codeNotFound, Rule: RuleUnknownPin, Resource: fmt.Sprintf("handle %d", h),
			Message: fmt.Sprintf("handle %d is no pin of this board", h),
		}
	}
	p := t.pins[h]
	if p.b.Owner == board.OwnerSystem {
		r := refusal(p, eacces, codeDenied, RuleSystemPin, "%s belongs to the board itself and is never used by programs", p.name())
		r.Holder = "system"
		r.Nearest = t.nearestThatCan(string(p.b.ID), board.CapOut) // what system pins are asked for is mostly driving
		return nil, r
	}
	return p, nil
}

// Resolve returns the handle of the pin that name means: its id, its name, or GPIO and its number, exactly. Unknown and
// system-owned pins are refused.
func (t *Table) Resolve(name string) (Handle, error) {
	i, ok := t.d.Lookup(name)
	if !ok {
		return 0, &Refusal{
			Errno: eacces, Code: codeNotFound, Rule: RuleUnknownPin, Resource: clip(name, limits.NameBytes), Nearest: t.nearest(name),
			Message: fmt.Sprintf("%q is no pin of this board", clip(name, limits.NameBytes)),
		}
	}
	p, err := t.at(Handle(i))
	if err != nil {
		return 0, err
	}
	return p.h, nil
}

// Lines returns the lines of what name means, a pin or a bus ("i2c0"), chip select and all, with the word for it towards people. What is
// the system's is refused.
func (t *Table) Lines(name string) ([]Handle, string, error) {
	for i := range t.d.Buses {
		b := &t.d.Buses[i]
		if b.Name() != name {
			continue
		}
		var lines []Handle
		for _, role := range slices.Sorted(maps.Keys(b.Pins)) {
			p, err := t.at(Handle(b.Pins[role]))
			if err != nil {
				return nil, "", err
			}
			lines = append(lines, p.h)
		}
		return lines, name, nil
	}
	h, err := t.Resolve(name)
	if err != nil {
		return nil, "", err
	}
	return []Handle{h}, t.pins[h].b.Label(), nil
}

// clip bounds a text of foreign origin for messages.
func clip(text string, limit int) string {
	if len(text) > limit {
		return strings.ToValidUTF8(text[:limit], "") + "…"
	}
	return text
}

// name returns the pin as messages call it: its name with its id.
func (p *pin) name() string {
	if p.b.Name == "" {
		return "pin " + string(p.b.ID)
	}
	return p.b.Name + " (pin " + string(p.b.ID) + ")"
}

// emit reports an event. It is called without mu.
func (t *Table) emit(p *pin, e Event) {
	e.Handle, e.Pin, e.Name = p.h, string(p.b.ID), p.b.Name
	if e.At.IsZero() {
		e.At = t.now()
	}
	if e.Kind == EventOutputFault || e.Kind == EventTrip {
		t.log.Error("output out of service", "pin", p.b.Label(), "cause", e.Cause, "text", e.Text)
	}
	t.onEvent(e)
}

// enter begins work of a timer's goroutine, which Close waits for. It reports false once the table is closed.
func (t *Table) enter() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return false
	}
	t.running.Add(1)
	return true
}

// Close refuses all further calls, makes every output safe and ends the table's goroutines. The error names the outputs
// whose driver does not come back; their goroutines end when it does. Closing twice is the same as once.
func (t *Table) Close() error {
	t.mu.Lock()
	if t.closed {
		t.mu.Unlock()
		return nil
	}
	t.closed = true
	t.mu.Unlock()

	usesEnded := t.endUses()
	t.safeEach(CauseShutdown, nil)
	usesEnded()
	close(t.done)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for _, p := range t.pins {
			p.fan.end()
		}
		t.running.Wait()
	}()
	timer := time.NewTimer(limits.DriveTimeout)
	defer timer.Stop()
	select {
	case <-ended:
	case <-timer.C:
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, p := range t.pins {
		if p.alarm != nil {
			p.alarm.Stop()
		}
	}
	if err := t.unsafe(); err != nil {
		return fmt.Errorf("close pin table: %w", err)
	}
	return nil
}

// unsafe names the outputs that may not be at their safe level. Callers hold mu.
func (t *Table) unsafe() error {
	var bad []string
	for _, p := range t.pins {
		if p.b.Output() && (p.stuck || p.energised) {
			bad = append(bad, p.b.Label())
		}
	}
	for u := range t.uses {
		if !slices.Contains(bad, u.name) {
			bad = append(bad, u.name)
		}
	}
	if len(bad) == 0 {
		return nil
	}
	slices.Sort(bad)
	return errors.New("not known to be safe: " + strings.Join(bad, ", "))
}
