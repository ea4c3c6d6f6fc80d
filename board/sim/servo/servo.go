// Package servo simulates a hobby servo such as the SG90: the width of the pulses on its line, repeated at about 50 Hz, is the angle.
// The data sheet gives a period of 20 ms and pulses of about 0.5 to 2.5 ms for the whole half turn (Tower Pro SG90, "PWM period" and
// "position"); it moves at once here, where the part needs 0.1 s for 60°.
//
// Pulses outside that are ignored, and so is a rate that no servo takes: the angle stays.
package servo

import (
	"math"

	"github.com/pal-terminal/pal/board/sim/device"
	"github.com/pal-terminal/pal/board/sim/setting"
)

// Pulses in microseconds, with a twentieth of play at the ends, and the rates that are taken.
const (
	shortest, longest = 500, 2500
	play              = 100
	slowest, fastest  = 40, 333 // Hz
	halfTurn          = 180     // degrees
	fullDuty          = 65_535
)

// Servo is a servo.
type Servo struct {
	setting.Faults
	angle   float64
	pulse   float64 // µs
	driven  bool
	moves   int
	refused int
}

// State is what `pal sim show` prints.
type State struct {
	Angle   float64 `json:"angle"`    // degrees, 0 to 180
	PulseUS float64 `json:"pulse_us"` // the last one, good or not
	Driven  bool    `json:"driven"`   // pulses that it takes are coming
	Moves   int     `json:"moves"`
	Refused int     `json:"refused"` // pulses or rates that it could not take
}

// New returns a servo in the middle.
func New(_ device.World, o device.Options) (device.Device, error) {
	s := &Servo{angle: halfTurn / 2}
	return s, setting.Apply(s, o.Values)
}

// Drive does nothing: a level that does not change is no pulse.
func (s *Servo) Drive(int, int) {}

// PWM takes pulses.
func (s *Servo) PWM(_ int, freq int64, duty int) {
	s.driven = false
	if freq == 0 {
		return
	}
	s.pulse = math.Round(float64(duty)/fullDuty*1e7/float64(freq)) / 10
	if duty == 0 || duty == fullDuty {
		return
	}
	if freq < slowest || freq > fastest || s.pulse < shortest-play || s.pulse > longest+play {
		s.refused++
		return
	}
	s.driven = true
	part := min(1, max(0, (s.pulse-shortest)/(longest-shortest)))
	if angle := math.Round(part*halfTurn*10) / 10; angle != s.angle {
		s.angle = angle
		s.moves++
	}
}

// Reset forgets the counts. The arm stays where it is.
func (s *Servo) Reset() { s.moves, s.refused = 0, 0 }

// Set refuses: a servo has nothing to set.
func (s *Servo) Set(key, _ string) error { return setting.Unknown(key) }

// State returns what to show.
func (s *Servo) State() any {
	return State{Angle: s.angle, PulseUS: s.pulse, Driven: s.driven, Moves: s.moves, Refused: s.refused}
}
