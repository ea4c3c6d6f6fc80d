package sim

import (
	"context"
	"fmt"
	"math/bits"
	"slices"
	"time"

	"github.com/pal-terminal/pal/board"
	"github.com/pal-terminal/pal/hw"
	"github.com/pal-terminal/pal/limits"
)

// bus is one bus with its devices. Everything of it is guarded by Board.mu.
type bus struct {
	*board.Bus
	open  bool
	set   board.BusSettings
	units []*unit
	free  time.Time // timing: real: when the wire is done with what it was given; rxFree is the device's of a UART

	at *unit // I2C: whom the last transaction left the bus with (NoStop)

	holder  *unit // I2C: who holds the data line down, a fault
	forever bool  // that survives Recover

	rx       []byte // UART: received
	rxFree   time.Time
	overruns int64
	sent     int64
	notify   func()
}

// add puts a device on the bus.
func (bu *bus) add(u *unit) error {
	if bu.Kind == "uart" && len(bu.units) > 0 {
		return fmt.Errorf("%s has a device already", bu.Name())
	}
	for _, other := range bu.units {
		for _, addr := range u.addrs {
			if slices.Contains(other.addrs, addr) {
				return fmt.Errorf("address 0x%02X of %s is %s's already", addr, bu.Name(), other.spec.Name)
			}
		}
	}
	bu.units = append(bu.units, u)
	return nil
}

// idleLevels are those of an open bus's lines between transfers. A line that is not here is an input.
var idleLevels = map[string]map[string]int{
	"i2c": {"sda": 1, "scl": 1}, "spi": {"sck": 0, "mosi": 0}, "uart": {"tx": 1, "rx": 1},
}

// beginBus runs the hook, takes mu and returns the bus. When err is nil the caller calls leave.
func (b *Board) beginBus(i int, kind string, open bool) (*bus, error) {
	if i < 0 || i >= len(b.buses) {
		return nil, fmt.Errorf("bus index %d is outside the board", i)
	}
	bu := &b.buses[i]
	if kind == "" {
		kind = bu.Kind
	}
	if b.o.Hook != nil {
		first := bu.Pins[map[string]string{"i2c": "sda", "spi": "sck", "uart": "tx"}[bu.Kind]]
		if err := b.o.Hook(kind, first); err != nil {
			return nil, fmt.Errorf("%s: %w", bu.Name(), err)
		}
	}
	if err := b.enter(); err != nil {
		return nil, err
	}
	switch {
	case bu.Kind != kind:
		b.leave()
		return nil, fmt.Errorf("%s is no %s: %w", bu.Name(), kind, board.ErrUnsupported)
	case open && !bu.open:
		b.leave()
		return nil, fmt.Errorf("%s is not open", bu.Name())
	}
	return bu, nil
}

// OpenBus implements board.Buses. Opening an open bus changes its settings; what a UART has received is kept.
func (b *Board) OpenBus(i int, s board.BusSettings) error {
	bu, err := b.beginBus(i, "", false)
	if err != nil {
		return err
	}
	defer b.leave()
	if s.Hz <= 0 {
		return fmt.Errorf("%s: %d Hz is no rate", bu.Name(), s.Hz)
	}
	if bu.Kind == "spi" && s.Bits != 8 && s.Bits != 0 {
		return fmt.Errorf("%s: words of %d bits: %w", bu.Name(), s.Bits, board.ErrUnsupported)
	}
	bu.open, bu.set = true, s
	for role, pin := range bu.Pins {
		if role == "cs" {
			continue // an ordinary output
		}
		ln := &b.lines[pin]
		ln.mode, ln.idle = hw.ModeBus, -1
		if level, ok := idleLevels[bu.Kind][role]; ok {
			ln.idle = level
		}
		b.settle(ln)
	}
	return nil
}

// CloseBus implements board.Buses.
func (b *Board) CloseBus(i int) error {
	bu, err := b.beginBus(i, "", false)
	if err != nil {
		return err
	}
	defer b.leave()
	if bu.at != nil {
		bu.at.i2c.Stop()
		bu.at = nil
	}
	b.notifies(bu, nil)
	bu.open, bu.rx = false, nil
	for role, pin := range bu.Pins {
		ln := &b.lines[pin]
		ln.idle = -1
		if role != "cs" && ln.mode == hw.ModeBus {
			ln.mode = hw.ModeNone
		}
		b.settle(ln)
	}
	return nil
}

// busy books d on a wire that is free at that time and returns when it is over: the zero time, but for timing: real. Callers hold mu.
func (b *Board) busy(free *time.Time, d time.Duration) time.Time {
	if !b.d.Driver.Real {
		return time.Time{}
	}
	if now := b.now(); free.Before(now) {
		*free = now
	}
	*free = free.Add(d)
	return *free
}

