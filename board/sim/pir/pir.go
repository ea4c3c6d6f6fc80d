// Package pir simulates a passive infrared motion sensor such as the HC-SR501: its line is high while something moves and for the hold
// time after that, which a potentiometer sets (up to 300 s on the part; 0 here unless "hold_ms" says otherwise). It triggers again while it
// holds (jumper H of its data sheet). The minute it needs to warm up is not modelled.
package pir

import (
	"time"

	"github.com/pal-terminal/pal/board/sim/device"
	"github.com/pal-terminal/pal/board/sim/setting"
)

const longestHold = 300_000 // ms

// Sensor is a motion sensor.
type Sensor struct {
	setting.Faults
	w      device.World
	hold   time.Duration
	motion bool
	high   bool
	stop   func()
	times  int
}

// State is what `pal sim show` prints.
type State struct {
	Motion     bool `json:"motion"`     // something moves
	Detected   bool `json:"detected"`   // the line says so
	Detections int  `json:"detections"` // since the bench was made or reset
}

// New returns a sensor in an empty room.
func New(w device.World, o device.Options) (device.Device, error) {
	s := &Sensor{w: w}
	return s, setting.Apply(s, o.Values)
}

// Set takes "motion", which the empty key means too: on or off; and "hold_ms".
func (s *Sensor) Set(key, value string) error {
	switch key {
	case "", "motion":
		on, err := setting.Bool(key, value)
		if err == nil {
			s.move(on)
		}
		return err
	case "hold_ms":
		ms, err := setting.Int(key, value, 0, longestHold)
		if err == nil {
			s.hold = time.Duration(ms) * time.Millisecond
		}
		return err
	}
	return setting.Unknown(key, "motion", "hold_ms")
}

func (s *Sensor) move(on bool) {
	if s.motion == on {
		return
	}
	s.motion = on
	if s.stop != nil {
		s.stop()
		s.stop = nil
	}
	switch {
	case on && !s.high:
		s.times++
		s.show(true)
	case !on && s.hold > 0:
		s.stop = s.w.At(s.w.Now().Add(s.hold), func() { s.show(false) })
	case !on:
		s.show(false)
	}
}

func (s *Sensor) show(high bool) {
	s.high = high
	level := 0
	if high {
		level = 1
	}
	s.w.Force(0, level)
}

// Reset forgets the count and looks anew.
func (s *Sensor) Reset() {
	s.times, s.stop = 0, nil
	s.show(s.motion)
}

// State returns what to show.
func (s *Sensor) State() any { return State{Motion: s.motion, Detected: s.high, Detections: s.times} }
