// Package bh1750 simulates the ambient light sensor BH1750FVI, after Rohm's data sheet (technical note 11046EDT01).
//
// # Model
//
// One byte written is one instruction (table "Instruction set architecture"); a read gives the data register, high byte first. A
// measurement takes the typical time: 120 ms in the H modes, 16 ms in L, both by the measurement time register over 69 (section "Adjust
// measurement result for influence of optical window"). Its result is lux · 1.2 · MTreg/69, twice that in H mode 2, and 4 lx is the
// smallest step in L. Continuous modes measure again and again; one-time modes power down when they have measured. Until a measurement
// ends the register keeps what it had; a reset (07) clears it, unless powered down. A measurement shows the light at its end.
//
// # What it refuses
//
// It acknowledges and ignores undefined instructions, and takes measurement times outside 31 to 254 as the nearest of those. An
// instruction to measure also powers up, as the real part does though its flow chart shows a power-on before it.
package bh1750

import (
	"math"
	"time"

	"github.com/pal-terminal/pal/board/sim/device"
	"github.com/pal-terminal/pal/board/sim/setting"
)

const (
	usualMT = 69
	maxLux  = 120_000 // full sun; far above what the register holds
)

// mode is a way of measuring: bits 0 and 1 of its instruction.
type mode byte

const (
	high  mode = 0
	high2 mode = 1
	low   mode = 3
)

var modeNames = map[mode]string{high: "H", high2: "H2", low: "L"}

// Sensor is the part. It implements device.I2C.
type Sensor struct {
	setting.Faults
	w    device.World
	addr uint16
	lux  float64

	on        bool
	measuring bool
	once      bool
	mode      mode
	began     time.Time // the measurement under way
	length    time.Duration
	mt        byte
	data      uint16
	next      int
}

// State is what `pal sim show` prints.
type State struct {
	Lux       float64  `json:"lux"` // light on the sensor
	On        bool     `json:"on"`
	Measuring bool     `json:"measuring"`
	Mode      string   `json:"mode,omitempty"` // H, H2 or L
	MTreg     int      `json:"mtreg"`
	Data      int      `json:"data"` // the register
	Faults    []string `json:"faults,omitempty"`
}

// New builds a sensor in a light of 300 lx or of o.Value. Setting: lux, also without a name, 0 to 120,000. Faults: slow (ten times the
// typical time), stale (keeps its register), saturated.
func New(w device.World, o device.Options) (device.Device, error) {
	addr, err := setting.Address(o, 0x23, 0x5C)
	if err != nil {
		return nil, err
	}
	lux, err := setting.Start(o, 0, maxLux, 300)
	if err != nil {
		return nil, err
	}
	s := &Sensor{Faults: setting.NewFaults("slow", "stale", "saturated"), w: w, addr: addr, lux: float64(lux)}
	if err := setting.Apply(s, o.Values); err != nil {
		return nil, err
	}
	s.Reset()
	return s, nil
}

// Reset is a power-up: powered down, the register clear.
func (s *Sensor) Reset() {
	s.on, s.measuring, s.data, s.mt, s.next = false, false, 0, usualMT, 0
}

// Addresses returns the one address.
func (s *Sensor) Addresses() []uint16 { return []uint16{s.addr} }

// Start begins an instruction or a read.
func (s *Sensor) Start(bool) bool {
	s.settle()
	s.next = 0
	return true
}

// Write takes an instruction.
func (s *Sensor) Write(b byte) bool {
	switch {
	case b == 0x00:
		s.on, s.measuring = false, false
	case b == 0x01:
		s.on = true
	case b == 0x07:
		if s.on {
			s.data = 0
		}
	case b&0xF8 == 0x40:
		s.mt = b<<5 | s.mt&0x1F
	case b&0xE0 == 0x60:
		s.mt = s.mt&0xE0 | b&0x1F
	case b == 0x10, b == 0x11, b == 0x13, b == 0x20, b == 0x21, b == 0x23:
		s.measure(mode(b&3), b&0x20 != 0)
	}
	return true
}

// factor is the measurement time by its usual value. The register comes in two halves, between which it may be out of range: what is
// out of range counts as the nearest that is not.
func (s *Sensor) factor() float64 { return float64(min(max(s.mt, 31), 254)) / usualMT }

func (s *Sensor) measure(m mode, once bool) {
	s.on, s.measuring, s.mode, s.once, s.began = true, true, m, once, s.w.Now()
	s.length = s.duration()
}

// duration is how long a measurement that begins now takes.
func (s *Sensor) duration() time.Duration {
	ms := 120.0
	if s.mode == low {
		ms = 16
	}
	if s.Has("slow") {
		ms *= 10
	}
	return time.Duration(ms * s.factor() * float64(time.Millisecond))
}

// settle ends the measurements whose time is up.
func (s *Sensor) settle() {
	if !s.measuring {
		return
	}
	passed := s.w.Now().Sub(s.began)
	if passed < s.length {
		return
	}
	if !s.Has("stale") {
		s.data = s.counts()
	}
	if s.once {
		s.on, s.measuring = false, false
		return
	}
	// The first took what it was begun with, the following what is set now.
	s.began = s.began.Add(s.length)
	s.length = s.duration()
	s.began = s.began.Add(s.w.Now().Sub(s.began) / s.length * s.length)
}

// counts is what the light measures as.
func (s *Sensor) counts() uint16 {
	if s.Has("saturated") {
		return math.MaxUint16
	}
	lux := s.lux
	if s.mode == low {
		lux = math.Floor(lux/4) * 4
	}
	v := lux * 1.2 * s.factor()
	if s.mode == high2 {
		v *= 2
	}
	return uint16(min(math.Round(v), math.MaxUint16))
}

// Read gives the register, high byte first, and then the idle bus.
func (s *Sensor) Read() byte {
	s.next++
	switch s.next {
	case 1:
		return byte(s.data >> 8)
	case 2:
		return byte(s.data)
	}
	return 0xFF
}

// Stop ends a transaction.
func (s *Sensor) Stop() {}

// Set changes the light.
func (s *Sensor) Set(key, value string) error {
	if key != "" && key != "lux" {
		return setting.Unknown(key, "lux")
	}
	s.settle()
	v, err := setting.Float(key, value, 0, maxLux)
	if err == nil {
		s.lux = v
	}
	return err
}

// Fault starts or ends faults, of measurements that end from now on.
func (s *Sensor) Fault(kind string) error {
	s.settle()
	return s.Faults.Fault(kind)
}

// State returns what to show.
func (s *Sensor) State() any {
	s.settle()
	st := State{Lux: s.lux, On: s.on, Measuring: s.measuring, MTreg: int(s.mt), Data: int(s.data), Faults: s.Active()}
	if s.measuring {
		st.Mode = modeNames[s.mode]
	}
	return st
}
