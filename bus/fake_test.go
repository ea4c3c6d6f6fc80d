package bus

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/pal-terminal/pal/board"
	"github.com/pal-terminal/pal/board/boardtest"
	"github.com/pal-terminal/pal/board/load"
	"github.com/pal-terminal/pal/hw"
)

const testBoard = `board: buses
mode: open
pins:
  - {id: 0, name: SYS_D, owner: system}
  - {id: 1, name: SYS_C, owner: system}
  - {id: 6, name: SDA, owner: agent, can: [in, open_drain, i2c], safe: high, pull: up}
  - {id: 7, name: SCL, owner: agent, can: [in, open_drain, i2c], safe: high, pull: up}
  - {id: 8, name: SDA_1, owner: agent, can: [in, open_drain, i2c], safe: high, pull: up}
  - {id: 9, name: SCL_1, owner: agent, can: [in, open_drain, i2c], safe: high, pull: up}
  - {id: 10, name: SCK, owner: agent, can: [out, spi], safe: low}
  - {id: 11, name: MOSI, owner: agent, can: [out, spi], safe: low}
  - {id: 12, name: MISO, owner: agent, can: [in, spi]}
  - {id: 13, name: CS, owner: agent, can: [out, spi], safe: high}
  - {id: 17, name: TX, owner: agent, can: [out, uart], safe: high}
  - {id: 18, name: RX, owner: agent, can: [in, uart], pull: up}
  - {id: 20, name: LED, owner: agent, can: [in, out, pwm], safe: low}
  - {id: 21, name: ENC_A, owner: agent, can: [in, encoder]}
  - {id: 22, name: ENC_B, owner: agent, can: [in, encoder]}
  - {id: 23, name: FLOW, owner: agent, can: [in, out, count], safe: low}
  - {id: 24, name: STRIP, owner: agent, can: [out, bitstream], safe: low}
  - {id: 25, name: WIRE, owner: agent, can: [in, open_drain, onewire], safe: high, pull: up}
  - {id: 26, name: PROBE, owner: agent, can: [in, open_drain, onewire], safe: high, pull: up}
  - {id: 27, name: KEY, owner: agent, can: [in]}
  - {id: 28, name: ADC, owner: agent, can: [adc]}
buses:
  - {i2c: 0, sda: SDA, scl: SCL, owner: agent}
  - {i2c: 1, sda: SDA_1, scl: SCL_1, owner: agent}
  - {i2c: 2, sda: SYS_D, scl: SYS_C, owner: system}
  - {spi: 1, sck: SCK, mosi: MOSI, miso: MISO, cs: CS, owner: agent}
  - {uart: 1, tx: TX, rx: RX, owner: agent}
drivers: {kind: sim}
`

// The buses of testBoard by handle.
const (
	i2c0 = iota
	i2c1
	i2c2
	spi1
	uart1
)

// Addresses of devices on every I2C bus of the fake.
const (
	expander = 0x20 // eight outputs that take any byte, like a PCF8574
	deaf     = 0x30 // acknowledges its address and no data
)

// fake is the plainest driver that does everything. act, when set, is called before each use of a bus or timed protocol, without
// locks: it may wait or fail.
type fake struct {
	d      *board.Description
	direct bool

	mu     sync.Mutex // guards what follows
	act    func(ctx context.Context, what string) error
	closed bool
	lines  []fakeLine
	open   map[int]board.BusSettings
	held   map[int]bool // by a device; lets go after Recover unless frozen
	frozen bool
	latch  byte   // of the expander
	wrote  []byte // every byte that left the board
	uart   []byte
	notify func()
	log    []string
}

type fakeLine struct {
	mode   hw.Mode
	level  int
	forced int
	watch  map[int]func(bool, time.Time)
	next   int
}

func newFake(d *board.Description, direct bool) *fake {
	return &fake{d: d, direct: direct, lines: make([]fakeLine, len(d.Pins)), open: map[int]board.BusSettings{}, held: map[int]bool{}}
}

func (f *fake) Immediate() bool { return f.direct }

// enter calls act, and then locks if there is no error.
func (f *fake) enter(ctx context.Context, what string, pin int) error {
	f.mu.Lock()
	act := f.act
	f.mu.Unlock()
	if act != nil {
		if err := act(ctx, what); err != nil {
			return err
		}
	}
	f.mu.Lock()
	if f.closed || pin < 0 || pin >= len(f.lines) {
		f.mu.Unlock()
		return fmt.Errorf("%s %d: closed or no such pin", what, pin)
	}
	return nil
}

func (f *fake) level(pin int) int {
	ln := &f.lines[pin]
	if ln.mode == hw.ModeOut || ln.mode == hw.ModePWM || ln.mode == hw.ModeOpenDrain {
		return ln.level
	}
	return ln.forced
}

