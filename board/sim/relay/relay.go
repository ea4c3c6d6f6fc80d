// Package relay simulates a relay with one normally open contact: closed while the line is high. It refuses nothing and
// switches at once.
package relay

// Relay is a relay. Its methods are not safe for concurrent use: the bench serialises them.
type Relay struct {
	level  int
	cycles int
}

// State is what `pal sim show` prints.
type State struct {
	Closed bool `json:"closed"`
	Cycles int  `json:"cycles"` // times the contact has closed since the bench was made or reset: what wears a relay
}

// New returns an open relay.
func New() *Relay { return &Relay{} }

// Drive takes the level on the line.
func (r *Relay) Drive(level int) {
	if level == 1 && r.level == 0 {
		r.cycles++
	}
	r.level = level
}

// Reset forgets the count. The contact follows the line and stays.
func (r *Relay) Reset() { r.cycles = 0 }

// State returns what to show.
func (r *Relay) State() any { return State{Closed: r.level == 1, Cycles: r.cycles} }
