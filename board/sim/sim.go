// Package sim is the simulated bench: a board.Driver over registers in memory, with devices wired to its lines.
//
// # Model
//
// Each line has a mode, a bias and an output latch, as on a chip, and besides what the world does to it: a level forced
// from outside or a device. The level on a line follows from these by the rules of electricity in their simplest form: a
// driven output wins, then what is forced, then the bias, else 0. Everything happens in the call that causes it, so a run
// is repeatable: the same calls at the same times give the same levels, readings and edges.
//
// The world's side is [Board.Sim], behind `pal sim`.
//
// # What it refuses
//
// It knows no owners and no rules; package pin stands in front. It refuses to build a device it does not know.
package sim

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/pal-terminal/pal/board"
	"github.com/pal-terminal/pal/board/sim/adc"
	"github.com/pal-terminal/pal/board/sim/button"
	"github.com/pal-terminal/pal/board/sim/led"
	"github.com/pal-terminal/pal/board/sim/relay"
	"github.com/pal-terminal/pal/hw"
)

// Options of a Board. The zero value works.
type Options struct {
	Seed uint64           // of noise
	Now  func() time.Time // clock of waveforms and edges, time.Now when nil
	// Hook, when set, is called before every driver action on a pin ("configure", "set", "get", "adc"), without locks held. It may
	// wait, which makes a slow or hung driver, or return an error, which the action then returns.
	Hook func(action string, pin int) error
}

// Board is a simulated board. It implements board.Driver, board.Immediate and board.Simulator. Its methods are safe from
// any goroutine.
type Board struct {
	d       *board.Description
	o       Options
	devices []device // in the order of the description

	mu    sync.Mutex // guards lines, devices and closed; held while edges are reported, which keeps them in order
	lines []line
	done  bool
}

var errClosed = errors.New("the simulated board is closed")

// line is one pin's registers and surroundings.
type line struct {
	mode   hw.Mode
	pull   hw.Pull
	out    int // output latch
	forced int // level forced from outside, -1 for none
	stuck  int // fault: the line has this level whatever happens, -1 for none
	sink   sink
	source source
	adc    *adc.Input
	last   int // level last reported
	watch  []*watch
}

type watch struct {
	edges hw.Edges
	fn    func(rose bool, at time.Time)
}

// sink is a device that follows a line; source is one that can force its level.
type (
	sink   interface{ Drive(level int) }
	source interface {
		Line() (level int, forced bool)
	}
)

// device is what a bench can show and reset.
type device struct {
	board.Device
	reset func()
	state func(now time.Time) any
}

