// Package stepper simulates a unipolar stepper with four windings behind a driver, such as the 28BYJ-48 with a ULN2003: the rotor turns
// to where the driven windings pull it, so half steps, full steps and wave drive all work, in either direction. The 28BYJ-48's
// data sheet gives 5.625° for a half step of the rotor and a gear of 1/64: 4,096 half steps a turn.
//
// A jump to the opposite side moves nothing and is counted: the rotor cannot know which way. It has no weight: it follows at any speed.
package stepper

import (
	"math"

	"github.com/pal-terminal/pal/board/sim/device"
	"github.com/pal-terminal/pal/board/sim/setting"
)

const perTurn = 4096 // half steps of the shaft

// Stepper is a stepper motor.
type Stepper struct {
	setting.Faults
	coils    [4]int
	toward   int // where the rotor points, in half steps, 0 to 7
	position int
	missed   int
}

// State is what `pal sim show` prints.
type State struct {
	Position  int     `json:"position"` // half steps from the start
	Angle     float64 `json:"angle"`    // degrees of the shaft
	Energised bool    `json:"energised"`
	Missed    int     `json:"missed"` // jumps that it could not follow
}

// New returns a motor without current.
func New(_ device.World, o device.Options) (device.Device, error) {
	s := &Stepper{}
	return s, setting.Apply(s, o.Values)
}

// pulls is the direction in half steps of the windings' sum: the first two coordinates are in1 less in3 and in2 less in4, plus 1.
var pulls = [3][3]int{{5, 4, 3}, {6, -1, 2}, {7, 0, 1}}

func (s *Stepper) pull() int { return pulls[s.coils[0]-s.coils[2]+1][s.coils[1]-s.coils[3]+1] }

// Drive takes the level of a winding.
func (s *Stepper) Drive(i, level int) {
	s.coils[i] = level
	to := s.pull()
	if to < 0 {
		return // nothing pulls: it stays
	}
	step := (to - s.toward + 12) % 8 // 4 more than the way to go
	if step == 0 {
		s.missed++
		return
	}
	s.position += step - 4
	s.toward = to
}

// Reset calls where it is the start.
func (s *Stepper) Reset() { s.position, s.missed = 0, 0 }

// Set refuses: nobody turns a geared motor by hand.
func (s *Stepper) Set(key, _ string) error { return setting.Unknown(key) }

// State returns what to show.
func (s *Stepper) State() any {
	return State{
		Position: s.position, Angle: math.Round(float64(s.position)*360_000/perTurn) / 1000,
		Energised: s.coils != [4]int{}, Missed: s.missed,
	}
}
