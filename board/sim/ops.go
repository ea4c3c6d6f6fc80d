package sim

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/pal-terminal/pal/board"
	"github.com/pal-terminal/pal/hw"
)

// Entry is one line of Sim's "ls" and the answer of most other operations: a device with its line or bus, or a line without one.
type Entry struct {
	Name   string              `json:"name"`
	Type   string              `json:"type"` // of the device, "line" when there is none
	Pin    board.ID            `json:"pin,omitzero"`
	Pins   map[string]board.ID `json:"pins,omitzero"` // of a device with several lines, by role
	Bus    string              `json:"bus,omitzero"`
	Addr   string              `json:"addr,omitzero"`  // on I2C, such as 0x38
	Mode   string              `json:"mode,omitzero"`  // of a single line, as configured: none in out open_drain analog pwm bus
	Level  *int                `json:"level,omitzero"` // on a single line
	Forced *int                `json:"forced,omitzero"`
	Stuck  *int                `json:"stuck,omitzero"`
	Faults []string            `json:"faults,omitzero"` // those of the bench; a device's own stand in its state
	UART   *Traffic            `json:"uart,omitzero"`
	State  any                 `json:"state,omitzero"`
}

// Traffic is what goes over a UART, as seen by the board.
type Traffic struct {
	Baud     int64 `json:"baud"`     // 0 while it is closed
	Sent     int64 `json:"sent"`     // bytes, since the bench was made or reset
	Waiting  int   `json:"waiting"`  // bytes received that no program has read
	Overruns int64 `json:"overruns"` // bytes lost because too many waited
}

// target is what an operation is about: a device, a line or a device's only line. ln is nil for a device on a bus or on several lines.
type target struct {
	pin int
	ln  *line
	u   *unit // nil for a line without a device, and for one line of a device that has several
}

// operations is all that can be done to one device or line. Callers hold mu.
var operations = map[string]func(b *Board, t target, value string) error{
	"show":    func(_ *Board, _ target, value string) error { return noValue(value) },
	"set":     (*Board).setTo,
	"press":   func(_ *Board, t target, value string) error { return finger(t, value, true) },
	"release": func(_ *Board, t target, value string) error { return finger(t, value, false) },
	"wave":    (*Board).wave,
	"stuck":   (*Board).stick,
	"fault":   (*Board).fault,
	"load":    func(_ *Board, t target, value string) error { return load(t, value) },
}

// Sim implements board.Simulator. NAME is a device or any name of a pin. The operations:
//
//	ls                   every device and the running scenario, a list of Entry
//	show NAME            one device or pin
//	set NAME [KEY=]VALUE a quantity that a device measures; without one, a level forced on a line: 0, 1, low, high, or float to let go
//	press, release NAME  a button
//	wave NAME SPEC       a waveform on an ADC: "sine:0,4095,10s", "noise:100,200", "off"
//	stuck NAME VALUE     fault: the line has level 0 or 1 whatever drives it; off ends it
//	fault NAME KIND      see fault.go; NAME may be "board"; off ends it
//	load NAME OFF BASE64 bytes into a memory chip from OFF on, as a programmer would
//	image NAME           a Picture: a display or a strip as PNG
//	text NAME            the same for a terminal
//	scenario [NAME] TEXT starts a scenario (package scenario); off ends it
//	reset                the world as at the start; outputs, which are the guard's, stay
//
// The others answer with the Entry afterwards; reset answers with the list.
func (b *Board) Sim(op, name, value string) (any, error) {
	if op == "scenario" && value != "off" {
		return b.play(name, value)
	}
	if err := b.enter(); err != nil {
		return nil, err
	}
	defer b.leave()
	return b.do(op, name, value)
}