func (f *fake) Configure(pin int, mode hw.Mode, _ hw.Pull, level int) error {
	if err := f.enter(context.Background(), "configure", pin); err != nil {
		return err
	}
	defer f.mu.Unlock()
	f.lines[pin].mode, f.lines[pin].level = mode, level
	return nil
}

func (f *fake) Set(pin, level int) error {
	if err := f.enter(context.Background(), "set", pin); err != nil {
		return err
	}
	defer f.mu.Unlock()
	if m := f.lines[pin].mode; m != hw.ModeOut && m != hw.ModeOpenDrain {
		return errors.New("no output")
	}
	f.lines[pin].level = level
	return nil
}

func (f *fake) Get(pin int) (int, error) {
	if err := f.enter(context.Background(), "get", pin); err != nil {
		return 0, err
	}
	defer f.mu.Unlock()
	return f.level(pin), nil
}

func (f *fake) ReadADC(pin int) (int, int64, error) {
	if err := f.enter(context.Background(), "adc", pin); err != nil {
		return 0, 0, err
	}
	defer f.mu.Unlock()
	if !f.d.Pins[pin].Can.Has(board.CapADC) {
		return 0, 0, errors.New("no analogue input")
	}
	return 100, 80_000, nil
}

func (f *fake) Watch(pin int, edges hw.Edges, fn func(bool, time.Time)) (func(), error) {
	if err := f.enter(context.Background(), "watch", pin); err != nil {
		return nil, err
	}
	defer f.mu.Unlock()
	ln := &f.lines[pin]
	if ln.watch == nil {
		ln.watch = map[int]func(bool, time.Time){}
	}
	ln.next++
	key := ln.next
	ln.watch[key] = func(rose bool, at time.Time) {
		if rose && edges&hw.EdgeRising != 0 || !rose && edges&hw.EdgeFalling != 0 {
			fn(rose, at)
		}
	}
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(ln.watch, key)
	}, nil
}

// force gives a line a level from outside.
func (f *fake) force(pin, level int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	before := f.level(pin)
	f.lines[pin].forced = level
	if now := f.level(pin); now != before {
		for _, fn := range f.lines[pin].watch {
			fn(now == 1, time.Now())
		}
	}
}

func (f *fake) Halt() error { return nil }

func (f *fake) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	return nil
}

func (f *fake) PWM(pin int, freq int64, duty int) error {
	if err := f.enter(context.Background(), "pwm", pin); err != nil {
		return err
	}
	defer f.mu.Unlock()
	f.lines[pin].mode, f.lines[pin].level = hw.ModePWM, duty/65_535
	return nil
}

func (f *fake) OpenBus(bus int, s board.BusSettings) error {
	if bus < 0 || bus >= len(f.d.Buses) {
		return errors.New("no such bus")
	}
	if err := f.enter(context.Background(), "open", 0); err != nil {
		return err
	}
	defer f.mu.Unlock()
	f.open[bus] = s
	f.log = append(f.log, fmt.Sprintf("open %s at %d", f.d.Buses[bus].Name(), s.Hz))
	return nil
}

func (f *fake) CloseBus(bus int) error {
	if err := f.enter(context.Background(), "close", 0); err != nil {
		return err
	}
	defer f.mu.Unlock()
	delete(f.open, bus)
	f.log = append(f.log, "close "+f.d.Buses[bus].Name())
	return nil
}

// transfer enters a transfer on an open bus.
func (f *fake) transfer(ctx context.Context, what string, bus int) error {
	if err := f.enter(ctx, what, 0); err != nil {
		return err
	}
	if _, ok := f.open[bus]; !ok {
		f.mu.Unlock()
		return errors.New("the bus is not open")
	}
	return nil
}

func (f *fake) I2C(ctx context.Context, bus int, addr uint16, _ int64, w, r []byte) (int, error) {
	if err := f.transfer(ctx, "i2c", bus); err != nil {
		return 0, err
	}
	defer f.mu.Unlock()
	switch {
	case f.held[bus]:
		return 0, board.ErrHeld
	case addr == deaf:
		return 0, nil
	case addr != expander:
		return 0, board.ErrNoDevice
	}
	f.wrote = append(f.wrote, w...)
	if len(w) > 0 {
		f.latch = w[len(w)-1]
	}
	for i := range r {
		r[i] = f.latch
	}
	return len(w), nil
}

func (f *fake) SPI(ctx context.Context, bus int, tx, rx []byte) error {
	if err := f.transfer(ctx, "spi", bus); err != nil {
		return err
	}
	defer f.mu.Unlock()
	f.wrote = append(f.wrote, tx...)
	copy(rx, tx)
	return nil
}

