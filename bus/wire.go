package bus

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/pal-terminal/pal/board"
	"github.com/pal-terminal/pal/limits"
	"github.com/pal-terminal/pal/pin"
)

// bus is what happens on one bus, one thing after another. The radio and pins whose pulses are measured are buses without lines.
type bus struct {
	g     *Gate
	index int // in the description
	name  string
	desc  *board.Bus
	lines []pin.Handle
	turn  chan struct{} // holds a token while the bus is in use

	mu      sync.Mutex // guards what follows
	open    bool
	set     settings
	users   []pin.Caller // who has it open, one of each machine and task; who opened it last is the last
	release func()       // of its lines
	cancel  func()       // of the transfer under way
	kept    bool         // the last transaction sent no STOP
	keeper  pin.Caller
	fault   string
	stuck   bool // the driver has not come back
	ended   bool // it is being closed, or will be when the driver comes back

	arrival  sync.Mutex // guards what follows; held while watchers are told, so that cancel means no more
	watchers []*watcher
}

func newBus(g *Gate, index int, name string) *bus {
	return &bus{g: g, index: index, name: name, turn: make(chan struct{}, 1)}
}

func (b *bus) isOpen() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.open
}

// leave takes those off the users who match, and reports whether the bus is open for nobody any more.
func (b *bus) leave(match func(pin.Caller) bool) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.users = slices.DeleteFunc(slices.Clone(b.users), match)
	b.kept = b.kept && !match(b.keeper)
	return b.open && len(b.users) == 0
}

// answer is what the driver makes of a call.
type answer struct {
	data []byte
	n    int64
	err  error
}

