// Package led simulates a light on an output: lit while the line is high. It refuses nothing and keeps no clock.
package led

// LED is a light. Its methods are not safe for concurrent use: the bench serialises them.
type LED struct {
	level    int
	switched int
}

// State is what `pal sim show` prints.
type State struct {
	Lit      bool `json:"lit"`
	Switched int  `json:"switched"` // changes since the bench was made or reset
}

// New returns a dark LED.
func New() *LED { return &LED{} }

// Drive takes the level on the line.
func (l *LED) Drive(level int) {
	if level != l.level {
		l.level = level
		l.switched++
	}
}

// Reset forgets the count. The light follows the line and stays.
func (l *LED) Reset() { l.switched = 0 }

// State returns what to show.
func (l *LED) State() any { return State{Lit: l.level == 1, Switched: l.switched} }
