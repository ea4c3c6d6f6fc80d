// Package bus is the guard of what has more than one wire or more than one moment: I2C, SPI and UART buses, counters, and the
// timed protocols of single pins (pulses, bit streams, DHT, one-wire).
//
// # Model
//
// A [Gate] stands between callers and a board.Driver as pin.Table does for levels, and asks that table who may use which line.
// Every call names its [pin.Caller]. A bus is opened by a program and stays open until it is closed, or until what opened it last
// is gone ([Gate.Forget]); while it is open its lines belong to it and cannot be used as pins. Like a pin it is shared: whoever has
// the rights may use it, and within a machine open it again with other settings, or close it. Another machine, or another task, shares
// it with equal settings; it changes them only if it has claimed the bus ([pin.Claims]), by its lines. It stays open until
// all are through with it. A chip select is no line of its bus here: programs drive it as a pin. Transfers of one bus happen one after another, each within a time that its length and clock give; one that
// takes longer is given up, the bus is recovered (nine clocks and a STOP) and the fault is told. A fault of one bus never
// delays another bus or an output. Counting is done here, from the edges that the pin table sees.
//
// # What it refuses
//
// Buses and lines that the board does not give to programs; in engineering mode everybody but board.py; whatever writes (also a
// register number to be read) without the scope to drive, and while the e-stop is set: what hangs on a bus can move things, and
// the guard cannot know which bytes do. What somebody else has claimed is neither opened, written to nor closed. Reading a device that needs no write stays possible. A stop cancels the writes under
// way and waits for their end; a bus whose silent lines are not at their safe level is closed ([Gate.Stop]). Lengths, times, rates and addresses beyond the bounds of package limits are refused before
// anything is done.
package bus

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/pal-terminal/pal/board"
	"github.com/pal-terminal/pal/hw"
	"github.com/pal-terminal/pal/limits"
	"github.com/pal-terminal/pal/pin"
)

// Kinds of event.
const (
	EventFault     = "bus_fault"
	EventRecovered = "bus_recovered"
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
	Holder string // actor that opened it last
	Fault  string
}

// Gate guards the buses of one board. Its methods are safe from any goroutine.
//
// Order of locks: a bus's turn, then Gate.mu or bus.mu, then those of the pin table. The driver is called with a turn held and no
// lock.
type Gate struct {
	d       *board.Description
	drv     board.Driver
	t       *pin.Table
	log     *slog.Logger
	onEvent func(Event)
	direct  bool          // the driver never waits but for what takes a context
	wires   board.Buses   // nil when the driver has none
	timed   board.Timed   // likewise
	buses   []*bus        // as in the description
	net     *bus          // serialises what is asked of the radio
	done    chan struct{} // closed by Close
	running sync.WaitGroup

	mu       sync.Mutex // guards what follows
	closed   bool
	lines    map[pin.Handle]*bus // serialises pulses measured on a pin
	counters map[uint16]*counter
	next     uint16 // handle to try for the next counter
}

// New makes the gate of a board. The driver and the table stay the caller's, to be closed after the gate.
func New(d *board.Description, drv board.Driver, t *pin.Table, o Options) *Gate {
	g := &Gate{
		d: d, drv: drv, t: t, log: o.Log, onEvent: o.OnEvent, done: make(chan struct{}),
		lines: map[pin.Handle]*bus{}, counters: map[uint16]*counter{},
	}
	if g.log == nil {
		g.log = slog.New(slog.DiscardHandler)
	}
	if g.onEvent == nil {
		g.onEvent = func(Event) {}
	}
	if im, ok := drv.(board.Immediate); ok {
		g.direct = im.Immediate()
	}
	g.wires, _ = drv.(board.Buses)
	g.timed, _ = drv.(board.Timed)
	g.net = newBus(g, -1, "network")
	for i := range d.Buses {
		b := newBus(g, i, d.Buses[i].Name())
		b.desc = &d.Buses[i]
		for _, role := range roles[b.desc.Kind] {
			if line, ok := b.desc.Pins[role]; ok {
				b.lines = append(b.lines, pin.Handle(line))
			}
		}
		g.buses = append(g.buses, b)
	}
	return g
}

