// Package relay simulates a relay with one normally open contact: closed while the line is high. It refuses nothing and
// switches at once.
package relay

import (
	"github.com/pal-terminal/pal/board/sim/device"
	"github.com/pal-terminal/pal/board/sim/setting"
)

// Relay is a relay.
type Relay struct {
	setting.Faults
	level  int
	cycles int
}

// State is what `pal sim show` prints.
type State struct {
	Closed bool `json:"closed"`
	Cycles int  `json:"cycles"` // times the contact has closed since the bench was made or reset: what wears a relay
}

// New returns an open relay.
func New(_ device.World, o device.Options) (device.Device, error) {
	r := &Relay{}
	return r, setting.Apply(r, o.Values)
}

// Drive takes the level on the line.
func (r *Relay) Drive(_, level int) {
	if level == 1 && r.level == 0 {
		r.cycles++
	}
	r.level = level
}

// Reset forgets the count. The contact follows the line and stays.
func (r *Relay) Reset() { r.cycles = 0 }

// Set refuses: a relay has nothing to set.
func (r *Relay) Set(key, _ string) error { return setting.Unknown(key) }

// State returns what to show.
func (r *Relay) State() any { return State{Closed: r.level == 1, Cycles: r.cycles} }
