// Package sim is the simulated bench: a board.Driver over registers in memory, with devices on its lines and buses.
//
// # Model
//
// Each line has a mode, a bias and an output latch, as on a chip, and besides what the world does to it: a fault, a device, a
// level forced from outside. The level on a line follows from these by the rules of electricity in their simplest form: a
// driven output wins, then a device, then what is forced, then the bias, else 0.
//
// A device is built from the board file (see package device) and hangs on lines, on an I2C or SPI bus or on a UART. What it does later
// stands on the bench's agenda. The agenda is brought up to the present at the start of every access, and by one timer besides, so a
// device can be late for the host but never for the program: what is read is what the device would show at that time. Edges carry the
// time at which they were due. The same calls at the same times with the same seed give the same levels, readings and edges.
//
// Transfers take no time unless the board file says "timing: real"; then they take what they would on a wire.
//
// The world's side is [Board.Sim], behind `pal sim`.
//
// # What it refuses
//
// It knows no owners and no rules; packages pin and bus stand in front. It refuses to build a device it does not know. It reports
// no edges of PWM and waveforms, which have no moments of change here, and none of transfers on buses.
package sim

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/pal-terminal/pal/board"
	"github.com/pal-terminal/pal/board/sim/adc"
	"github.com/pal-terminal/pal/board/sim/device"
	"github.com/pal-terminal/pal/hw"
)

// Options of a Board. The zero value works.
type Options struct {
	Seed uint64           // of everything that is random; 0: the board file's
	Now  func() time.Time // clock of the bench, time.Now when nil
	// Hook, when set, is called before every driver action on a pin ("configure", "set", "get", "adc", "pwm", …) or, with a bus's first
	// line, on a bus ("i2c", "spi", "uart"), without locks held. It may wait, which makes a slow or hung driver, or return an
	// error, which the action then returns.
	Hook func(action string, pin int) error
}

// Board is a simulated board. It implements every interface of package board that a driver can. Its methods are safe from any
// goroutine.
type Board struct {
	d     *board.Description
	o     Options
	units []*unit // in the order of the description

	mu       sync.Mutex // guards what follows and all devices; held while edges are reported, which keeps them in order
	lines    []line
	buses    []bus
	watchers int // of lines and UARTs
	forcing  *unit
	skew     time.Duration // of the devices' clocks, a fault
	show     *show         // the running scenario
	done     bool

	agenda  queue
	seq     uint64
	at      time.Time // see now
	sampled bool
	timer   *time.Timer
	armed   time.Time      // what timer is set to, zero when it is not
	firing  sync.WaitGroup // calls of fire to come
}

var errClosed = errors.New("the simulated board is closed")

// line is one pin's registers and surroundings.
type line struct {
	mode   hw.Mode
	pull   hw.Pull
	out    int       // output latch
	freq   int64     // of PWM, in Hz
	duty   int       // of PWM, 0 to fullDuty
	since  time.Time // when the first period of PWM began
	forced int       // level forced from outside, -1 for none
	stuck  int       // fault: the line has this level whatever happens, -1 for none
	held   bool      // fault: a device on the bus holds the line down
	driven int       // level that devices give the line, -1 for none
	idle   int       // level of an open bus's line between transfers, -1 for the bias
	analog *tap
	taps   []tap
	last   int // level last reported
	watch  []*watch
}

const fullDuty = 65_535

type watch struct {
	edges hw.Edges
	fn    func(rose bool, at time.Time)
}

// tap is a device's connection to a line.
type tap struct {
	u      *unit
	role   int // number of the line among the device's
	level  int // that the device forces, -1 for none
	follow interface{ Drive(role, level int) }
}

// New builds the simulated board that d describes. Lines start as a chip's do: not configured, outputs at 0. The error is a
// board.Problems: all that is wrong with the devices.
func New(d *board.Description, o Options) (*Board, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Seed == 0 {
		o.Seed = d.Driver.Seed
	}
	b := &Board{d: d, o: o, lines: make([]line, len(d.Pins)), buses: make([]bus, len(d.Buses))}
	for i := range b.lines {
		b.lines[i] = line{pull: d.Pins[i].Pull, forced: -1, stuck: -1, driven: -1, idle: -1, last: -1}
	}
	for i := range b.buses {
		b.buses[i].Bus = &d.Buses[i]
	}
	b.mu.Lock()
	defer b.leave()
	var problems board.Problems
	for i, spec := range d.Devices {
		if err := b.wire(i, spec); err != nil {
			problems = append(problems, board.Problem{File: d.File, Pos: spec.At, Message: "device " + spec.Type + ": " + err.Error()})
		}
	}
	if len(problems) > 0 {
		b.done, b.agenda = true, nil
		return nil, problems
	}
	for _, u := range b.units {
		u.power()
	}
	for i := range b.lines {
		b.settle(&b.lines[i])
	}
	return b, nil
}

// level returns the level on a line. Callers hold mu.
func (b *Board) level(ln *line) int {
	switch {
	case ln.stuck >= 0:
		return ln.stuck
	case ln.mode == hw.ModeOut, ln.mode == hw.ModeOpenDrain && ln.out == 0:
		return ln.out
	case ln.mode == hw.ModePWM:
		return ln.chopped(b)
	case ln.held:
		return 0
	case ln.driven >= 0:
		return ln.driven
	case ln.forced >= 0:
		return ln.forced
	case ln.analog != nil && !ln.analog.u.gone:
		return ln.analog.u.analog.Raw(ln.analog.role) / (adc.MaxRaw/2 + 1)
	case ln.idle >= 0:
		return ln.idle
	case ln.pull == hw.PullUp:
		return 1
	}
	return 0
}

