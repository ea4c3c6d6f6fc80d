// Package board says what a board is: its pins and their owners, the rules on its outputs, its buses, and the driver that
// reaches the hardware.
//
// # Model
//
// A [Description] is data, read from one YAML file and checked by board/load. It is immutable once made
// and safe for use from many goroutines.
//
// A pin has one canonical [ID]. Every way to name it (number, decimal text, name, GPIOn) leads to the same index into
// Description.Pins by [Description.Lookup]; guards and drivers know a pin only by that index, so two names can never mean
// two sets of rules.
//
// A [Driver] moves levels and nothing else: it knows no owners and no rules. Package pin stands in front of it.
//
// # What it refuses
//
// Names that mean two pins or look like another pin's, a scale that is more than arithmetic; board/load refuses the rest.
package board

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/pal-terminal/pal/hw"
)

// Owner says who may use a pin.
type Owner uint8

// Owners of a pin.
const (
	OwnerSystem Owner = iota // the board itself: boot, flash, USB. Never used through PAL
	OwnerAgent               // programs, within the pin's rules
	OwnerGuard               // the guard alone: programs may look but not touch
)

// String returns the word of the board file.
func (o Owner) String() string { return wordAt(ownerWords, int(o)) }

// Danger grades what a wrong level on an output can do.
type Danger uint8

// Grades of danger.
const (
	DangerLow Danger = iota
	DangerMedium
	DangerHigh
)

// String returns the word of the board file.
func (d Danger) String() string { return wordAt(dangerWords, int(d)) }

// Mode says who may drive the board.
type Mode uint8

// Modes of a board.
const (
	ModeOpen        Mode = iota // any program may use agent-owned pins
	ModeEngineering             // only functions of board.py may configure and drive
)

// String returns the word of the board file.
func (m Mode) String() string { return wordAt(modeWords, int(m)) }

// Words of the board file, in the order of the constants.
var (
	ownerWords  = []string{"system", "agent", "guard"}
	dangerWords = []string{"low", "medium", "high"}
	modeWords   = []string{"open", "engineering"}
)

func wordAt(words []string, i int) string {
	if i < 0 || i >= len(words) {
		return "unknown(" + strconv.Itoa(i) + ")"
	}
	return words[i]
}

// ID is a pin's canonical id: a number in plain decimal ("5") or a short word ("A5").
type ID string

// Number returns the id as a number, and false for an id that is a word.
func (id ID) Number() (int, bool) {
	n, err := strconv.Atoi(string(id))
	if err != nil || n < 0 || strconv.Itoa(n) != string(id) {
		return 0, false
	}
	return n, true
}

// MarshalJSON writes a number for a numeric id and a string for a word, as board files and programs do.
func (id ID) MarshalJSON() ([]byte, error) {
	if n, ok := id.Number(); ok {
		return strconv.AppendInt(nil, int64(n), 10), nil
	}
	return json.Marshal(string(id))
}

// Pos is a place in a board file. Line and Col count from 1; zero means unknown.
type Pos struct {
	Line, Col int
}

// RateUnits returns the words for the span of a rate.
func RateUnits() map[string]time.Duration {
	return map[string]time.Duration{"s": time.Second, "min": time.Minute, "h": time.Hour}
}

// Rate bounds how often an output may change: at most N changes in any span of Per. The zero Rate does not bound.
type Rate struct {
	N   int
	Per time.Duration
}

// String returns the form of the board file.
func (r Rate) String() string {
	for unit, per := range RateUnits() {
		if per == r.Per {
			return fmt.Sprintf("%d/%s", r.N, unit)
		}
	}
	return fmt.Sprintf("%d/%s", r.N, r.Per)
}

// Requirement is an input that must have a level for an output to be on.
type Requirement struct {
	Pin   int // index into Description.Pins
	Level int // 0 or 1
}

// Trip is a condition on an analogue input that drives an output safe. Thresholds are in the input's unit when it has a
// scale, else in raw counts; exactly one of them is set.
type Trip struct {
	ADC   int // index into Description.Pins
	Above *float64
	Below *float64
	For   time.Duration // how long the condition must hold; 0 is one sample
}

// Met reports whether value is past the threshold.
func (t Trip) Met(value float64) bool {
	// Written so that NaN, which compares false with everything, counts as past the threshold: an unreadable sensor trips.
	if t.Above != nil {
		return !(value <= *t.Above)
	}
	return !(value >= *t.Below)
}

// Pin is one pin of a board with the rules on it. "On" below means the level that is not Safe.
type Pin struct {
	ID        ID
	Name      string // empty when the pin has none; else a Python identifier
	Owner     Owner
	Can       Caps
	Pull      hw.Pull // bias the board wants on this pin as an input
	Strapping bool    // read by the chip at reset: never an actuator
	Scale     *Scale  // analogue inputs: raw counts to Unit
	Unit      string
	Note      string // for people and models

	Safe             int // 0 or 1; -1 when the pin cannot be an output
	MaxOn            time.Duration
	MinOff           time.Duration
	MaxRate          Rate
	Interlock        []int // indices of outputs never on together with this one; symmetric
	Requires         *Requirement
	Trip             *Trip
	LeaseRequired    bool
	OnDisconnectSafe bool
	Danger           Danger

	At Pos
}

