package board

import (
	"errors"
	"time"

	"github.com/pal-terminal/pal/hw"
)

// ErrUnknownName is wrapped by the errors of a Simulator about a name that is nothing on the board.
var ErrUnknownName = errors.New("no such thing on this board")

// Driver reaches the hardware of one board. Pins are indices into Description.Pins. A driver enforces no rules; it does
// what it is told or returns an error, and never changes a pin's configuration because somebody looked at it.
//
// All methods are safe from any goroutine. Methods may block on the hardware: the guard bounds how long it waits for them.
type Driver interface {
	// Configure sets direction and bias. level is the first level of an output (0 or 1), applied together with the
	// direction so that the line never shows another one; it is ignored for other modes.
	Configure(pin int, mode hw.Mode, pull hw.Pull, level int) error
	// Set drives a configured output. In open drain, 1 lets the line go.
	Set(pin, level int) error
	// Get returns the level on the line, 0 or 1, of an input, an output or a pin not configured at all.
	Get(pin int) (int, error)
	// ReadADC samples an analogue input: 12 bits (0 to 4095) and microvolts at the pin.
	ReadADC(pin int) (raw int, microvolts int64, err error)
	// Watch reports level changes of a line, in order, until cancel. fn is called from a goroutine of the driver or of
	// whoever changed the level; it must not block and must not call the driver. When cancel has returned, fn is not called
	// again; cancel must not be called from fn and may be called twice.
	Watch(pin int, edges hw.Edges, fn func(rose bool, at time.Time)) (cancel func(), err error)
	// Halt makes every output the driver holds inert, as far as the hardware allows, without closing.
	Halt() error
	// Close releases the hardware. Lines keep or lose their level as the platform has it.
	Close() error
}

// Immediate is implemented by drivers whose Configure, Set, Get and ReadADC never wait for anything slower than memory.
// The guard then calls them without a watching goroutine in between. A driver that can wait, even rarely, must answer false.
type Immediate interface {
	Immediate() bool
}

// Simulator is implemented by drivers of simulated boards: the door of `pal sim`, which stands for fingers and weather,
// not for programs. The answer can be written as JSON.
type Simulator interface {
	Sim(op, name, value string) (any, error)
}
