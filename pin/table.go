package pin

import (
	"errors"
	"time"

	"github.com/pal-terminal/pal/board"
	"github.com/pal-terminal/pal/hw"
)

var errUnfinished = errors.New("pin: table has no body yet")

// Table is the guard of one board. Its methods are safe from any goroutine.
type Table struct{}

// New drives every output of the board safe and returns the guard of it.
func New(d *board.Description, drv board.Driver, o Options) (*Table, error) {
	return nil, errUnfinished
}

// Resolve returns the handle of the pin that name means.
func (t *Table) Resolve(name string) (Handle, error) { return 0, errUnfinished }

// Configure sets a pin's direction, bias and, for an output, level.
func (t *Table) Configure(c Caller, h Handle, m hw.Mode, p hw.Pull, level int) (*Effect, error) {
	return nil, errUnfinished
}

// Read returns the level on a line.
func (t *Table) Read(c Caller, h Handle) (int, error) { return 0, errUnfinished }

// Write drives an output.
func (t *Table) Write(c Caller, h Handle, level int) (Effect, error) {
	return Effect{}, errUnfinished
}

// Toggle flips an output.
func (t *Table) Toggle(c Caller, h Handle) (Effect, error) { return Effect{}, errUnfinished }

// CheckADC reports whether a pin is an analogue input the caller may read.
func (t *Table) CheckADC(c Caller, h Handle) error { return errUnfinished }

// ReadADC samples an analogue input: 12 bits and microvolts.
func (t *Table) ReadADC(c Caller, h Handle) (raw int, microvolts int64, err error) {
	return 0, 0, errUnfinished
}

// Watch reports level changes of an input until cancel.
func (t *Table) Watch(c Caller, h Handle, e hw.Edges, fn func(hw.Edge)) (cancel func(), err error) {
	return nil, errUnfinished
}

// Stop sets the e-stop latch and makes every output safe.
func (t *Table) Stop(reason string) {}

// Clear releases the latch, trips and faults.
func (t *Table) Clear() error { return errUnfinished }

// Stopped reports the latch.
func (t *Table) Stopped() (stopped bool, reason string, since time.Time) { return }

// Safe makes the outputs safe that match.
func (t *Table) Safe(cause string, match func(Driven) bool) []Effect { return nil }

// Snapshot returns the state of every pin.
func (t *Table) Snapshot() []State { return nil }

// Close makes every output safe and ends the table's goroutines.
func (t *Table) Close() error { return errUnfinished }
