// Package buzzer simulates a passive piezo buzzer: it sounds at the frequency of PWM on its line, and clicks when the level changes.
// It refuses nothing.
package buzzer

import (
	"slices"

	"github.com/pal-terminal/pal/board/sim/device"
	"github.com/pal-terminal/pal/board/sim/setting"
)

const melody = 32 // tones remembered

// Buzzer is a buzzer.
type Buzzer struct {
	setting.Faults
	freq  int64
	level int
	tones []int64
	total int
	click int
}

// State is what `pal sim show` prints.
type State struct {
	Sounding  bool    `json:"sounding"`
	Frequency int64   `json:"frequency"` // Hz, 0 in silence
	Tones     int     `json:"tones"`     // begun since the bench was made or reset
	Melody    []int64 `json:"melody"`    // the last of them, in Hz
	Clicks    int     `json:"clicks"`
}

// New returns a silent buzzer.
func New(_ device.World, o device.Options) (device.Device, error) {
	b := &Buzzer{}
	return b, setting.Apply(b, o.Values)
}

// Drive clicks.
func (b *Buzzer) Drive(_, level int) {
	if level != b.level {
		b.level = level
		b.click++
	}
}

// PWM sounds. A line that is high or low all the time is silent.
func (b *Buzzer) PWM(_ int, freq int64, duty int) {
	if duty == 0 || duty == 65_535 {
		freq = 0
	}
	if freq == b.freq {
		return
	}
	b.freq = freq
	if freq == 0 {
		return
	}
	b.total++
	if len(b.tones) == melody {
		b.tones = slices.Delete(b.tones, 0, 1)
	}
	b.tones = append(b.tones, freq)
}

// Reset forgets the tones.
func (b *Buzzer) Reset() { b.tones, b.total, b.click = nil, 0, 0 }

// Set refuses: a buzzer has nothing to set.
func (b *Buzzer) Set(key, _ string) error { return setting.Unknown(key) }

// State returns what to show.
func (b *Buzzer) State() any {
	return State{Sounding: b.freq > 0, Frequency: b.freq, Tones: b.total, Melody: append([]int64{}, b.tones...), Clicks: b.click}
}
