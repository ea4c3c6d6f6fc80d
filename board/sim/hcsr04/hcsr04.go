// Package hcsr04 simulates the ultrasonic range finder HC-SR04 after its user's guide: a pulse of at least 10 µs on "trig" sends eight
// cycles of 40 kHz, then "echo" is high for the time the sound is under way, 58 µs for each centimetre there and back; 2 to 400 cm.
// Nothing in reach gives the longest pulse, 38 ms.
//
// A shorter trigger is ignored, and so is one while a measurement is under way.
package hcsr04

import (
	"math"
	"time"

	"github.com/pal-terminal/pal/board/sim/device"
	"github.com/pal-terminal/pal/board/sim/setting"
)

// Roles of the lines.
const trig, echo = 0, 1

const (
	perCM        = 58 * time.Microsecond
	leastTrigger = 10 * time.Microsecond
	burst        = 450 * time.Microsecond // from the trigger's end to the echo's begin: eight cycles and the part's own work
	outOfReach   = 38 * time.Millisecond
	nearest      = 2 // cm
	farthest     = 400
	outside      = 1000 // what may be set
)

// Finder is a range finder.
type Finder struct {
	setting.Faults
	w        device.World
	distance float64 // cm
	raised   time.Time
	high     bool // the trigger
	width    time.Duration
	begins   time.Time // of the echo of the last trigger
	fresh    bool      // nobody has been told its width yet
	busy     bool
	undo     []func()
	pings    int
	ignored  int
}

// State is what `pal sim show` prints.
type State struct {
	Distance float64  `json:"distance"` // cm
	Pings    int      `json:"pings"`    // measurements
	Ignored  int      `json:"ignored"`  // triggers too short or too early
	Faults   []string `json:"faults,omitempty"`
}

// New returns a range finder before a wall.
func New(w device.World, o device.Options) (device.Device, error) {
	f := &Finder{w: w, distance: 100, Faults: setting.NewFaults("timeout")}
	return f, setting.Apply(f, o.Values)
}

// Drive follows the trigger.
func (f *Finder) Drive(i, level int) {
	if i != trig || f.high == (level == 1) {
		return
	}
	now := f.w.Now()
	f.high = level == 1
	switch {
	case f.high:
		f.raised = now
	case f.busy || now.Sub(f.raised) < leastTrigger:
		f.ignored++
	default:
		f.ping(now)
	}
}

// ping measures: the echo begins and ends later.
func (f *Finder) ping(now time.Time) {
	f.pings++
	f.width = outOfReach
	if f.distance >= nearest && f.distance <= farthest {
		f.width = time.Duration(math.Round(f.distance * float64(perCM)))
	}
	if f.Has("timeout") {
		return // the echo never comes
	}
	f.busy, f.fresh, f.begins = true, true, now.Add(burst)
	f.undo = append(f.undo[:0],
		f.w.At(f.begins, func() { f.w.Force(echo, 1) }),
		f.w.At(f.begins.Add(f.width), f.end))
}

func (f *Finder) end() {
	f.busy = false
	f.w.Force(echo, 0)
}

// Pulse tells the echo of the last trigger, once. The program that asks may have been held up, as no microcontroller is, until the echo
// has begun or is over; it is told what it would have measured, and that measurement is over with it.
func (f *Finder) Pulse(i, level int, timeout time.Duration) (width time.Duration, ok bool) {
	if i != echo || level != 1 || !f.fresh || f.w.Now().Add(timeout).Before(f.begins) {
		return 0, false
	}
	f.fresh = false
	if f.busy {
		for _, stop := range f.undo {
			stop()
		}
		f.end()
	}
	return f.width, true
}

// Reset ends a measurement and forgets the counts.
func (f *Finder) Reset() {
	f.busy, f.fresh, f.pings, f.ignored = false, false, 0, 0
	f.w.Force(echo, 0)
}

// Set takes "distance" in cm, which the empty key means too. Below 2 and above 400 the part sees nothing.
func (f *Finder) Set(key, value string) error {
	if key != "" && key != "distance" {
		return setting.Unknown(key, "distance")
	}
	v, err := setting.Float(key, value, 0, outside)
	if err == nil {
		f.distance = v
	}
	return err
}

// State returns what to show.
func (f *Finder) State() any {
	return State{Distance: f.distance, Pings: f.pings, Ignored: f.ignored, Faults: f.Active()}
}
