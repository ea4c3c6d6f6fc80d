// Package devicetest tests simulated devices: a world with a clock that the test moves by hand, transcripts of what goes over a
// wire, and the contract that every device keeps.
//
// A transcript is text, one step a line, with bytes in hex and comments after #:
//
//	w AC 33 00        write to an I2C device; AC! is a byte it does not acknowledge, w! an address it does not
//	r 1C ..           read from it; .. is any byte; r! an address it does not acknowledge
//	wr 00 : 59 30     write, repeated START, read
//	x 9F .. .. = EF   SPI: what is sent, and after = the last bytes that must come back
//	send FF 01        to a UART device
//	got 86            all that has come from it since the last got
//	line 0 1          the level that the device gives its line, or - when it lets it go
//	wait 80ms         move the clock
//	set KEY VALUE     or set VALUE, without a key
//	fault KIND        reset
//
// It is for tests alone and refuses, by failing the test, a transcript that it cannot read.
package devicetest

import (
	"math/rand/v2"
	"slices"
	"time"
)

// Epoch is when a world's clock starts: a Thursday, at noon.
var Epoch = time.Date(2026, time.January, 15, 12, 0, 0, 0, time.UTC)

// World is a bench of one device with a hand-driven clock. It is not safe for concurrent use.
type World struct {
	now    time.Time
	timers []*timer
	seq    int
	rand   *rand.Rand
	lines  map[int]int
	sent   []byte
	// BaudRate is what the program opened the UART with.
	BaudRate int64
}

type timer struct {
	at  time.Time
	seq int
	f   func()
}

// NewWorld returns a world at Epoch, its UART open at 9,600 bits a second.
func NewWorld() *World {
	return &World{now: Epoch, rand: rand.New(rand.NewPCG(1, 2)), lines: map[int]int{}, BaudRate: 9600} //nolint:gosec // repeatable
}

// Now returns the time.
func (w *World) Now() time.Time { return w.now }

// At has f called when the clock is advanced to t, or next if it has passed t.
func (w *World) At(t time.Time, f func()) (stop func()) {
	w.seq++
	tm := &timer{at: t, seq: w.seq, f: f}
	w.timers = append(w.timers, tm)
	return func() { w.timers = slices.DeleteFunc(w.timers, func(other *timer) bool { return other == tm }) }
}

// Advance moves the clock and calls what falls due on the way, in order.
func (w *World) Advance(d time.Duration) {
	end := w.now.Add(d)
	for {
		next := -1
		for i, tm := range w.timers {
			if tm.at.After(end) {
				continue
			}
			if next < 0 || tm.at.Before(w.timers[next].at) || tm.at.Equal(w.timers[next].at) && tm.seq < w.timers[next].seq {
				next = i
			}
		}
		if next < 0 {
			w.now = end
			return
		}
		tm := w.timers[next]
		w.timers = append(w.timers[:next], w.timers[next+1:]...)
		if tm.at.After(w.now) {
			w.now = tm.at
		}
		tm.f()
	}
}

// Force notes what the device gives its line.
func (w *World) Force(i, level int) { w.lines[i] = level }

// Level returns the level of a line: high unless the device holds it low.
func (w *World) Level(i int) int {
	if level, ok := w.lines[i]; ok && level >= 0 {
		return level
	}
	return 1
}

// Forced returns what the device gives line i: 0, 1, or -1 for nothing.
func (w *World) Forced(i int) int {
	if level, ok := w.lines[i]; ok {
		return level
	}
	return -1
}

// Rand is seeded alike in every world.
func (w *World) Rand() *rand.Rand { return w.rand }

// Send takes what the device says on its UART.
func (w *World) Send(p []byte) { w.sent = append(w.sent, p...) }

// Sent returns what the device has said since the last call.
func (w *World) Sent() []byte {
	sent := w.sent
	w.sent = nil
	return sent
}

// Baud returns BaudRate.
func (w *World) Baud() int64 { return w.BaudRate }
