// Package aht20 simulates the humidity and temperature sensors AHT20 (ASAIR, product manual A1 of 2020) and, with the value part=aht10,
// AHT10.
//
// # Model
//
// Commands (section 5.3, table 9): BE 08 00 initialises (AHT10: E1 08 00), AC 33 00 starts a measurement, BA resets softly. A read gives
// the status byte and then the last measurement (figure "read data"): humidity and temperature of 20 bits each, S = RH/100 · 2²⁰ and S =
// (T+50)/200 · 2²⁰ (section 6), and for the AHT20 the CRC-8 of those six bytes (section 5.4.4). 71, which manuals show before status
// reads, is the read address and, written as a command, changes nothing. Status (table 10): bit 7 busy, bit 3 calibrated, bit 4 as the
// parts have it in their normal mode. A measurement takes 80 ms (AHT10: 75 ms) and shows the quantities of its end; meanwhile reads give
// the busy bit and the measurement before. A soft reset takes 20 ms, in which the part does not answer.
//
// An AHT20 comes calibrated, an AHT10 has to be initialised after each power-up; the value calibrated says otherwise. What is not
// calibrated measures zeros.
//
// # What it refuses
//
// It acknowledges and ignores commands it does not know and parameters that are not those above, and everything but reads while
// busy. Not modelled: the registers of the calibration (1B, 1C, 1E) and the time after power-up.
package aht20

import (
	"fmt"
	"math"
	"time"

	"github.com/pal-terminal/pal/board/sim/crc"
	"github.com/pal-terminal/pal/board/sim/device"
	"github.com/pal-terminal/pal/board/sim/setting"
)

const (
	resetTime = 20 * time.Millisecond // section 5.5
	slowTime  = 500 * time.Millisecond

	busy       = 0x80
	normal     = 0x10
	calibrated = 0x08
	full       = 1<<20 - 1
)

// Sensor is the part. It implements device.I2C.
type Sensor struct {
	setting.Faults
	w                     device.World
	addr                  uint16
	aht10                 bool
	delivered             bool // calibrated after power-up
	temperature, humidity float64

	calibrated bool
	measuring  bool
	ready      time.Time // of the measurement under way
	deaf       time.Time // until when a soft reset takes
	raw        [2]uint32 // humidity and temperature of the last measurement
	taken      uint64

	command []byte
	frame   [7]byte
	next    int
}

// State is what `pal sim show` prints.
type State struct {
	Temperature  float64  `json:"temperature"` // °C around the sensor
	Humidity     float64  `json:"humidity"`    // % around the sensor
	Calibrated   bool     `json:"calibrated"`
	Busy         bool     `json:"busy"`
	Measurements uint64   `json:"measurements"`
	Faults       []string `json:"faults,omitempty"`
}

// New builds a sensor in air of 25 °C and 50 %. Values: part aht20 or aht10, calibrated on or off; settings: temperature (-40 to 85 °C),
// humidity (0 to 100 %). Faults: crc (wrong checksum; none on an AHT10), slow (busy for 500 ms), stale (measures but keeps the values),
// saturated (all bits set), uncalibrated.
func New(w device.World, o device.Options) (device.Device, error) {
	addr, err := setting.Address(o, 0x38)
	if err != nil {
		return nil, err
	}
	s := &Sensor{
		Faults: setting.NewFaults("crc", "slow", "stale", "saturated", "uncalibrated"), w: w, addr: addr, delivered: true, temperature: 25, humidity: 50,
		command: make([]byte, 0, 3),
	}
	if part, ok := o.Values["part"]; ok {
		if part != "aht20" && part != "aht10" {
			return nil, fmt.Errorf("part: %q is neither aht20 nor aht10", part)
		}
		s.aht10 = part == "aht10"
		s.delivered = !s.aht10
	}
	if v, ok := o.Values["calibrated"]; ok {
		if s.delivered, err = setting.Bool("calibrated", v); err != nil {
			return nil, err
		}
	}
	if err := setting.Apply(s, o.Values, "part", "calibrated"); err != nil {
		return nil, err
	}
	s.Reset()
	return s, nil
}

