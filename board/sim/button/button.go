// Package button simulates a push button between a line and ground: it pulls the line low while pressed and lets it go
// otherwise, so the level then is the pull-up's. Contacts do not bounce unless "bounce" says for how many milliseconds they do:
// then they open and close again at random in that time after each press and release, as cheap buttons do for a few.
package button

import (
	"time"

	"github.com/pal-terminal/pal/board/sim/device"
	"github.com/pal-terminal/pal/board/sim/setting"
)

const (
	longestBounce = 100 // ms
	bounces       = 5   // level changes at most in one
)

// Button is a push button.
type Button struct {
	setting.Faults
	w       device.World
	bounce  time.Duration
	pressed bool
	presses int
}

// State is what `pal sim show` prints.
type State struct {
	Pressed bool `json:"pressed"`
	Presses int  `json:"presses"` // since the bench was made or reset
}

// New returns a button that nobody presses.
func New(w device.World, o device.Options) (device.Device, error) {
	b := &Button{w: w}
	return b, setting.Apply(b, o.Values)
}

// Press holds the button down. It may be repeated.
func (b *Button) Press() {
	if !b.pressed {
		b.presses++
		b.move(true)
	}
}

// Release lets the button go. It may be repeated.
func (b *Button) Release() {
	if b.pressed {
		b.move(false)
	}
}

func (b *Button) move(down bool) {
	b.pressed = down
	b.contact(down)
	if b.bounce == 0 {
		return
	}
	// Pairs of changes, so that the last one is the finger's.
	left := 2 * (1 + b.w.Rand().IntN(bounces/2))
	at := b.w.Now()
	for i := range left {
		at = at.Add(time.Duration(1 + b.w.Rand().Int64N(int64(b.bounce)/int64(left))))
		closed := (i%2 == 0) != down
		b.w.At(at, func() { b.contact(closed) })
	}
}

// contact joins the line to ground or lets it go.
func (b *Button) contact(closed bool) {
	level := -1
	if closed {
		level = 0
	}
	b.w.Force(0, level)
}

// Reset lets the button go and forgets the count.
func (b *Button) Reset() {
	b.pressed, b.presses = false, 0
	b.w.Force(0, -1)
}

// Set takes "bounce", in milliseconds.
func (b *Button) Set(key, value string) error {
	if key != "bounce" {
		return setting.Unknown(key, "bounce")
	}
	ms, err := setting.Int(key, value, 0, longestBounce)
	if err == nil {
		b.bounce = time.Duration(ms) * time.Millisecond
	}
	return err
}

// State returns what to show.
func (b *Button) State() any { return State{Pressed: b.pressed, Presses: b.presses} }
