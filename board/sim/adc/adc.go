// Package adc simulates a voltage at an analogue input of 12 bits: a steady value or a waveform in time. Equal seeds, settings
// and times give equal readings. It refuses values outside the converter's range.
package adc

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"
)

// Range of the converter.
const (
	MaxRaw    = 4095
	FullScale = 3_300_000 // microvolts at MaxRaw
)

// Input is an analogue input. Its methods are not safe for concurrent use: the bench serialises them.
type Input struct {
	seed  uint64
	start int // value after Reset
	hold  int // value without a wave
	wave  wave
	since time.Time // when the wave began
}

// wave is a waveform between low and high. The zero wave is none.
type wave struct {
	spec      string
	low, high float64
	period    time.Duration
	at        func(phase float64) float64 // 0 ≤ phase < 1 to 0 … 1; nil for noise
	noise     *rand.Rand
}

// State is what `pal sim show` prints.
type State struct {
	Raw        int    `json:"raw"`
	Microvolts int64  `json:"microvolts"`
	Wave       string `json:"wave,omitempty"`
}

// New returns an input at raw counts, which must be 0 to MaxRaw. seed feeds noise.
func New(raw int, seed uint64) (*Input, error) {
	if raw < 0 || raw > MaxRaw {
		return nil, fmt.Errorf("value %d is outside 0 to %d", raw, MaxRaw)
	}
	return &Input{seed: seed, start: raw, hold: raw}, nil
}

// Microvolts returns the voltage of raw counts.
func Microvolts(raw int) int64 { return int64(raw) * FullScale / MaxRaw }

// Set holds a value: raw counts ("2048") or volts ("1.5V"). It ends a wave.
func (in *Input) Set(value string) error {
	raw, err := parseValue(value)
	if err != nil {
		return err
	}
	in.hold, in.wave = raw, wave{}
	return nil
}

func parseValue(value string) (int, error) {
	if volts, ok := strings.CutSuffix(value, "V"); ok {
		v, err := strconv.ParseFloat(volts, 64)
		if err != nil || math.IsNaN(v) || v < 0 || v > FullScale/1e6 {
			return 0, fmt.Errorf("%q is not a voltage from 0V to %.1fV", value, FullScale/1e6)
		}
		return int(math.Round(v * 1e6 * MaxRaw / FullScale)), nil
	}
	raw, err := strconv.Atoi(value)
	if err != nil || raw < 0 || raw > MaxRaw {
		return 0, fmt.Errorf("%q is neither raw counts from 0 to %d nor a voltage such as 1.5V", value, MaxRaw)
	}
	return raw, nil
}

var shapes = map[string]func(phase float64) float64{
	"sine":     func(p float64) float64 { return 0.5 - 0.5*math.Cos(2*math.Pi*p) },
	"ramp":     func(p float64) float64 { return p },
	"triangle": func(p float64) float64 { return 1 - math.Abs(2*p-1) },
	"square":   func(p float64) float64 { return math.Floor(2 * p) },
}

// Wave starts a waveform now: "SHAPE:LOW,HIGH,PERIOD" with the shapes sine, ramp, triangle and square, which begin at LOW, or
// "noise:LOW,HIGH", a new value each reading. LOW and HIGH are values as for Set. "off" ends a wave at the value it has.
func (in *Input) Wave(spec string, now time.Time) error {
	if spec == "off" {
		in.hold, in.wave = in.Raw(now), wave{}
		return nil
	}
	shape, rest, _ := strings.Cut(spec, ":")
	args := strings.Split(rest, ",")
	w := wave{spec: spec, at: shapes[shape]}
	want := 3
	if shape == "noise" {
		w.noise = rand.New(rand.NewPCG(in.seed, in.seed)) //nolint:gosec // repeatable noise is the purpose
		want = 2
	} else if w.at == nil {
		return fmt.Errorf("%q is no waveform (sine, ramp, triangle, square, noise or off)", shape)
	}
	if len(args) != want {
		return fmt.Errorf("%s needs LOW,HIGH and, but for noise, PERIOD: sine:0,4095,10s", shape)
	}
	for i, to := range []*float64{&w.low, &w.high} {
		raw, err := parseValue(args[i])
		if err != nil {
			return err
		}
		*to = float64(raw)
	}
	if want == 3 {
		var err error
		if w.period, err = time.ParseDuration(args[2]); err != nil || w.period <= 0 {
			return fmt.Errorf("%q is not a period such as 10s", args[2])
		}
	}
	in.wave, in.since = w, now
	return nil
}

// Raw returns the reading at a time, 0 to MaxRaw.
func (in *Input) Raw(now time.Time) int {
	w := &in.wave
	if w.spec == "" {
		return in.hold
	}
	part := 0.0
	if w.noise != nil {
		part = w.noise.Float64()
	} else {
		elapsed := max(0, now.Sub(in.since)) % w.period
		part = w.at(float64(elapsed) / float64(w.period))
	}
	return int(math.Round(w.low + (w.high-w.low)*part))
}

// Reset holds the starting value.
func (in *Input) Reset() { in.hold, in.wave = in.start, wave{} }

// StateAt returns what to show. Showing noise draws no value from it: looking changes nothing.
func (in *Input) StateAt(now time.Time) any {
	raw := in.hold
	if in.wave.noise == nil {
		raw = in.Raw(now)
	}
	return State{Raw: raw, Microvolts: Microvolts(raw), Wave: in.wave.spec}
}
