// Package serial is what simulated devices on a UART have in common: the time that characters take on the wire, and what becomes of them
// when the two ends have opened it at different rates.
//
// It refuses nothing. Between different rates there is noise: as many bytes as were sent, of any value.
package serial

import (
	"time"

	"github.com/pal-terminal/pal/board/sim/device"
)

// bits of a character: start, eight, stop.
const bits = 10

// Port is a device's end of a UART.
type Port struct {
	W    device.World
	Rate int64 // bits a second
}

// Characters returns how long n characters take.
func (p Port) Characters(n float64) time.Duration {
	return time.Duration(n * bits * float64(time.Second) / float64(p.Rate))
}

// Hears returns what the device hears of what the board sends.
func (p Port) Hears(b []byte) []byte {
	if p.W.Baud() == p.Rate {
		return b
	}
	return p.noise(len(b))
}

// Send brings b to the board now: its last character has arrived.
func (p Port) Send(b []byte) {
	switch p.W.Baud() {
	case p.Rate:
		p.W.Send(b)
	case 0: // nobody listens
	default:
		p.W.Send(p.noise(len(b)))
	}
}

// SendAfter begins to send b after a pause; it arrives when its last character has. stop undoes that.
func (p Port) SendAfter(pause time.Duration, b []byte) (stop func()) {
	return p.W.At(p.W.Now().Add(pause+p.Characters(float64(len(b)))), func() { p.Send(b) })
}

func (p Port) noise(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(p.W.Rand().Uint32())
	}
	return b
}