// Call performs or refuses one of the operations OpPWM to OpUARTAny, OpCountOpen, OpCount and OpNetwork. A refusal is a *pin.Refusal; what went
// wrong on the wire is a Reply with an Errno (ENODEV 19 nobody answered, ETIMEDOUT 110, EIO 5). When an output was driven, the
// effect is not nil.
func (g *Gate) Call(ctx context.Context, c pin.Caller, call hw.Call) (hw.Reply, *pin.Effect, error) {
	h := pin.Handle(call.Pin)
	var r hw.Reply
	var err error
	if g.over() {
		return r, nil, shutting("")
	}
	switch call.Op {
	case hw.OpPWM:
		e, err := g.t.PWM(c, h, call.A, call.B, call.C)
		return hw.Reply{}, effectOf(e), err
	case hw.OpBitstream, hw.OpDHT, hw.OpOneWire:
		r, effect, err := g.protocol(ctx, c, h, call)
		if err != nil {
			r, err = wireReply(err)
		}
		return r, effect, err
	case hw.OpPulse:
		r, err = g.pulse(ctx, c, h, call.A, call.B)
	case hw.OpBusOpen:
		r, err = g.open(ctx, c, call.Text, call.Data)
	case hw.OpBusClose:
		r, err = g.shut(ctx, c, call.Pin)
	case hw.OpI2C:
		r, err = g.i2c(ctx, c, call)
	case hw.OpI2CScan:
		r, err = g.scan(ctx, c, call.Pin)
	case hw.OpSPI:
		r, err = g.spi(ctx, c, call)
	case hw.OpUARTWrite, hw.OpUARTRead, hw.OpUARTAny:
		r, err = g.uart(ctx, c, call)
	case hw.OpCountOpen:
		r, err = g.openCounter(c, call)
	case hw.OpCount:
		r, err = g.count(c, call)
	case hw.OpNetwork:
		r, err = g.network(ctx, call.Text)
	default:
		err = bad("", "operation %d is not for buses", call.Op)
	}
	if err != nil {
		r, err = wireReply(err)
	}
	return r, nil, err
}

// Forget closes what callers opened for whom match holds: the machine that held it is gone. It waits for transfers that it
// cancels, and for no driver longer than limits.DriveTimeout.
func (g *Gate) Forget(match func(pin.Caller) bool) {
	var wg sync.WaitGroup
	for _, b := range g.buses {
		if b.leave(match) {
			wg.Go(b.close)
		}
	}
	for _, k := range g.take(func(k *counter) bool { return match(k.by) }) {
		k.close()
	}
	wg.Wait()
}

// Stop closes the buses that hold a line at a level that is not safe while they are silent. It belongs to an e-stop and comes
// after pin.Table.Stop, which lets nobody open them again; it waits as Forget does.
func (g *Gate) Stop() {
	var wg sync.WaitGroup
	for _, b := range g.buses {
		if b.isOpen() && g.idleDrives(b) {
			wg.Go(b.close)
		}
	}
	wg.Wait()
}

// Snapshot lists the buses in the order of the board file.
func (g *Gate) Snapshot() []State {
	list := make([]State, 0, len(g.buses))
	for _, b := range g.buses {
		b.mu.Lock()
		holder := ""
		if n := len(b.users); n > 0 {
			holder = b.users[n-1].Name
		}
		list = append(list, State{Name: b.name, Open: b.open, Holder: holder, Fault: b.fault})
		b.mu.Unlock()
	}
	return list
}

// Close refuses all further calls, closes every bus and counter and ends the gate's goroutines. The error names the buses whose
// driver does not come back; their goroutines end when it does. Closing twice is the same as once.
func (g *Gate) Close() error {
	g.mu.Lock()
	if g.closed {
		g.mu.Unlock()
		return nil
	}
	g.closed = true
	close(g.done)
	g.mu.Unlock()
	g.Forget(func(pin.Caller) bool { return true })
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		g.running.Wait()
	}()
	timer := time.NewTimer(limits.DriveTimeout)
	defer timer.Stop()
	select {
	case <-ended:
		return nil
	case <-timer.C:
	}
	var stuck []string
	for _, b := range append(g.buses, g.net) {
		b.mu.Lock()
		if b.stuck {
			stuck = append(stuck, b.name)
		}
		b.mu.Unlock()
	}
	return errors.New("close buses: no answer from the driver: " + strings.Join(stuck, ", "))
}

// enter begins work of a goroutine, which Close waits for. It reports false once the gate is closed and the work is no closing.
func (g *Gate) enter(closing bool) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed && !closing {
		return false
	}
	g.running.Add(1)
	return true
}

// over reports whether the gate is closed.
func (g *Gate) over() bool {
	select {
	case <-g.done:
		return true
	default:
		return false
	}
}

func (g *Gate) emit(kind, bus, text string) {
	if kind == EventFault {
		g.log.Warn("bus fault", "bus", bus, "text", text)
	}
	g.onEvent(Event{Kind: kind, Bus: bus, Text: text})
}
