// Package adc simulates a voltage at an analogue input of 12 bits: a steady value or a waveform in time. Equal seeds, settings
// and times give equal readings. It refuses values outside the converter's range.
package adc

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/pal-terminal/pal/board/sim/device"
	"github.com/pal-terminal/pal/board/sim/setting"
)

// Range of the converter.
const (
	MaxRaw    = 4095
	FullScale = 3_300_000 // microvolts at MaxRaw
)

// Input is an analogue input.
type Input struct {
	setting.Faults
	w     device.World
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
	noise     bool
}

// State is what `pal sim show` prints.
type State struct {
	Raw        int    `json:"raw"`
	Microvolts int64  `json:"microvolts"`
	Wave       string `json:"wave,omitempty"`
}

// New returns an input at o.Value counts, 0 to MaxRaw, 0 when there is none.
func New(w device.World, o device.Options) (device.Device, error) {
	in := &Input{w: w}
	if o.Value != nil {
		in.hold = *o.Value
	}
	if in.hold < 0 || in.hold > MaxRaw {
		return nil, fmt.Errorf("value %d is outside 0 to %d", in.hold, MaxRaw)
	}
	return in, setting.Apply(in, o.Values)
}

// Microvolts returns the voltage of raw counts.
func Microvolts(raw int) int64 { return int64(raw) * FullScale / MaxRaw }

// Set holds a value: raw counts ("2048") or volts ("1.5V"). It ends a wave. The key is empty.
func (in *Input) Set(key, value string) error {
	if key != "" {
		return setting.Unknown(key, "a value alone")
	}
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
func (in *Input) Wave(spec string) error {
	if spec == "off" {
		in.hold, in.wave = in.Raw(0), wave{}
		return nil
	}
	shape, rest, _ := strings.Cut(spec, ":")
	args := strings.Split(rest, ",")
	w := wave{spec: spec, at: shapes[shape]}
	want := 3
	if shape == "noise" {
		w.noise = true
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
	in.wave, in.since = w, in.w.Now()
	return nil
}

// Raw returns the reading now, 0 to MaxRaw.
func (in *Input) Raw(int) int {
	w := &in.wave
	if w.spec == "" {
		return in.hold
	}
	part := 0.0
	if w.noise {
		part = in.w.Rand().Float64()
	} else {
		elapsed := max(0, in.w.Now().Sub(in.since)) % w.period
		part = w.at(float64(elapsed) / float64(w.period))
	}
	return int(math.Round(w.low + (w.high-w.low)*part))
}

// Reset does nothing: the voltage is the world's, whatever the bench's supply does.
func (in *Input) Reset() {}

// State returns what to show. Showing noise draws no value from it: looking changes nothing.
func (in *Input) State() any {
	raw := in.hold
	if !in.wave.noise {
		raw = in.Raw(0)
	}
	return State{Raw: raw, Microvolts: Microvolts(raw), Wave: in.wave.spec}
}
