package sim

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/pal-terminal/pal/board"
	"github.com/pal-terminal/pal/board/sim/button"
	"github.com/pal-terminal/pal/hw"
)

// Entry is one line of Sim's "ls" and the answer of all other operations: a device with its line, or a line without one.
type Entry struct {
	Name   string   `json:"name"`
	Type   string   `json:"type"` // of the device, "line" when there is none
	Pin    board.ID `json:"pin"`
	Mode   string   `json:"mode"`  // as configured: none in out open_drain analog
	Level  int      `json:"level"` // on the line
	Forced *int     `json:"forced,omitempty"`
	Stuck  *int     `json:"stuck,omitempty"`
	State  any      `json:"state,omitempty"`
}

// Sim implements board.Simulator. The operations:
//
//	ls                 every device, a list of Entry
//	show NAME          one device or pin; NAME is a device or any name of a pin
//	set NAME VALUE     force an input: 0, 1, low, high, or float to let go; an ADC: raw counts or volts ("1.5V")
//	press NAME         hold a button down
//	release NAME       let a button go
//	wave NAME SPEC     a waveform on an ADC: "sine:0,4095,10s", "noise:100,200", "off"
//	stuck NAME VALUE   fault: the line has level 0 or 1 whatever drives it; off ends it
//	reset              the world as at the start; outputs, which are the guard's, stay
//
// Every operation but ls and reset answers with the Entry afterwards; reset answers with the list.
func (b *Board) Sim(op, name, value string) (any, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch op {
	case "ls", "reset":
		if name != "" || value != "" {
			return nil, fmt.Errorf("sim %s takes no arguments", op)
		}
		if op == "reset" {
			b.reset()
		}
		return b.list(), nil
	}
	act, ok := operations[op]
	if !ok {
		return nil, fmt.Errorf("sim has no operation %q (ls show set press release wave stuck reset)", op)
	}
	pin, dev, err := b.find(name)
	if err != nil {
		return nil, err
	}
	if err := act(b, &b.lines[pin], value); err != nil {
		return nil, fmt.Errorf("sim %s %s: %w", op, name, err)
	}
	b.settle(&b.lines[pin])
	return b.entry(pin, dev), nil
}

// operations change a line's surroundings. Callers hold mu and settle the line afterwards.
var operations = map[string]func(b *Board, ln *line, value string) error{
	"show":    func(_ *Board, _ *line, value string) error { return noValue(value) },
	"set":     (*Board).force,
	"press":   func(_ *Board, ln *line, value string) error { return onButton(ln, value, (*button.Button).Press) },
	"release": func(_ *Board, ln *line, value string) error { return onButton(ln, value, (*button.Button).Release) },
	"wave": func(b *Board, ln *line, value string) error {
		if ln.adc == nil {
			return errors.New("it is no analogue input")
		}
		return ln.adc.Wave(value, b.o.Now())
	},
	"stuck": func(_ *Board, ln *line, value string) (err error) {
		ln.stuck, err = parseLevel(value, "off")
		return err
	},
}

func noValue(value string) error {
	if value != "" {
		return errors.New("it takes no value")
	}
	return nil
}

func onButton(ln *line, value string, act func(*button.Button)) error {
	bt, ok := ln.source.(*button.Button)
	if !ok {
		return errors.New("it is no button")
	}
	if err := noValue(value); err != nil {
		return err
	}
	act(bt)
	return nil
}

func (b *Board) force(ln *line, value string) error {
	if ln.adc != nil {
		return ln.adc.Set(value)
	}
	if ln.mode == hw.ModeOut {
		return errors.New("it is an output, which only the guard drives")
	}
	level, err := parseLevel(value, "float")
	if err == nil {
		ln.forced = level
	}
	return err
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

// find returns the pin that name means and the index of the device on it, -1 for none.
func (b *Board) find(name string) (pin, dev int, err error) {
	for i := range b.devices {
		if b.devices[i].Name == name {
			return b.devices[i].Pin, i, nil
		}
	}
	pin, ok := b.d.Lookup(name)
	if !ok {
		return 0, 0, fmt.Errorf("%s: %w", strconv.Quote(name), board.ErrUnknownName)
	}
	if b.d.Pins[pin].Owner == board.OwnerSystem {
		return 0, 0, fmt.Errorf("%s is a system pin: the bench has nothing there", name)
	}
	for i := range b.devices {
		if b.devices[i].Pin == pin {
			return pin, i, nil
		}
	}
	return pin, -1, nil
}

func (b *Board) reset() {
	resetDevices := func() {
		for i := range b.devices {
			b.devices[i].reset()
		}
	}
	resetDevices()
	for i := range b.lines {
		b.lines[i].forced, b.lines[i].stuck = -1, -1
		b.settle(&b.lines[i])
	}
	// Once more: letting lines go is part of the reset and counts as no switching.
	resetDevices()
}

func (b *Board) list() []Entry {
	list := make([]Entry, 0, len(b.devices))
	for i := range b.devices {
		list = append(list, b.entry(b.devices[i].Pin, i))
	}
	return list
}

func (b *Board) entry(pin, dev int) Entry {
	ln := &b.lines[pin]
	e := Entry{
		Name: b.d.Pins[pin].Label(), Type: "line", Pin: b.d.Pins[pin].ID, Mode: ln.mode.String(), Level: b.level(ln),
		Forced: optional(ln.forced), Stuck: optional(ln.stuck),
	}
	if dev >= 0 {
		e.Name, e.Type, e.State = b.devices[dev].Name, b.devices[dev].Type, b.devices[dev].state(b.o.Now())
	}
	return e
}

func optional(level int) *int {
	if level < 0 {
		return nil
	}
	return &level
}
