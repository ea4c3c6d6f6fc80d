// Package led simulates a light on an output: lit while the line is high, or as bright as PWM makes it. It refuses nothing and
// keeps no clock.
package led

import (
	"math"

	"github.com/pal-terminal/pal/board/sim/device"
	"github.com/pal-terminal/pal/board/sim/setting"
)

// LED is a light.
type LED struct {
	setting.Faults
	level    int
	switched int
	freq     int64
	duty     int
}

// State is what `pal sim show` prints.
type State struct {
	Lit        bool    `json:"lit"`
	Switched   int     `json:"switched"`            // changes of the level since the bench was made or reset
	Brightness float64 `json:"brightness,omitzero"` // percent of the time that PWM has it lit
	Frequency  int64   `json:"frequency,omitzero"`  // Hz, of PWM
}

// New returns a dark LED.
func New(_ device.World, o device.Options) (device.Device, error) {
	l := &LED{}
	return l, setting.Apply(l, o.Values)
}

// Drive takes the level on the line.
func (l *LED) Drive(_, level int) {
	if level != l.level {
		l.level = level
		l.switched++
	}
}

// PWM takes the brightness.
func (l *LED) PWM(_ int, freq int64, duty int) { l.freq, l.duty = freq, duty }

// Reset forgets the count. The light follows the line and stays.
func (l *LED) Reset() { l.switched = 0 }

// Set refuses: an LED has nothing to set.
func (l *LED) Set(key, _ string) error { return setting.Unknown(key) }

// State returns what to show.
func (l *LED) State() any {
	s := State{Lit: l.level == 1, Switched: l.switched}
	if l.freq > 0 {
		s.Lit, s.Frequency, s.Brightness = l.duty > 0, l.freq, math.Round(float64(l.duty)*1000/65_535)/10
	}
	return s
}
