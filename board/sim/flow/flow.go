// Package flow simulates a flow meter with a Hall sensor, such as the YF-S201: an open collector that pulls its line low once for every
// 1/450 of a litre, that is at 7.5 Hz for each litre a minute (YF-S201 data sheet, "flow rate pulse characteristics"); 1 to 30 L/min.
package flow

import (
	"time"

	"github.com/pal-terminal/pal/board/sim/device"
	"github.com/pal-terminal/pal/board/sim/setting"
)

const (
	perLitre = 450
	most     = 30     // L/min
	mostPer  = 10_000 // pulses a litre
)

// Meter is a flow meter.
type Meter struct {
	setting.Faults
	w        device.World
	flow     float64 // L/min
	perLitre int
	pulses   int64
	low      bool
	stop     func()
}

// State is what `pal sim show` prints.
type State struct {
	Flow   float64 `json:"flow"`   // L/min
	Pulses int64   `json:"pulses"` // since the bench was made or reset
	Litres float64 `json:"litres"`
}

// New returns a meter in still water.
func New(w device.World, o device.Options) (device.Device, error) {
	m := &Meter{w: w, perLitre: perLitre}
	return m, setting.Apply(m, o.Values)
}

// half returns how long the line keeps a level.
func (m *Meter) half() time.Duration {
	return time.Duration(float64(time.Minute) / (m.flow * float64(m.perLitre) * 2))
}

// turn sees to the next change of the line.
func (m *Meter) turn() {
	if m.stop != nil {
		m.stop()
		m.stop = nil
	}
	if m.flow == 0 {
		return
	}
	m.stop = m.w.At(m.w.Now().Add(m.half()), func() {
		m.low = !m.low
		if m.low {
			m.pulses++
		}
		m.show()
		m.turn()
	})
}

func (m *Meter) show() {
	level := -1
	if m.low {
		level = 0
	}
	m.w.Force(0, level)
}

// Reset forgets the count; the water goes on.
func (m *Meter) Reset() {
	m.pulses, m.low = 0, false
	m.show()
	m.turn()
}

// Set takes "flow" in L/min, which the empty key means too, and "pulses_per_litre".
func (m *Meter) Set(key, value string) error {
	switch key {
	case "", "flow":
		v, err := setting.Float(key, value, 0, most)
		if err != nil {
			return err
		}
		m.flow = v
	case "pulses_per_litre":
		n, err := setting.Int(key, value, 1, mostPer)
		if err != nil {
			return err
		}
		m.perLitre = n
	default:
		return setting.Unknown(key, "flow", "pulses_per_litre")
	}
	m.turn()
	return nil
}

// State returns what to show.
func (m *Meter) State() any {
	return State{Flow: m.flow, Pulses: m.pulses, Litres: float64(m.pulses) / float64(m.perLitre)}
}