// Reset is a power-up. The air stays as it is.
func (s *Sensor) Reset() {
	s.calibrated, s.measuring = s.delivered, false
	s.deaf, s.raw, s.next = time.Time{}, [2]uint32{}, 0
	s.command = s.command[:0]
}

// Addresses returns the one address.
func (s *Sensor) Addresses() []uint16 { return []uint16{s.addr} }

// Start begins a command or a read.
func (s *Sensor) Start(read bool) bool {
	if s.w.Now().Before(s.deaf) {
		return false
	}
	s.settle()
	s.command = s.command[:0]
	if read {
		s.latch()
	}
	return true
}

// Write takes a byte of a command.
func (s *Sensor) Write(b byte) bool {
	if len(s.command) == cap(s.command) {
		return true // more than any command has
	}
	s.command = append(s.command, b)
	if s.measuring {
		return true
	}
	initialise := byte(0xBE)
	if s.aht10 {
		initialise = 0xE1
	}
	switch c := s.command; {
	case len(c) == 1 && b == 0xBA:
		s.Reset()
		s.deaf = s.w.Now().Add(resetTime)
	case len(c) != 3 || c[2] != 0:
	case c[0] == initialise && c[1] == 0x08:
		s.calibrated = true
	case c[0] == 0xAC && c[1] == 0x33:
		s.measuring = true
		s.ready = s.w.Now().Add(s.conversion())
	}
	return true
}

// conversion is how long a measurement takes.
func (s *Sensor) conversion() time.Duration {
	switch {
	case s.Has("slow"):
		return slowTime
	case s.aht10:
		return 75 * time.Millisecond
	}
	return 80 * time.Millisecond
}

// settle ends a measurement whose time is up.
func (s *Sensor) settle() {
	if !s.measuring || s.w.Now().Before(s.ready) {
		return
	}
	s.measuring = false
	s.taken++
	switch {
	case s.Has("stale"):
	case s.Has("saturated"):
		s.raw = [2]uint32{full, full}
	case !s.ok():
		s.raw = [2]uint32{}
	default:
		s.raw = [2]uint32{scale(s.humidity / 100), scale((s.temperature + 50) / 200)}
	}
}

func scale(part float64) uint32 { return uint32(min(math.Round(part*(full+1)), full)) }

func (s *Sensor) ok() bool { return s.calibrated && !s.Has("uncalibrated") }

// latch fixes what the read that begins will give.
func (s *Sensor) latch() {
	status := byte(normal)
	if s.ok() {
		status |= calibrated
	}
	if s.measuring {
		status |= busy
	}
	h, t := s.raw[0], s.raw[1]
	s.frame = [7]byte{status, byte(h >> 12), byte(h >> 4), byte(h<<4) | byte(t>>16), byte(t >> 8), byte(t), 0xFF}
	if !s.aht10 {
		s.frame[6] = crc.Eight(s.frame[:6]...)
		if s.Has("crc") {
			s.frame[6] ^= 0x55
		}
	}
	s.next = 0
}

// Read gives the next byte of what was latched, and the idle bus after it.
func (s *Sensor) Read() byte {
	if s.next == len(s.frame) {
		return 0xFF
	}
	s.next++
	return s.frame[s.next-1]
}

// Stop ends a transaction.
func (s *Sensor) Stop() {}

// Set changes the air around the sensor.
func (s *Sensor) Set(key, value string) error {
	s.settle()
	var err error
	var v float64
	switch key {
	case "temperature":
		if v, err = setting.Float(key, value, -40, 85); err == nil {
			s.temperature = v
		}
	case "humidity":
		if v, err = setting.Float(key, value, 0, 100); err == nil {
			s.humidity = v
		}
	default:
		err = setting.Unknown(key, "temperature", "humidity")
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
	return State{Temperature: s.temperature, Humidity: s.humidity, Calibrated: s.ok(), Busy: s.measuring, Measurements: s.taken, Faults: s.Active()}
}