// New builds the simulated board that d describes. Lines start as a chip's do: not configured, outputs at 0.
func New(d *board.Description, o Options) (*Board, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	b := &Board{d: d, o: o, lines: make([]line, len(d.Pins))}
	for i := range b.lines {
		b.lines[i] = line{pull: d.Pins[i].Pull, forced: -1, stuck: -1, last: -1}
	}
	var errs []error
	for i, spec := range d.Devices {
		if err := b.wire(spec, o.Seed+uint64(i)); err != nil {
			errs = append(errs, fmt.Errorf("%s:%d:%d: device %s: %w", d.File, spec.At.Line, spec.At.Col, spec.Type, err))
		}
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	for i := range b.lines {
		b.settle(&b.lines[i])
	}
	return b, nil
}

// wire builds one device and puts it on its line.
func (b *Board) wire(spec board.Device, seed uint64) error {
	if spec.Pin < 0 {
		return errors.New("devices on buses come with a later version of the simulator")
	}
	if spec.Value != nil && spec.Type != "adc" {
		return errors.New("it has no value")
	}
	if at, ok := b.d.Lookup(spec.Name); ok && at != spec.Pin {
		return fmt.Errorf("its name %s is another pin's", spec.Name)
	}
	for _, other := range b.devices {
		if other.Name == spec.Name {
			return fmt.Errorf("its name %s is another device's", spec.Name)
		}
	}
	ln := &b.lines[spec.Pin]
	if ln.sink != nil || ln.source != nil || ln.adc != nil {
		return fmt.Errorf("%s has a device already", b.d.Pins[spec.Pin].Label())
	}
	dev := device{Device: spec}
	switch spec.Type {
	case "led":
		l := led.New()
		ln.sink, dev.reset, dev.state = l, l.Reset, func(time.Time) any { return l.State() }
	case "relay":
		r := relay.New()
		ln.sink, dev.reset, dev.state = r, r.Reset, func(time.Time) any { return r.State() }
	case "button":
		bt := button.New()
		ln.source, dev.reset, dev.state = bt, bt.Reset, func(time.Time) any { return bt.State() }
	case "adc":
		raw := 0
		if spec.Value != nil {
			raw = *spec.Value
		}
		in, err := adc.New(raw, seed)
		if err != nil {
			return err
		}
		ln.adc, dev.reset, dev.state = in, in.Reset, in.StateAt
	default:
		return errors.New("unknown type (known: adc button led relay)")
	}
	b.devices = append(b.devices, dev)
	return nil
}

// level returns the level on a line. Callers hold mu.
func (b *Board) level(ln *line) int {
	if ln.stuck >= 0 {
		return ln.stuck
	}
	if ln.mode == hw.ModeOut || ln.mode == hw.ModeOpenDrain && ln.out == 0 {
		return ln.out
	}
	if ln.source != nil {
		if level, forced := ln.source.Line(); forced {
			return level
		}
	}
	switch {
	case ln.forced >= 0:
		return ln.forced
	case ln.adc != nil:
		return ln.adc.Raw(b.o.Now()) / (adc.MaxRaw/2 + 1)
	case ln.pull == hw.PullUp:
		return 1
	}
	return 0
}

// settle brings a line's device and watchers up to date after a change. Callers hold mu.
func (b *Board) settle(ln *line) {
	level := b.level(ln)
	if level == ln.last {
		return
	}
	ln.last = level
	if ln.sink != nil {
		ln.sink.Drive(level)
	}
	edge := hw.EdgeFalling
	if level == 1 {
		edge = hw.EdgeRising
	}
	for _, w := range ln.watch {
		if w.edges&edge != 0 {
			w.fn(level == 1, b.o.Now())
		}
	}
}

// begin runs the hook, takes mu and returns the line of pin. When err is nil the caller unlocks mu.
func (b *Board) begin(action string, pin int) (*line, error) {
	if pin < 0 || pin >= len(b.lines) {
		return nil, fmt.Errorf("%s: pin index %d is outside the board", action, pin)
	}
	if b.o.Hook != nil {
		if err := b.o.Hook(action, pin); err != nil {
			return nil, fmt.Errorf("%s %s: %w", action, b.d.Pins[pin].Label(), err)
		}
	}
	b.mu.Lock()
	if b.done {
		b.mu.Unlock()
		return nil, errClosed
	}
	return &b.lines[pin], nil
}

// Configure implements board.Driver.
func (b *Board) Configure(pin int, mode hw.Mode, pull hw.Pull, level int) error {
	ln, err := b.begin("configure", pin)
	if err != nil {
		return err
	}
	defer b.mu.Unlock()
	ln.mode, ln.pull = mode, pull
	if mode == hw.ModeOut || mode == hw.ModeOpenDrain {
		ln.out = level & 1
	}
	b.settle(ln)
	return nil
}

// Set implements board.Driver.
func (b *Board) Set(pin, level int) error {
	ln, err := b.begin("set", pin)
	if err != nil {
		return err
	}
	defer b.mu.Unlock()
	if ln.mode != hw.ModeOut && ln.mode != hw.ModeOpenDrain {
		return fmt.Errorf("set %s: it is no output", b.d.Pins[pin].Label())
	}
	ln.out = level & 1
	b.settle(ln)
	return nil
}

// Get implements board.Driver.
func (b *Board) Get(pin int) (int, error) {
	ln, err := b.begin("get", pin)
	if err != nil {
		return 0, err
	}
	defer b.mu.Unlock()
	return b.level(ln), nil
}

// ReadADC implements board.Driver. A pin without an adc device reads as its digital level at full scale.
func (b *Board) ReadADC(pin int) (raw int, microvolts int64, err error) {
	ln, err := b.begin("adc", pin)
	if err != nil {
		return 0, 0, err
	}
	defer b.mu.Unlock()
	switch {
	case !b.d.Pins[pin].Can.Has(board.CapADC):
		return 0, 0, fmt.Errorf("adc %s: it is no analogue input", b.d.Pins[pin].Label())
	case ln.adc != nil && ln.stuck < 0 && ln.forced < 0:
		raw = ln.adc.Raw(b.o.Now())
	default:
		raw = b.level(ln) * adc.MaxRaw
	}
	return raw, adc.Microvolts(raw), nil
}

// Watch implements board.Driver. Waveforms make no edges: they have no moment of change.
func (b *Board) Watch(pin int, edges hw.Edges, fn func(rose bool, at time.Time)) (cancel func(), err error) {
	ln, err := b.begin("watch", pin)
	if err != nil {
		return nil, err
	}
	defer b.mu.Unlock()
	w := &watch{edges: edges, fn: fn}
	ln.watch = append(ln.watch, w)
	return func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		for i := range ln.watch {
			if ln.watch[i] == w {
				ln.watch = append(ln.watch[:i:i], ln.watch[i+1:]...)
				return
			}
		}
	}, nil
}

// Immediate implements board.Immediate: memory only, unless a hook may wait.
func (b *Board) Immediate() bool { return b.o.Hook == nil }

// Halt implements board.Driver: every output lets its line go.
func (b *Board) Halt() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i := range b.lines {
		ln := &b.lines[i]
		if ln.mode == hw.ModeOut || ln.mode == hw.ModeOpenDrain {
			ln.mode = hw.ModeNone
			b.settle(ln)
		}
	}
	return nil
}

// Close implements board.Driver.
func (b *Board) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.done = true
	return nil
}