// settle brings a line's devices and watchers up to date after a change. Callers hold mu.
func (b *Board) settle(ln *line) {
	if ln.mode == hw.ModePWM && ln.stuck < 0 {
		return // see PWM
	}
	level := b.level(ln)
	if level == ln.last {
		return
	}
	ln.last = level
	if len(ln.watch) > 0 {
		edge, at := hw.EdgeFalling, b.now()
		if level == 1 {
			edge = hw.EdgeRising
		}
		for _, w := range ln.watch {
			if w.edges&edge != 0 {
				w.fn(level == 1, at)
			}
		}
	}
	for i := range ln.taps {
		if t := &ln.taps[i]; t.follow != nil && !t.u.gone && t.u != b.forcing {
			t.follow.Drive(t.role, level)
		}
	}
}

// begin runs the hook, takes mu and returns the line of pin. When err is nil the caller calls leave.
func (b *Board) begin(action string, pin int) (*line, error) {
	if pin < 0 || pin >= len(b.lines) {
		return nil, fmt.Errorf("%s: pin index %d is outside the board", action, pin)
	}
	if b.o.Hook != nil {
		if err := b.o.Hook(action, pin); err != nil {
			return nil, fmt.Errorf("%s %s: %w", action, b.d.Pins[pin].Label(), err)
		}
	}
	if err := b.enter(); err != nil {
		return nil, err
	}
	return &b.lines[pin], nil
}

// Configure implements board.Driver.
func (b *Board) Configure(pin int, mode hw.Mode, pull hw.Pull, level int) error {
	ln, err := b.begin("configure", pin)
	if err != nil {
		return err
	}
	defer b.leave()
	chopped := ln.mode == hw.ModePWM
	ln.mode, ln.pull = mode, pull
	if mode == hw.ModeOut || mode == hw.ModeOpenDrain {
		ln.out = level & 1
	}
	if chopped {
		b.tellPWM(ln)
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
	defer b.leave()
	if !ln.output() {
		return fmt.Errorf("set %s: it is no output", b.d.Pins[pin].Label())
	}
	ln.out = level & 1
	b.settle(ln)
	return nil
}

func (ln *line) output() bool { return ln.mode == hw.ModeOut || ln.mode == hw.ModeOpenDrain }

// Get implements board.Driver.
func (b *Board) Get(pin int) (int, error) {
	ln, err := b.begin("get", pin)
	if err != nil {
		return 0, err
	}
	defer b.leave()
	return b.level(ln), nil
}

// ReadADC implements board.Driver. A pin without an analogue device reads as its digital level at full scale.
func (b *Board) ReadADC(pin int) (raw int, microvolts int64, err error) {
	ln, err := b.begin("adc", pin)
	if err != nil {
		return 0, 0, err
	}
	defer b.leave()
	switch {
	case !b.d.Pins[pin].Can.Has(board.CapADC):
		return 0, 0, fmt.Errorf("adc %s: it is no analogue input", b.d.Pins[pin].Label())
	case ln.analog != nil && !ln.analog.u.gone && ln.stuck < 0 && ln.forced < 0:
		raw = ln.analog.u.analog.Raw(ln.analog.role)
	default:
		raw = b.level(ln) * adc.MaxRaw
	}
	return raw, adc.Microvolts(raw), nil
}

// Watch implements board.Driver.
func (b *Board) Watch(pin int, edges hw.Edges, fn func(rose bool, at time.Time)) (cancel func(), err error) {
	ln, err := b.begin("watch", pin)
	if err != nil {
		return nil, err
	}
	defer b.leave()
	return b.watch(ln, &watch{edges: edges, fn: fn}), nil
}

// watch adds a watch to a line and returns how to end it. Callers hold mu; callers of what it returns do not.
func (b *Board) watch(ln *line, w *watch) (cancel func()) {
	ln.watch = append(ln.watch, w)
	b.watchers++
	return func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		for i := range ln.watch {
			if ln.watch[i] == w {
				ln.watch = append(ln.watch[:i:i], ln.watch[i+1:]...)
				b.watchers--
				return
			}
		}
	}
}

// Immediate implements board.Immediate: memory only, unless a hook or a wire may make it wait.
func (b *Board) Immediate() bool { return b.o.Hook == nil && !b.d.Driver.Real }

// Halt implements board.Driver: every output lets its line go.
func (b *Board) Halt() error {
	if err := b.enter(); err != nil {
		return nil //nolint:nilerr // what is closed drives nothing
	}
	defer b.leave()
	for i := range b.lines {
		ln := &b.lines[i]
		if ln.output() || ln.mode == hw.ModePWM {
			chopped := ln.mode == hw.ModePWM
			ln.mode = hw.ModeNone
			if chopped {
				b.tellPWM(ln)
			}
			b.settle(ln)
		}
	}
	return nil
}

// Close implements board.Driver. It waits for the bench's timer.
func (b *Board) Close() error {
	b.mu.Lock()
	b.done, b.agenda = true, nil
	b.mu.Unlock()
	b.disarm()
	return nil
}

// The bench is everything a driver can be.
var (
	_ board.Driver    = (*Board)(nil)
	_ board.Immediate = (*Board)(nil)
	_ board.PWM       = (*Board)(nil)
	_ board.Buses     = (*Board)(nil)
	_ board.Timed     = (*Board)(nil)
	_ board.Networker = (*Board)(nil)
	_ board.Simulator = (*Board)(nil)
	_ device.World    = (*unit)(nil)
)