// wait waits until t, which may be zero, or for the end of ctx. Callers do not hold mu.
func (b *Board) wait(ctx context.Context, t time.Time) error {
	if t.IsZero() {
		return nil
	}
	timer := time.NewTimer(t.Sub(b.o.Now()))
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// clocks returns the time of n clock periods on the bus.
func (bu *bus) clocks(n int) time.Duration {
	return time.Duration(int64(n) * int64(time.Second) / bu.set.Hz)
}

// I2C implements board.Buses.
func (b *Board) I2C(ctx context.Context, i int, addr uint16, flags int64, w, r []byte) (acked int, err error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	bu, err := b.beginBus(i, "i2c", true)
	if err != nil {
		return 0, err
	}
	sda, scl := &b.lines[bu.Pins["sda"]], &b.lines[bu.Pins["scl"]]
	if b.level(sda) == 0 || b.level(scl) == 0 {
		defer b.leave()
		return 0, fmt.Errorf("%s: %w", bu.Name(), board.ErrHeld)
	}
	if u := bu.find(addr); u != nil && u.stretch {
		b.leave()
		<-ctx.Done()
		return 0, fmt.Errorf("%s: %s holds the clock down: %w", bu.Name(), u.spec.Name, ctx.Err())
	}
	acked, err = bu.transact(addr, flags, w, r)
	over := b.busy(&bu.free, bu.clocks(9*(len(w)+len(r)+1)+2))
	b.leave()
	if err != nil {
		return acked, fmt.Errorf("%s: address 0x%02X: %w", bu.Name(), addr, err)
	}
	return acked, b.wait(ctx, over)
}

// find returns the device that answers to an address now.
func (bu *bus) find(addr uint16) *unit {
	for _, u := range bu.units {
		if !u.gone && !u.nack && slices.Contains(u.addrs, addr) {
			return u
		}
	}
	return nil
}

// transact performs a transaction on a bus whose lines are free.
func (bu *bus) transact(addr uint16, flags int64, w, r []byte) (acked int, err error) {
	u := bu.find(addr)
	last := bu.at
	bu.at = nil
	if last != nil && last != u {
		last.i2c.Stop() // another's START: for this one it is over
	}
	if u == nil {
		return 0, board.ErrNoDevice
	}
	defer func() {
		if err == nil && acked == len(w) && flags&hw.I2CNoStop != 0 {
			bu.at = u
			return
		}
		u.i2c.Stop()
	}()
	if len(w) > 0 || len(r) == 0 {
		goOn := flags&hw.I2CNoStart != 0 && last == u
		if !goOn && !u.i2c.Start(false) {
			return 0, board.ErrNoDevice
		}
		if acked = u.write(w); acked < len(w) {
			return acked, nil
		}
	}
	if len(r) > 0 {
		goOn := flags&hw.I2CNoStart != 0 && last == u && len(w) == 0
		if !goOn && !u.i2c.Start(true) {
			return acked, board.ErrNoDevice
		}
		for i := range r {
			r[i] = u.i2c.Read()
		}
	}
	return acked, nil
}

// write brings bytes to a device that has been started, until one is not acknowledged.
func (u *unit) write(p []byte) (acked int) {
	if u.bulk != nil {
		return u.bulk.WriteAll(p)
	}
	for i, c := range p {
		if !u.i2c.Write(c) {
			return i
		}
	}
	return len(p)
}

// Recover implements board.Buses.
func (b *Board) Recover(i int) error {
	bu, err := b.beginBus(i, "i2c", false)
	if err != nil {
		return err
	}
	defer b.leave()
	if bu.at != nil {
		bu.at.i2c.Stop()
		bu.at = nil
	}
	sda := &b.lines[bu.Pins["sda"]]
	if bu.holder != nil && !bu.forever {
		bu.holder, sda.held = nil, false
		b.settle(sda)
	}
	if sda.mode == hw.ModeBus && b.level(sda) == 0 || sda.held || sda.stuck == 0 {
		return fmt.Errorf("%s: %w", bu.Name(), board.ErrHeld)
	}
	return nil
}

// SPI implements board.Buses. A device follows its own select line; two that are selected at once drive the line together, and a 0
// of one wins.
func (b *Board) SPI(ctx context.Context, i int, tx, rx []byte) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if rx != nil && len(rx) != len(tx) {
		return fmt.Errorf("spi: %d bytes in for %d bytes out", len(rx), len(tx))
	}
	bu, err := b.beginBus(i, "spi", true)
	if err != nil {
		return err
	}
	s := bu.set
	if s.LSBFirst || s.Polarity != s.Phase {
		tx = askew(s, slices.Clone(tx))
	}
	drivers := 0
	for _, u := range bu.units {
		if u.gone || !u.selected {
			continue
		}
		drivers++
		if drivers == 1 || rx == nil {
			u.spi.Transfer(tx, rx)
			continue
		}
		mine := make([]byte, len(rx))
		u.spi.Transfer(tx, mine)
		for j := range rx {
			rx[j] &= mine[j]
		}
	}
	if rx != nil {
		miso, ok := bu.Pins["miso"]
		switch {
		case drivers == 0 || !ok || b.lines[miso].stuck == 1:
			fill(rx, 0xFF)
		case b.lines[miso].stuck == 0:
			clear(rx)
		case s.LSBFirst || s.Polarity != s.Phase:
			askew(s, rx)
		}
	}
	over := b.busy(&bu.free, bu.clocks(8*len(tx)))
	b.leave()
	return b.wait(ctx, over)
}

