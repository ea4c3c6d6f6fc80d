// Package button simulates a push button between a line and ground: it pulls the line low while pressed and lets it go
// otherwise, so the level then is the pull-up's. Contacts do not bounce.
package button

// Button is a push button. Its methods are not safe for concurrent use: the bench serialises them.
type Button struct {
	pressed bool
	presses int
}

// State is what `pal sim show` prints.
type State struct {
	Pressed bool `json:"pressed"`
	Presses int  `json:"presses"` // since the bench was made or reset
}

// New returns a button that nobody presses.
func New() *Button { return &Button{} }

// Press holds the button down, and Release lets it go. Both may be repeated.
func (b *Button) Press() {
	if !b.pressed {
		b.presses++
	}
	b.pressed = true
}

// Release lets the button go.
func (b *Button) Release() { b.pressed = false }

// Line returns the level the button forces on its line, and false when it forces none.
func (b *Button) Line() (level int, forced bool) { return 0, b.pressed }

// Reset lets the button go and forgets the count.
func (b *Button) Reset() { *b = Button{} }

// State returns what to show.
func (b *Button) State() any { return State{Pressed: b.pressed, Presses: b.presses} }
