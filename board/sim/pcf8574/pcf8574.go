// Package pcf8574 simulates the eight-bit port expander PCF8574 and, with the value part=pcf8574a, PCF8574A, which differs in its
// addresses alone (NXP's data sheet, revision 5).
//
// # Model
//
// The port is quasi-bidirectional (section 8.1): a pin written 0 is driven low; a pin written 1 is held high by 100 µA, which anything
// outside overcomes. Reading gives the levels on the pins, not what was written. After power-up all pins are 1 (section 8.1). A write
// sets all pins at once, and each further byte of a transaction sets them again. INT (section 7.3) goes low when a level differs from
// what was last read or written and is let go by a read, by a write, or by the level's return; it is the device's line, where the board
// gives it one.
//
// # What it refuses
//
// Nothing on the wire. Levels from outside are 0, 1 or open; high from outside loses against a pin driven low.
package pcf8574

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/pal-terminal/pal/board/sim/device"
	"github.com/pal-terminal/pal/board/sim/setting"
)

// Expander is the part. It implements device.I2C.
type Expander struct {
	setting.Faults
	w       device.World
	addr    uint16
	wired   bool  // INT has a line
	outside uint8 // pins held low from outside
	latch   uint8 // as written
	seen    uint8 // levels when last read or written
	pending bool
	writes  uint64
}

// State is what `pal sim show` prints.
type State struct {
	Pins      []int    `json:"pins"`  // levels of P0 to P7
	Latch     int      `json:"latch"` // as written
	Interrupt bool     `json:"interrupt"`
	Writes    uint64   `json:"writes"`
	Faults    []string `json:"faults,omitempty"`
}

// New builds an expander with nothing on its pins. Value: part pcf8574 or pcf8574a. Settings: p0 to p7 (0, 1 or open), and without a
// name all levels from outside as a number, 0 to 255, in which 1 is open. Faults: stuck (all pins low), stale (reads give the latch).
func New(w device.World, o device.Options) (device.Device, error) {
	part := o.Values["part"]
	first := uint16(0x20)
	switch part {
	case "", "pcf8574":
	case "pcf8574a":
		first = 0x38
	default:
		return nil, fmt.Errorf("part: %q is neither pcf8574 nor pcf8574a", part)
	}
	var all []uint16
	for a := range uint16(8) {
		all = append(all, first+a)
	}
	addr, err := setting.Address(o, all...)
	if err != nil {
		return nil, err
	}
	e := &Expander{Faults: setting.NewFaults("stuck", "stale"), w: w, addr: addr, wired: len(o.Lines) > 0, latch: 0xFF, seen: 0xFF}
	if err := setting.Apply(e, o.Values, "part"); err != nil {
		return nil, err
	}
	return e, nil
}

// Reset is a power-up. What is on the pins stays there.
func (e *Expander) Reset() {
	e.latch = 0xFF
	e.settle()
}

// Addresses returns the one address.
func (e *Expander) Addresses() []uint16 { return []uint16{e.addr} }

// Start always answers.
func (e *Expander) Start(bool) bool { return true }

// levels are those on the pins.
func (e *Expander) levels() uint8 {
	if e.Has("stuck") {
		return 0
	}
	return e.latch &^ e.outside
}

// settle takes the levels as known and lets INT go.
func (e *Expander) settle() {
	e.seen = e.levels()
	e.interrupt()
}

// interrupt drives INT.
func (e *Expander) interrupt() {
	pending := e.levels() != e.seen
	if pending == e.pending {
		return
	}
	e.pending = pending
	if !e.wired {
		return
	}
	if pending {
		e.w.Force(0, 0)
	} else {
		e.w.Force(0, -1)
	}
}

// Write sets the pins.
func (e *Expander) Write(b byte) bool {
	e.latch = b
	e.writes++
	e.settle()
	return true
}

// Read gives the levels on the pins.
func (e *Expander) Read() byte {
	e.settle()
	if e.Has("stale") {
		return e.latch
	}
	return e.levels()
}

// Stop ends a transaction.
func (e *Expander) Stop() {}

// Set holds pins low from outside or lets them go.
func (e *Expander) Set(key, value string) error {
	if key == "" {
		v, err := setting.Int(key, value, 0, 255)
		if err != nil {
			return err
		}
		e.outside = ^uint8(v)
		e.interrupt()
		return nil
	}
	digit, ok := strings.CutPrefix(key, "p")
	pin, err := strconv.Atoi(digit)
	if !ok || err != nil || pin < 0 || pin > 7 || len(digit) != 1 {
		return setting.Unknown(key, "p0 to p7")
	}
	switch value {
	case "0":
		e.outside |= 1 << pin
	case "1", "open":
		e.outside &^= 1 << pin
	default:
		return fmt.Errorf("%s: %q is neither 0, 1 nor open", key, value)
	}
	e.interrupt()
	return nil
}

// Fault starts or ends faults.
func (e *Expander) Fault(kind string) error {
	err := e.Faults.Fault(kind)
	e.interrupt()
	return err
}

// State returns what to show.
func (e *Expander) State() any {
	s := State{Latch: int(e.latch), Interrupt: e.pending, Writes: e.writes, Faults: e.Active()}
	for i := range 8 {
		s.Pins = append(s.Pins, int(e.levels()>>i&1))
	}
	return s
}