func (f *fake) UARTWrite(bus int, p []byte) (int, error) {
	if err := f.transfer(context.Background(), "uart", bus); err != nil {
		return 0, err
	}
	f.wrote = append(f.wrote, p...)
	f.uart = append(f.uart, p...)
	notify := f.notify
	f.mu.Unlock()
	if notify != nil {
		notify()
	}
	return len(p), nil
}

func (f *fake) UARTRead(bus int, p []byte) (int, error) {
	if err := f.transfer(context.Background(), "uart", bus); err != nil {
		return 0, err
	}
	defer f.mu.Unlock()
	n := copy(p, f.uart)
	f.uart = f.uart[n:]
	return n, nil
}

func (f *fake) UARTAny(bus int) (int, error) {
	if err := f.transfer(context.Background(), "uart", bus); err != nil {
		return 0, err
	}
	defer f.mu.Unlock()
	return len(f.uart), nil
}

func (f *fake) UARTNotify(_ int, fn func()) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.notify = fn
	return nil
}

func (f *fake) Recover(bus int) error {
	if err := f.enter(context.Background(), "recover", 0); err != nil {
		return err
	}
	defer f.mu.Unlock()
	f.log = append(f.log, "recover "+f.d.Buses[bus].Name())
	if f.frozen {
		return board.ErrHeld
	}
	f.held[bus] = false
	return nil
}

func (f *fake) Pulse(ctx context.Context, pin, level int, timeout time.Duration) (time.Duration, error) {
	if err := f.enter(ctx, "pulse", pin); err != nil {
		return 0, err
	}
	defer f.mu.Unlock()
	switch {
	case f.level(pin) == level:
		return notEnded, nil
	case timeout < time.Millisecond:
		return notBegun, nil
	case f.lines[pin].watch != nil: // the sign of an echo
		return 580 * time.Microsecond, nil
	}
	return notBegun, nil
}

func (f *fake) Bitstream(pin int, _ [4]uint32, data []byte) error {
	if err := f.enter(context.Background(), "bits", pin); err != nil {
		return err
	}
	defer f.mu.Unlock()
	f.wrote = append(f.wrote, data...)
	f.lines[pin].level = 0
	return nil
}

func (f *fake) DHT(ctx context.Context, pin int) ([5]byte, error) {
	if err := f.enter(ctx, "dht", pin); err != nil {
		return [5]byte{}, err
	}
	defer f.mu.Unlock()
	if f.d.Pins[pin].Name != "PROBE" {
		return [5]byte{}, board.ErrNoDevice
	}
	return [5]byte{2, 0x8c, 0, 0xe6, 0x74}, nil
}

func (f *fake) OneWire(ctx context.Context, pin int, op int64, w, r []byte, bit int) (int, error) {
	if err := f.enter(ctx, "onewire", pin); err != nil {
		return 0, err
	}
	defer f.mu.Unlock()
	f.lines[pin].mode = hw.ModeIn // as bit-banging leaves a line
	f.wrote = append(f.wrote, w...)
	for i := range r {
		r[i] = 0x28
	}
	if op == hw.OneWireReset && f.d.Pins[pin].Name != "PROBE" {
		return 0, nil
	}
	return max(bit, 0) | 1, nil
}

func parse(t testing.TB, src string) *board.Description {
	t.Helper()
	d, err := load.Bytes("buses.yaml", []byte(src), nil)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestFakeKeepsTheContract: what is tested on the fake is worth something only if the fake is a driver.
func TestFakeKeepsTheContract(t *testing.T) {
	boardtest.Run(t, func(t *testing.T) boardtest.Bench {
		f := newFake(parse(t, testBoard), true)
		in, _ := f.d.Lookup("KEY")
		return boardtest.Bench{
			Board: f.d, Driver: f, Out: "LED", In: "KEY", ADC: "ADC", Force: func(level int) { f.force(in, level) }, PWM: "LED",
			I2C: &boardtest.I2C{Bus: i2c0, Present: expander, Absent: 0x21, Write: []byte{1, 2}, Hold: func(on bool) {
				f.mu.Lock()
				defer f.mu.Unlock()
				f.held[i2c0] = on
			}},
			SPI:   &boardtest.SPI{Bus: spi1, Send: []byte{0x00, 0xA5, 0xFF, 0x01}, Want: []byte{0x00, 0xA5, 0xFF, 0x01}},
			UART:  &boardtest.Wire{Bus: uart1},
			Timed: &boardtest.Timed{Bits: "STRIP", Silent: "WIRE", OneWire: "PROBE", Pulse: "KEY"},
		}
	})
}
