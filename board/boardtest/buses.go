package boardtest

import (
	"bytes"
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pal-terminal/pal/board"
	"github.com/pal-terminal/pal/hw"
)

// I2C is a bus with a device that a test may write to and read from.
type I2C struct {
	Bus     int        // index in the description
	Present uint16     // address of the device
	Absent  uint16     // an address where nobody is
	Write   []byte     // all of it acknowledged by the device
	Hold    func(bool) // has a device hold the data line down, or let it go; nil when the bench cannot
}

// SPI is a bus with a device whose answer is known, or with a wire from MOSI to MISO: then Want is what is sent.
type SPI struct {
	Bus    int
	Select string // an output, low while the device is selected; empty for a wire
	Send   []byte
	Want   []byte // as long as Send
}

// Wire is a UART whose output comes back as input: TX on RX.
type Wire struct {
	Bus int
}

// Timed are lines for timed protocols. Empty ones are not tested.
type Timed struct {
	Bits    string // takes a bit stream
	Silent  string // a one-wire line where nobody is
	OneWire string // a one-wire line with a device
	Pulse   string // an input that Force gives levels (Bench.In); its pulses are measured
}

// settings that every driver can do.
var settings = board.BusSettings{Hz: 100_000, Bits: 8, Parity: -1, Stop: 1}

func testPWM(t *testing.T, b Bench) {
	if b.PWM == "" {
		return
	}
	p, ok := b.Driver.(board.PWM)
	if !ok {
		t.Fatal("the bench names a PWM output, but the driver has no PWM")
	}
	out := b.pin(t, b.PWM)
	must(t, b.Driver.Configure(out, hw.ModeOut, hw.PullNone, 0))
	must(t, p.PWM(out, 1000, 32_768))
	for duty, level := range map[int]int{0: 0, 65_535: 1} {
		must(t, p.PWM(out, 1000, duty))
		if got := get(t, b.Driver, out); got != level {
			t.Errorf("duty %d: got level %d want %d", duty, got, level)
		}
	}
	for level := range 2 {
		must(t, p.PWM(out, 40_000_000, 1))
		must(t, b.Driver.Configure(out, hw.ModeOut, hw.PullNone, level))
		if got := get(t, b.Driver, out); got != level {
			t.Errorf("configured after PWM: got level %d want %d", got, level)
		}
		must(t, b.Driver.Set(out, 1-level))
		if got := get(t, b.Driver, out); got != 1-level {
			t.Errorf("set after PWM: got level %d want %d", got, 1-level)
		}
	}
	for _, pin := range []int{-1, len(b.Board.Pins)} {
		if err := p.PWM(pin, 1000, 1); err == nil {
			t.Errorf("PWM of pin %d: got no error", pin)
		}
	}
}

// buses returns the driver's buses, nil when the bench has none of this kind.
func buses(t *testing.T, b Bench, there bool) board.Buses {
	t.Helper()
	if !there {
		return nil
	}
	d, ok := b.Driver.(board.Buses)
	if !ok {
		t.Fatal("the bench names a bus, but the driver reaches none")
	}
	return d
}

func testI2C(t *testing.T, b Bench) {
	d := buses(t, b, b.I2C != nil)
	if d == nil {
		return
	}
	ctx, bus := t.Context(), b.I2C.Bus
	if _, err := d.I2C(ctx, bus, b.I2C.Present, 0, nil, nil); err == nil {
		t.Error("a transfer before OpenBus: got no error")
	}
	must(t, d.OpenBus(bus, settings))
	fast := settings
	fast.Hz = 400_000
	must(t, d.OpenBus(bus, fast))
	if _, err := d.I2C(ctx, bus, b.I2C.Present, 0, nil, nil); err != nil {
		t.Errorf("asking the device: %v", err)
	}
	if _, err := d.I2C(ctx, bus, b.I2C.Absent, 0, nil, nil); !errors.Is(err, board.ErrNoDevice) {
		t.Errorf("asking nobody: got %v want %v", err, board.ErrNoDevice)
	}
	if n, err := d.I2C(ctx, bus, b.I2C.Present, 0, b.I2C.Write, nil); err != nil || n != len(b.I2C.Write) {
		t.Errorf("write: got %d acknowledged, %v, want %d", n, err, len(b.I2C.Write))
	}
	if _, err := d.I2C(ctx, bus, b.I2C.Present, 0, b.I2C.Write, make([]byte, 2)); err != nil {
		t.Errorf("write and read: %v", err)
	}
	must(t, d.Recover(bus)) // of a bus that is well does no harm
	if _, err := d.I2C(ctx, bus, b.I2C.Present, 0, nil, nil); err != nil {
		t.Errorf("after Recover: %v", err)
	}
	if b.I2C.Hold != nil {
		testHeld(t, b, d)
	}
	must(t, d.CloseBus(bus))
	if _, err := d.I2C(ctx, bus, b.I2C.Present, 0, nil, nil); err == nil {
		t.Error("a transfer after CloseBus: got no error")
	}
	for _, bus := range []int{-1, len(b.Board.Buses)} {
		if err := d.OpenBus(bus, settings); err == nil {
			t.Errorf("OpenBus(%d): got no error", bus)
		}
	}
}