// do performs an operation. Callers hold mu.
func (b *Board) do(op, name, value string) (any, error) {
	switch op {
	case "ls", "reset":
		if name != "" || value != "" {
			return nil, fmt.Errorf("sim %s takes no arguments", op)
		}
		if op == "reset" {
			if err := b.reset(); err != nil {
				return nil, err
			}
		}
		return b.list(), nil
	case "scenario": // off; see Sim
		b.stopShow()
		return b.list(), nil
	case "image", "text":
		return b.picture(op, name, value)
	case "fault":
		if name == "board" {
			return b.list(), b.boardFault(value)
		}
	}
	act, ok := operations[op]
	if !ok {
		return nil, fmt.Errorf("sim has no operation %q (ls show set press release wave stuck fault load image text scenario reset)", op)
	}
	t, err := b.find(name)
	if err != nil {
		return nil, err
	}
	if err := act(b, t, value); err != nil {
		return nil, fmt.Errorf("sim %s %s: %w", op, name, err)
	}
	if t.ln != nil {
		b.settle(t.ln)
	}
	return b.entry(t), nil
}

func noValue(value string) error {
	if value != "" {
		return errors.New("it takes no value")
	}
	return nil
}

func finger(t target, value string, down bool) error {
	if t.u == nil {
		return errors.New("it is no button")
	}
	bt, ok := t.u.dev.(interface {
		Press()
		Release()
	})
	if !ok {
		return errors.New("it is no button")
	}
	if err := noValue(value); err != nil {
		return err
	}
	if down {
		bt.Press()
	} else {
		bt.Release()
	}
	return nil
}

func load(t target, value string) error {
	var chip interface {
		Load(off int, data []byte) int
	}
	if t.u != nil {
		chip, _ = t.u.dev.(interface {
			Load(off int, data []byte) int
		})
	}
	if chip == nil {
		return errors.New("it is no memory")
	}
	word, text, _ := strings.Cut(value, " ")
	off, err := strconv.Atoi(word)
	if err != nil {
		return fmt.Errorf("%q is no offset: the value is OFFSET BASE64", word)
	}
	data, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return fmt.Errorf("the bytes: %w", err)
	}
	if n := chip.Load(off, data); n < len(data) {
		return fmt.Errorf("%d bytes at %d: only %d fit", len(data), off, n)
	}
	return nil
}

func (b *Board) wave(t target, value string) error {
	if t.u != nil {
		if in, ok := t.u.dev.(interface{ Wave(spec string) error }); ok {
			return in.Wave(value)
		}
	}
	return errors.New("it is no analogue input")
}

func (b *Board) setTo(t target, value string) error {
	key, val, keyed := strings.Cut(value, "=")
	if !keyed {
		key, val = "", value
	}
	switch {
	case t.u != nil && t.u.uart != nil && key == "device":
		return t.u.become(val)
	case t.u != nil && (keyed || !t.u.kind.plain):
		return t.u.dev.Set(key, val)
	case keyed:
		return errors.New("it has nothing to be set but its level")
	case t.ln.mode == hw.ModeOut || t.ln.mode == hw.ModePWM:
		return errors.New("it is an output, which only the guard drives")
	}
	level, err := parseLevel(value, "float")
	if err == nil {
		t.ln.forced = level
	}
	return err
}

// become puts another device in the place of one on a UART.
func (u *unit) become(name string) error {
	k, ok := kinds[name]
	if !ok || k.on != "uart" {
		return fmt.Errorf("%q is no device for a UART", name)
	}
	was, spec := u.kind, u.spec
	u.kind, u.spec.Type, u.spec.Values, u.spec.Value = k, name, nil, nil
	if name == u.b.home(u).Type {
		u.spec = u.b.home(u)
		u.spec.Name = spec.Name
	}
	if err := u.build(); err != nil {
		u.kind, u.spec = was, spec
		return err
	}
	u.power()
	return nil
}

// home is what the board file says of a device.
func (b *Board) home(u *unit) board.Device {
	for i := range b.units {
		if b.units[i] == u {
			return b.d.Devices[i]
		}
	}
	return u.spec
}

func (b *Board) stick(t target, value string) error {
	if t.ln == nil {
		return errors.New("it has no single line: name the pin")
	}
	level, err := parseLevel(value, "off")
	if err != nil {
		return err
	}
	t.ln.stuck = level
	if t.ln.mode == hw.ModePWM {
		b.tellPWM(t.ln)
	}
	return nil
}

