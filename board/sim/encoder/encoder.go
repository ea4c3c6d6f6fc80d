// Package encoder simulates an incremental rotary encoder with two contacts to ground, "a" and "b", such as the EC11: each detent is one
// cycle of both, a quarter apart (ALPS EC11 data sheet, "output signal"), so a counter of all edges counts 4. Clockwise a comes
// first. Contacts do not bounce.
package encoder

import (
	"time"

	"github.com/pal-terminal/pal/board/sim/device"
	"github.com/pal-terminal/pal/board/sim/setting"
)

const (
	farthest    = 1000 // detents in one turn
	slowestEdge = 1_000_000
	fastestEdge = 20 // µs
)

// quadrature is which contacts are closed in the four parts of a cycle, clockwise.
var quadrature = [4][2]bool{{false, false}, {true, false}, {true, true}, {false, true}}

// Encoder is a rotary encoder.
type Encoder struct {
	setting.Faults
	w      device.World
	edge   time.Duration // from one edge to the next while it turns
	at     int           // quarters of a detent from the start
	target int
	moving bool
}

// State is what `pal sim show` prints.
type State struct {
	Position int  `json:"position"` // detents clockwise from the start
	Moving   bool `json:"moving"`
}

// New returns an encoder at rest, with both contacts open.
func New(w device.World, o device.Options) (device.Device, error) {
	e := &Encoder{w: w, edge: time.Millisecond}
	return e, setting.Apply(e, o.Values)
}

// Set takes "turn", which the empty key means too: so many detents further, clockwise when positive; and "edge_us", the time between
// two edges.
func (e *Encoder) Set(key, value string) error {
	switch key {
	case "", "turn":
		n, err := setting.Int(key, value, -farthest, farthest)
		if err != nil {
			return err
		}
		e.target += 4 * n
		e.move()
		return nil
	case "edge_us":
		us, err := setting.Int(key, value, fastestEdge, slowestEdge)
		if err == nil {
			e.edge = time.Duration(us) * time.Microsecond
		}
		return err
	}
	return setting.Unknown(key, "turn", "edge_us")
}

// move sees to the next edge.
func (e *Encoder) move() {
	if e.moving || e.at == e.target {
		return
	}
	e.moving = true
	e.w.At(e.w.Now().Add(e.edge), func() {
		e.moving = false
		switch {
		case e.at < e.target:
			e.at++
		case e.at > e.target:
			e.at--
		}
		e.show()
		e.move()
	})
}

func (e *Encoder) show() {
	for i, closed := range quadrature[e.at&3] {
		level := -1
		if closed {
			level = 0
		}
		e.w.Force(i, level)
	}
}

// Reset stops it where it is: contacts need no supply.
func (e *Encoder) Reset() {
	e.moving, e.target = false, e.at
	e.show()
}

// State returns what to show.
func (e *Encoder) State() any { return State{Position: e.at >> 2, Moving: e.moving} }