// testHeld: a bus that is held down is told as such, or the time given to the transfer runs out; never does it succeed or block.
func testHeld(t *testing.T, b Bench, d board.Buses) {
	b.I2C.Hold(true)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	start := time.Now()
	_, err := d.I2C(ctx, b.I2C.Bus, b.I2C.Present, 0, b.I2C.Write, nil)
	if !errors.Is(err, board.ErrHeld) && !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("on a held bus: got %v want %v", err, board.ErrHeld)
	}
	if took := time.Since(start); took > patience {
		t.Errorf("on a held bus: got an answer after %s", took)
	}
	b.I2C.Hold(false)
	must(t, d.Recover(b.I2C.Bus))
	if _, err := d.I2C(t.Context(), b.I2C.Bus, b.I2C.Present, 0, b.I2C.Write, nil); err != nil {
		t.Errorf("after it was let go: %v", err)
	}
}

func testSPI(t *testing.T, b Bench) {
	d := buses(t, b, b.SPI != nil)
	if d == nil {
		return
	}
	bus, sent := b.SPI.Bus, b.SPI.Send
	if err := d.SPI(t.Context(), bus, sent, nil); err == nil {
		t.Error("a transfer before OpenBus: got no error")
	}
	must(t, d.OpenBus(bus, settings))
	for range 2 {
		got := make([]byte, len(sent))
		transfer := func() { must(t, d.SPI(t.Context(), bus, sent, got)) }
		if b.SPI.Select != "" {
			selected(t, b, transfer)
		} else {
			transfer()
		}
		if !bytes.Equal(got, b.SPI.Want) {
			t.Errorf("sent % x: got % x want % x", sent, got, b.SPI.Want)
		}
	}
	must(t, d.SPI(t.Context(), bus, sent, nil))
	must(t, d.SPI(t.Context(), bus, nil, nil))
	must(t, d.CloseBus(bus))
	if err := d.SPI(t.Context(), bus, sent, nil); err == nil {
		t.Error("a transfer after CloseBus: got no error")
	}
}

// selected transfers while the SPI device is selected, and only then.
func selected(t *testing.T, b Bench, transfer func()) {
	t.Helper()
	cs := b.pin(t, b.SPI.Select)
	must(t, b.Driver.Configure(cs, hw.ModeOut, hw.PullNone, 1))
	must(t, b.Driver.Set(cs, 0))
	transfer()
	must(t, b.Driver.Set(cs, 1))
}

func testUART(t *testing.T, b Bench) {
	d := buses(t, b, b.UART != nil)
	if d == nil {
		return
	}
	bus := b.UART.Bus
	must(t, d.OpenBus(bus, settings))
	came := make(chan struct{}, 16)
	must(t, d.UARTNotify(bus, func() {
		select {
		case came <- struct{}{}:
		default:
		}
	}))
	sent := []byte("\x00PAL\x03\xff")
	n, err := d.UARTWrite(bus, sent)
	if err != nil || n != len(sent) {
		t.Fatalf("UARTWrite: got %d, %v", n, err)
	}
	var got []byte
	deadline := time.After(patience)
	for len(got) < len(sent) {
		select {
		case <-came:
		case <-deadline:
			t.Fatalf("got % x in %s, want % x", got, patience, sent)
		}
		waiting, err := d.UARTAny(bus)
		must(t, err)
		p := make([]byte, 16)
		n, err := d.UARTRead(bus, p)
		must(t, err)
		if n < waiting {
			t.Errorf("UARTRead: got %d of %d bytes that had come", n, waiting)
		}
		got = append(got, p[:n]...)
	}
	if diff := cmp.Diff(sent, got); diff != "" {
		t.Error(diff)
	}
	if n, err := d.UARTRead(bus, make([]byte, 4)); n != 0 || err != nil {
		t.Errorf("nothing more has come: got %d, %v", n, err)
	}
	must(t, d.UARTNotify(bus, nil))
	must(t, d.CloseBus(bus))
	if _, err := d.UARTWrite(bus, sent); err == nil {
		t.Error("UARTWrite after CloseBus: got no error")
	}
}

func testTimed(t *testing.T, b Bench) {
	if b.Timed == nil {
		return
	}
	d, ok := b.Driver.(board.Timed)
	if !ok {
		t.Fatal("the bench names lines of timed protocols, but the driver has none")
	}
	ctx := t.Context()
	if b.Timed.Bits != "" {
		out := b.pin(t, b.Timed.Bits)
		must(t, b.Driver.Configure(out, hw.ModeOut, hw.PullNone, 0))
		must(t, d.Bitstream(out, [4]uint32{400, 850, 800, 450}, []byte{1, 2, 3}))
		if got := get(t, b.Driver, out); got != 0 {
			t.Errorf("after a bit stream: got level %d", got)
		}
	}
	for name, want := range map[string]int{b.Timed.Silent: 0, b.Timed.OneWire: 1} {
		if name == "" {
			continue
		}
		if got, err := d.OneWire(ctx, b.pin(t, name), hw.OneWireReset, nil, nil, 0); err != nil || got != want {
			t.Errorf("one-wire reset on %s: got %d, %v, want %d", name, got, err, want)
		}
	}
	if b.Timed.Silent != "" {
		if _, err := d.DHT(ctx, b.pin(t, b.Timed.Silent)); err == nil {
			t.Error("DHT where nobody is: got no error")
		}
	}
	if b.Timed.Pulse != "" {
		in := b.pin(t, b.Timed.Pulse)
		must(t, b.Driver.Configure(in, hw.ModeIn, hw.PullNone, 0))
		for level, want := range map[int]time.Duration{0: -2, 1: -1} {
			b.Force(level)
			waitLevel(t, b.Driver, in, level)
			if got, err := d.Pulse(ctx, in, 1, 10*time.Millisecond); err != nil || got != want {
				t.Errorf("pulse on a line that stays at %d: got %d, %v, want %d", level, got, err, want)
			}
		}
	}
}