// parseLevel reads a level; none is the word for -1.
func parseLevel(value, none string) (int, error) {
	switch value {
	case "0", "low":
		return 0, nil
	case "1", "high":
		return 1, nil
	case none:
		return -1, nil
	}
	return -1, fmt.Errorf("%q is not 0, 1, low, high or %s", value, none)
}

// find returns what a name means.
func (b *Board) find(name string) (target, error) {
	for _, u := range b.units {
		if u.spec.Name == name {
			return b.targetOf(u), nil
		}
	}
	pin, ok := b.d.Lookup(name)
	if !ok {
		return target{}, fmt.Errorf("%s: %w", strconv.Quote(name), board.ErrUnknownName)
	}
	if b.d.Pins[pin].Owner == board.OwnerSystem {
		return target{}, fmt.Errorf("%s is a system pin: the bench has nothing there", name)
	}
	t := target{pin: pin, ln: &b.lines[pin]}
	if len(t.ln.taps) > 0 && t.ln.taps[0].u.single() {
		t.u = t.ln.taps[0].u
	}
	return t, nil
}

// single tells a device that is at home on one line.
func (u *unit) single() bool { return u.bus == nil && len(u.pins) == 1 }

func (b *Board) targetOf(u *unit) target {
	if u.single() {
		return target{pin: u.pins[0], ln: &b.lines[u.pins[0]], u: u}
	}
	return target{u: u}
}

// reset makes the world as it was at the start. Devices are built anew; outputs stay, and what is open stays open.
func (b *Board) reset() error {
	b.skew = 0
	b.stopShow()
	for i := range b.buses {
		bu := &b.buses[i]
		bu.at, bu.rx, bu.overruns, bu.sent = nil, nil, 0, 0
		b.release(bu)
	}
	for i, u := range b.units {
		u.let()
		name := u.spec.Name
		u.spec, u.kind = b.d.Devices[i], kinds[b.d.Devices[i].Type]
		u.spec.Name = name
		if err := u.build(); err != nil {
			return fmt.Errorf("reset %s: %w", name, err)
		}
		u.connect()
	}
	for i := range b.lines {
		b.lines[i].forced, b.lines[i].stuck = -1, -1
		b.lines[i].redrive()
		b.settle(&b.lines[i])
	}
	for _, u := range b.units {
		u.power()
	}
	return nil
}

func (b *Board) list() []Entry {
	list := make([]Entry, 0, len(b.units)+1)
	for _, u := range b.units {
		list = append(list, b.entry(b.targetOf(u)))
	}
	if b.show != nil {
		list = append(list, Entry{Name: "scenario", Type: "scenario", State: b.show.state()})
	}
	return list
}

func (b *Board) entry(t target) Entry {
	var e Entry
	if t.ln != nil {
		p := &b.d.Pins[t.pin]
		level := b.level(t.ln)
		e = Entry{
			Name: p.Label(), Type: "line", Pin: p.ID, Mode: t.ln.mode.String(), Level: &level,
			Forced: optional(t.ln.forced), Stuck: optional(t.ln.stuck),
		}
	}
	u := t.u
	if u == nil {
		return e
	}
	e.Name, e.Type, e.State, e.Faults = u.spec.Name, u.spec.Type, u.dev.State(), u.faults()
	if t.ln != nil {
		return e
	}
	if u.bus != nil {
		e.Bus = u.bus.Name()
	}
	if u.uart != nil {
		e.UART = &Traffic{Baud: u.Baud(), Sent: u.bus.sent, Waiting: len(u.bus.rx), Overruns: u.bus.overruns}
	}
	for i, addr := range u.addrs {
		if i > 0 {
			e.Addr += " "
		}
		e.Addr += fmt.Sprintf("0x%02x", addr)
	}
	for role, pin := range u.pins {
		if e.Pins == nil {
			e.Pins = map[string]board.ID{}
		}
		e.Pins[u.roles[role]] = b.d.Pins[pin].ID
	}
	return e
}

func optional(level int) *int {
	if level < 0 {
		return nil
	}
	return &level
}