// Output reports whether the pin can drive a level.
func (p *Pin) Output() bool { return p.Can.Has(CapOut) || p.Can.Has(CapOpenDrain) || p.Can.Has(CapPWM) }

// LetGo reports whether the pin is on a line that others drive as well, or can only pull its line down.
func (p *Pin) LetGo() bool {
	return p.Can.Has(CapOpenDrain) && (!p.Can.Any(CapOut|CapPWM) || p.Can.Any(CapI2C|CapOneWire))
}

// Against reports whether a bias pulls the pin, as an output, away from its safe level.
func (p *Pin) Against(pull hw.Pull) bool {
	return pull == hw.PullUp && p.Safe == 0 || pull == hw.PullDown && p.Safe == 1
}

// HasRules reports whether anything about the output beyond its safe level must be checked when it is switched.
func (p *Pin) HasRules() bool {
	return p.MaxOn > 0 || p.MinOff > 0 || p.MaxRate.N > 0 || len(p.Interlock) > 0 || p.Requires != nil || p.Trip != nil ||
		p.LeaseRequired || p.Danger == DangerHigh
}

// Label returns the pin's name, or its id when it has none: the word to use for it towards people.
func (p *Pin) Label() string {
	if p.Name != "" {
		return p.Name
	}
	return string(p.ID)
}

// Bus is a bus of the board and the pins it uses.
type Bus struct {
	Kind  string // "i2c", "spi" or "uart"
	Index int
	Owner Owner
	Pins  map[string]int // role ("sda") to index into Description.Pins
	At    Pos
}

// Name returns the bus's name, such as "i2c0".
func (b Bus) Name() string { return b.Kind + strconv.Itoa(b.Index) }

// DriverSpec says which driver reaches the board's hardware.
type DriverSpec struct {
	Kind string // "sim", "linux" or "serial"
	Chip string // linux: GPIO chip
	Port string // serial: device words
	Real bool   // sim: transfers take the time that they take on a wire (timing: real)
	Seed uint64 // sim: of everything random
	At   Pos
}

// Device is something wired to the board. Only the simulator builds devices.
type Device struct {
	Type   string
	Name   string            // of a device on one pin by default the pin's; else, empty when none was given
	Pin    int               // index into Description.Pins, -1 when the device has several lines or hangs on a bus
	Pins   map[string]int    // role ("trig") to index into Description.Pins, of a device with several lines
	Bus    string            // name of the bus, empty when the device hangs on pins alone
	Addr   int               // address on the bus, -1 when none was given
	Value  *int              // starting value; what it means is the device's affair
	Values map[string]string // further settings as written; the simulator knows which there are
	At     Pos
}

// Description is a whole board. It is immutable.
type Description struct {
	Name        string
	File        string // what errors and status call the file
	Hash        string // SHA-256 of the board file, in hex
	Text        []byte // the board file itself, as it was loaded
	Mode        Mode
	MaxExec     time.Duration // longest exec this board allows
	BoardPyName string        // as the board file names it; empty when there is none
	BoardPy     []byte        // source of board.py
	Pins        []Pin         // the index of a pin is its handle everywhere
	Buses       []Bus
	Driver      DriverSpec
	Devices     []Device

	aliases map[string]int
}

// Lookup returns the index of the pin that name means: its id, its name or, for a numeric id, "GPIO" and the number.
// The match is exact: no case folding, no spaces, no signs, no leading zeros, no digits of other scripts.
func (d *Description) Lookup(name string) (int, bool) {
	i, ok := d.aliases[name]
	return i, ok
}

// Clash is a name of a pin that means, or looks like, an earlier pin as well.
type Clash struct {
	Name      string
	Pin, With int  // indices
	Alike     bool // the names differ, but only in the case of letters, which people and models mix up
}

// Index makes the names of the pins known to Lookup. It is for whoever makes a description, before anyone else has it: one
// with a clash must not be used.
func (d *Description) Index() (clashes []Clash) {
	d.aliases = make(map[string]int, 3*len(d.Pins))
	folded := map[string]int{}
	for i := range d.Pins {
		p := &d.Pins[i]
		if p.ID == "" {
			continue // no id was read: a problem of its own
		}
		for _, alias := range p.Aliases() {
			if j, ok := d.aliases[alias]; ok && j != i {
				clashes = append(clashes, Clash{Name: alias, Pin: i, With: j})
				break
			}
			d.aliases[alias] = i
			if j, ok := folded[strings.ToLower(alias)]; ok && j != i {
				clashes = append(clashes, Clash{Name: alias, Pin: i, With: j, Alike: true})
				break
			}
			folded[strings.ToLower(alias)] = i
		}
	}
	return clashes
}

// Aliases returns every name that Lookup knows for the pin, the canonical id first.
func (p *Pin) Aliases() []string {
	names := []string{string(p.ID)}
	if _, ok := p.ID.Number(); ok {
		// Pin("GPIO5") and Pin.cpu.GPIO5 are how MicroPython's own ports spell chip pins, so programs use them.
		names = append(names, "GPIO"+string(p.ID))
	}
	if p.Name != "" && p.Name != names[len(names)-1] {
		names = append(names, p.Name)
	}
	return names
}
