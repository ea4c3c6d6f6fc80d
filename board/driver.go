package board

import (
	"context"
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

// Errors of buses, wrapped by drivers.
var (
	ErrNoDevice    = errors.New("no device answered") // I2C: the address was not acknowledged
	ErrHeld        = errors.New("a device holds the bus down")
	ErrUnsupported = errors.New("this board's hardware cannot do that")
)

// PWM is implemented by drivers that can switch an output on and off by themselves. freq is in Hz, 1 to 40,000,000; duty is the
// part of a period that the line is high, 0 to 65,535 (always). It is asked of configured outputs, again for another frequency or
// duty, and ends by Configure. A duty of 0 or 65,535 is a level at once: Get reads it when PWM has returned.
type PWM interface {
	PWM(pin int, freq int64, duty int) error
}

// BusSettings is how a bus is to run. A driver takes what it can and refuses with ErrUnsupported what would change the meaning of
// a transfer.
type BusSettings struct {
	Hz              int64 // I2C: clock; SPI and UART: bits a second
	Polarity, Phase int   // SPI, 0 or 1
	LSBFirst        bool  // SPI
	Bits            int   // SPI: 8; UART: 7 or 8
	Parity          int   // UART: -1 none, 0 even, 1 odd
	Stop            int   // UART: 1 or 2
}

// Buses is implemented by drivers that reach the buses of their description; bus is an index into Description.Buses. The caller
// serialises the calls for one bus. ctx ends a transfer that takes too long: the driver returns as soon as it can.
type Buses interface {
	// OpenBus takes the lines of a bus, whatever they were, and rests them; of one that is open it changes the settings. CloseBus lets
	// the lines go and ends notification; the caller configures them.
	OpenBus(bus int, s BusSettings) error
	CloseBus(bus int) error
	// I2C performs one transaction: START and address, w, and when r is not empty a repeated START and r, then STOP. With neither it
	// asks whether a device answers at addr. acked counts the bytes of w that were acknowledged; the transaction ends at the
	// first that was not, without an error.
	I2C(ctx context.Context, bus int, addr uint16, flags int64, w, r []byte) (acked int, err error)
	// SPI sends tx and fills rx, which is nil or as long.
	SPI(ctx context.Context, bus int, tx, rx []byte) error
	// UARTWrite takes bytes to send and never waits for the line; n may be less than len(p) when the driver's buffer is full.
	UARTWrite(bus int, p []byte) (n int, err error)
	// UARTRead takes bytes that have come, UARTAny counts them. Neither waits.
	UARTRead(bus int, p []byte) (n int, err error)
	UARTAny(bus int) (n int, err error)
	// UARTNotify has fn called, by a goroutine of the driver or of whoever sent, when bytes have come; nil ends it. fn must not block and
	// must not call the driver.
	UARTNotify(bus int, fn func()) error
	// Recover frees an I2C bus whose data line a device holds down: nine clocks and a STOP. It reports ErrHeld when that did not help.
	Recover(bus int) error
}

// Timed is implemented by drivers that measure and make pulses by the hardware's own clock.
type Timed interface {
	// Pulse waits for the line to have level and measures how long it keeps it: the width, or -1 when it did not end and -2 when it
	// did not begin in time.
	Pulse(ctx context.Context, pin, level int, timeout time.Duration) (width time.Duration, err error)
	// Bitstream sends data, each bit as a high and a low of the times given (ns: high and low of a 0, high and low of a 1), and leaves the line low.
	Bitstream(pin int, ns [4]uint32, data []byte) error
	// DHT starts a DHT11, DHT22 or AM2302 and returns its five bytes.
	DHT(ctx context.Context, pin int) ([5]byte, error)
	// OneWire does what op, an hw.OneWire constant, says: a reset reports presence, a write sends w, a read fills r, a bit writes bit or for -1
	// reads one. value is presence or the bit.
	OneWire(ctx context.Context, pin int, op int64, w, r []byte, bit int) (value int, err error)
}

// Networker is implemented by drivers whose board has a radio or an interface that programs may look at. The answer is JSON: for
// "status" an object, for "scan" a list of [ssid, bssid in hex, channel, rssi, security, hidden].
type Networker interface {
	Network(what string) ([]byte, error)
}

// Immediate is implemented by drivers whose methods (but for those that take a context) never wait for anything slower than memory.
// The guard then calls them without a watching goroutine in between. A driver that can wait, even rarely, must answer false.
type Immediate interface {
	Immediate() bool
}

// Simulator is implemented by drivers of simulated boards: the door of `pal sim`, which stands for fingers and weather,
// not for programs. The answer can be written as JSON.
type Simulator interface {
	Sim(op, name, value string) (any, error)
}
