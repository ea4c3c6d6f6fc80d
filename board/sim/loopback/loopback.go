// Package loopback simulates a wire from a UART's TX to its RX: what is sent comes back, at any rate. It models no part and takes no time
// of its own.
//
// It refuses settings, having none.
package loopback

import (
	"github.com/pal-terminal/pal/board/sim/device"
	"github.com/pal-terminal/pal/board/sim/setting"
)

// Wire is the wire. It implements device.UART.
type Wire struct {
	setting.Faults
	w      device.World
	echoed uint64
}

// State is what `pal sim show` prints.
type State struct {
	Echoed uint64   `json:"echoed"` // bytes since power-up
	Faults []string `json:"faults,omitempty"`
}

// New builds a wire. Faults: open (nothing comes back), noise (one bit of each byte is wrong).
func New(w device.World, o device.Options) (device.Device, error) {
	l := &Wire{Faults: setting.NewFaults("open", "noise"), w: w}
	if err := setting.Apply(l, o.Values); err != nil {
		return nil, err
	}
	return l, nil
}

// Reset forgets the count.
func (l *Wire) Reset() { l.echoed = 0 }

// Receive gives back what was sent.
func (l *Wire) Receive(p []byte) {
	if l.Has("open") {
		return
	}
	back := append([]byte(nil), p...)
	if l.Has("noise") {
		for i := range back {
			back[i] ^= 1 << l.w.Rand().IntN(8)
		}
	}
	l.echoed += uint64(len(back))
	l.w.Send(back)
}

// Set refuses: there is nothing to set.
func (l *Wire) Set(key, _ string) error { return setting.Unknown(key, "nothing") }

// State returns what to show.
func (l *Wire) State() any { return State{Echoed: l.echoed, Faults: l.Active()} }