func fill(p []byte, v byte) {
	for i := range p {
		p[i] = v
	}
}

// askew makes of p, in place, what arrives when one side has the wrong idea of the bus: the other end of each byte first, or in the two
// modes that sample at the other edge everything a bit late. (Modes 0 and 3 look alike to a device of mode 0.)
func askew(s board.BusSettings, p []byte) []byte {
	carry := byte(1)
	for i, v := range p {
		if s.LSBFirst {
			v = bits.Reverse8(v)
		}
		if s.Polarity != s.Phase {
			v, carry = carry<<7|v>>1, v&1
		}
		p[i] = v
	}
	return p
}

// UARTWrite implements board.Buses. It takes everything.
func (b *Board) UARTWrite(i int, p []byte) (n int, err error) {
	bu, err := b.beginBus(i, "uart", true)
	if err != nil {
		return 0, err
	}
	defer b.leave()
	bu.sent += int64(len(p))
	if len(bu.units) == 0 || bu.units[0].gone || b.lines[bu.Pins["tx"]].stuck >= 0 {
		return len(p), nil
	}
	u := bu.units[0]
	if over := b.busy(&bu.free, bu.clocks(bu.frameBits()*len(p))); !over.IsZero() {
		late := slices.Clone(p)
		u.At(over.Add(b.skew), func() { u.uart.Receive(late) })
		return len(p), nil
	}
	u.uart.Receive(p)
	return len(p), nil
}

// frameBits is how many bits go over the wire for a byte.
func (bu *bus) frameBits() int {
	n := 1 + max(bu.set.Bits, 7) + max(bu.set.Stop, 1)
	if bu.set.Parity >= 0 {
		n++
	}
	return n
}

// send brings bytes from the device on a UART. Callers hold mu.
func (u *unit) send(p []byte) {
	if over := u.b.busy(&u.bus.rxFree, u.bus.clocks(u.bus.frameBits()*len(p))); !over.IsZero() {
		late := slices.Clone(p)
		u.At(over.Add(u.b.skew), func() { u.bus.receive(u.b, late) })
		return
	}
	u.bus.receive(u.b, p)
}

// receive takes bytes that have come on a UART. Callers hold mu.
func (bu *bus) receive(b *Board, p []byte) {
	if !bu.open || b.lines[bu.Pins["rx"]].stuck >= 0 {
		return
	}
	n := min(len(p), limits.SimUARTBytes-len(bu.rx))
	bu.rx = append(bu.rx, p[:n]...)
	bu.overruns += int64(len(p) - n)
	if bu.notify != nil && len(p) > 0 {
		bu.notify()
	}
}

// UARTRead implements board.Buses.
func (b *Board) UARTRead(i int, p []byte) (n int, err error) {
	bu, err := b.beginBus(i, "uart", true)
	if err != nil {
		return 0, err
	}
	defer b.leave()
	n = copy(p, bu.rx)
	bu.rx = bu.rx[:copy(bu.rx, bu.rx[n:])]
	return n, nil
}

// UARTAny implements board.Buses.
func (b *Board) UARTAny(i int) (n int, err error) {
	bu, err := b.beginBus(i, "uart", true)
	if err != nil {
		return 0, err
	}
	defer b.leave()
	return len(bu.rx), nil
}

// UARTNotify implements board.Buses.
func (b *Board) UARTNotify(i int, fn func()) error {
	bu, err := b.beginBus(i, "uart", true)
	if err != nil {
		return err
	}
	defer b.leave()
	b.notifies(bu, fn)
	return nil
}

func (b *Board) notifies(bu *bus, fn func()) {
	if (bu.notify == nil) != (fn == nil) {
		b.watchers++
		if fn == nil {
			b.watchers -= 2
		}
	}
	bu.notify = fn
}