// begin waits for the bus's turn. A bus whose driver is stuck has none, one that is being closed only for who closes it.
func (b *bus) begin(ctx context.Context, closing bool) error {
	select {
	case b.turn <- struct{}{}:
	default:
		timer := time.NewTimer(limits.BusTransferTime)
		defer timer.Stop()
		select {
		case b.turn <- struct{}{}:
		case <-ctx.Done():
			return ctx.Err()
		case <-timer.C:
			return refuse(ebusy, codeConflict, pin.RuleBusy, b.name, "%s is still busy with earlier calls", b.name)
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.stuck:
		b.end()
		return fmt.Errorf("%s: %w", b.name, errStuck)
	case b.ended && !closing:
		b.end()
		return b.notOpen()
	}
	return nil
}

func (b *bus) end() { <-b.turn }

func (b *bus) notOpen() error {
	return refuse(einval, codeConflict, RuleClosed, b.name, "%s is not open, or was closed: open it first", b.name)
}

// job is one use of the driver.
type job struct {
	drive  bool
	within time.Duration
	closed bool         // the bus need not be open
	ready  func() error // a check in the bus's turn; nil for none
	do     func(ctx context.Context) answer
}

// transfer performs a job in the bus's turn, if the caller may, and recovers the bus from what goes wrong.
func (b *bus) transfer(ctx context.Context, c pin.Caller, j job) (answer, error) {
	if err := b.g.t.CheckUse(c, b.lines, j.drive); err != nil {
		return answer{}, err // before waiting
	}
	if err := b.begin(ctx, false); err != nil {
		return answer{}, err
	}
	defer b.end()
	return b.perform(ctx, c, j)
}

// perform does a job. The caller has the turn.
func (b *bus) perform(ctx context.Context, c pin.Caller, j job) (answer, error) {
	if !j.closed && !b.isOpen() {
		return answer{}, b.notOpen()
	}
	if j.ready != nil {
		if err := j.ready(); err != nil {
			return answer{}, err
		}
	}
	ctx, cancel := context.WithTimeoutCause(ctx, j.within, errLate) // the caller's own deadline is no fault of the bus
	defer cancel()
	b.mu.Lock()
	b.cancel = cancel
	b.mu.Unlock()
	over, err := b.g.t.Begin(c, b.name, b.lines, j.drive, cancel)
	if err != nil {
		return answer{}, err
	}
	a := b.watch(ctx, false, func() answer {
		defer over()
		return j.do(ctx)
	})
	if errors.Is(a.err, errShut) {
		over()
		return answer{}, shutting(b.name)
	}
	a.err = b.settle(ctx, a.err)
	if errors.Is(a.err, context.Canceled) {
		// By a stop, by who closed the bus, or because the program has ended.
		if err := b.g.t.CheckUse(c, b.lines, j.drive); err != nil {
			return answer{}, err
		}
	}
	return a, a.err
}

// watch has the driver do something, and gives it up limits.BusGrace after the context has ended.
func (b *bus) watch(ctx context.Context, closing bool, do func() answer) answer {
	if b.g.direct {
		return do()
	}
	if !b.g.enter(closing) {
		return answer{err: errShut}
	}
	done := make(chan answer, 1)
	gone := false // guarded by mu
	go func() {
		defer b.g.running.Done()
		a := do()
		b.mu.Lock()
		late := gone
		if !late {
			done <- a
		}
		b.mu.Unlock()
		if late {
			b.returned()
		}
	}()
	select {
	case a := <-done:
		return a
	case <-ctx.Done():
	}
	timer := time.NewTimer(limits.BusGrace)
	defer timer.Stop()
	select {
	case a := <-done:
		return a
	case <-timer.C:
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	select {
	case a := <-done: // in this very moment
		return a
	default:
	}
	gone, b.stuck = true, true
	return answer{err: errStuck}
}

// settle takes in how a use of the driver ended, and recovers the bus when it was broken off.
func (b *bus) settle(ctx context.Context, err error) error {
	switch {
	case errors.Is(err, errStuck):
		b.broken(err)
		return fmt.Errorf("%s: %w", b.name, err)
	case errors.Is(err, board.ErrHeld), err != nil && errors.Is(context.Cause(ctx), errLate):
		if !errors.Is(err, board.ErrHeld) {
			err = errLate
		}
		b.broken(err)
		b.recover()
		return fmt.Errorf("%s: %w", b.name, err)
	case err != nil && ctx.Err() != nil:
		b.recover()
		return fmt.Errorf("%s: given up: %w", b.name, context.Canceled)
	}
	b.well()
	return err // as the driver words it: it names the bus and the address
}

// recover frees the bus of a device that was left in the middle of something.
func (b *bus) recover() {
	b.mu.Lock()
	b.kept = false
	b.mu.Unlock()
	if !b.recoverable() {
		b.well()
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 0)
	defer cancel()
	a := b.watch(ctx, true, func() answer { return answer{err: b.g.wires.Recover(b.index)} })
	if a.err != nil {
		b.broken(a.err)
		return
	}
	b.well()
}

// broken notes a fault and tells of it, once until it is over.
func (b *bus) broken(why error) {
	b.mu.Lock()
	fresh := b.fault == ""
	b.fault = why.Error()
	b.mu.Unlock()
	if fresh {
		b.g.emit(EventFault, b.name, b.name+": "+why.Error())
	}
}

// well notes that the bus works.
func (b *bus) well() {
	b.mu.Lock()
	was := b.fault
	b.fault = ""
	b.mu.Unlock()
	if was != "" {
		b.g.emit(EventRecovered, b.name, b.name+" works again")
	}
}

// returned takes in a driver that has come back after its caller had given up. The bus is still marked as stuck, so that nobody else
// uses it.
func (b *bus) returned() {
	var err error
	if b.recoverable() {
		err = b.g.wires.Recover(b.index)
	}
	if err != nil {
		b.broken(err)
	} else {
		b.well()
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.kept = false
	if b.ended {
		b.mu.Unlock()
		b.letGo(b.g.wires.CloseBus(b.index))
		b.mu.Lock()
	}
	b.stuck, b.ended = false, false
}

// recoverable reports whether a device can be left in the middle of something.
func (b *bus) recoverable() bool { return b.desc != nil && b.desc.Kind == "i2c" }

// close ends what is under way and closes the bus; one whose driver is stuck is closed when that comes back. Closing what is not
// open does nothing.
func (b *bus) close() {
	b.mu.Lock()
	if !b.open {
		b.mu.Unlock()
		return
	}
	b.ended = true // who waits for the bus gives up
	if b.cancel != nil {
		b.cancel()
	}
	stuck := b.stuck
	b.mu.Unlock()
	if stuck {
		return
	}
	if err := b.begin(context.Background(), true); err != nil {
		b.g.log.Warn("close bus", "bus", b.name, "err", err)
		return
	}
	defer b.end()
	b.closeNow()
}

// closeNow closes the bus. The caller has the turn.
func (b *bus) closeNow() {
	if !b.isOpen() {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), limits.BusGrace)
	defer cancel()
	a := b.watch(ctx, true, func() answer {
		var err error
		if b.desc.Kind == "uart" {
			err = b.g.wires.UARTNotify(b.index, nil)
		}
		return answer{err: errors.Join(err, b.g.wires.CloseBus(b.index))}
	})
	if errors.Is(a.err, errStuck) {
		b.broken(a.err)
		if b.closeLater() {
			return
		}
	}
	b.letGo(a.err)
}

// closeLater leaves word to close the bus when its driver comes back. It reports false when it has.
func (b *bus) closeLater() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ended = b.stuck
	return b.stuck
}

// letGo notes that the bus is closed and frees its lines.
func (b *bus) letGo(err error) {
	if err != nil {
		b.g.log.Warn("close bus", "bus", b.name, "err", err)
	}
	b.arrival.Lock()
	b.watchers = nil
	b.arrival.Unlock()
	b.mu.Lock()
	release := b.release
	b.open, b.release, b.kept, b.users, b.ended = false, nil, false, nil, false
	b.mu.Unlock()
	if release != nil {
		release()
	}
}

// watcher is told when bytes have come on a UART.
type watcher struct{ fn func() }

// arrived is called by the driver.
func (b *bus) arrived() {
	b.arrival.Lock()
	defer b.arrival.Unlock()
	for _, w := range b.watchers {
		w.fn()
	}
}

// Watch has fn called when bytes have come on a UART (OpUARTIRQ), until cancel or until the UART is closed. fn must not block and
// must not call the gate; when cancel has returned it is not called again.
func (g *Gate) Watch(c pin.Caller, handle uint16, fn func()) (cancel func(), err error) {
	b, err := g.at(handle, "uart")
	if err != nil {
		return nil, err
	}
	b.arrival.Lock()
	full := len(b.watchers) >= limits.PinWatchers
	b.arrival.Unlock()
	if full {
		return nil, refuse(ebusy, codeConflict, pin.RuleBusy, b.name, "%s has %d watchers already", b.name, limits.PinWatchers)
	}
	w := &watcher{fn}
	_, err = b.transfer(context.Background(), c, job{within: limits.DriveTimeout, do: func(context.Context) answer {
		if err := g.wires.UARTNotify(b.index, b.arrived); err != nil {
			return answer{err: err}
		}
		b.arrival.Lock()
		defer b.arrival.Unlock()
		b.watchers = append(b.watchers, w)
		return answer{}
	}})
	cancel = func() {
		b.arrival.Lock()
		defer b.arrival.Unlock()
		b.watchers = slices.DeleteFunc(slices.Clone(b.watchers), func(x *watcher) bool { return x == w })
	}
	if err != nil {
		cancel()
		return nil, err
	}
	return cancel, nil
}
