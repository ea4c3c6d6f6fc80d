// Package bmp280 simulates the pressure sensor BMP280 on I2C, after Bosch's data sheet, revision 1.14.
//
// # Model
//
// Registers are those of the memory map (section 4.2, table 18). A read goes up from the register that was named last; a write is pairs
// of register and value (section 5.2.1). The calibration is the one of the data sheet's worked example (section 3.12, table 22), so that
// its raw values 519,888 and 415,148 are 25.08 °C and 1,006.53 hPa; for what is around the sensor the raw values are found by searching
// the compensation formulas of section 8.1 backwards. A measurement takes the typical time of section 3.8.1, 1 ms + 2 ms per oversampling
// step of each quantity + 0.5 ms for pressure, and shows what is around at its end. Forced mode measures once and sleeps; normal mode
// measures, stands by (table 11) and measures again. Resolution grows with oversampling from 16 to 20 bits and is 20 bits with the filter
// (sections 3.3.1 and 3.3.2); the filter is the one of section 3.3.3. A skipped quantity reads 0x80000. A burst is of one measurement
// (section 3.9).
//
// # What it refuses
//
// It acknowledges and ignores writes to other registers than ctrl_meas, config and reset. Not modelled: SPI, noise, the start-up time of
// 2 ms.
package bmp280

import (
	"time"

	"github.com/pal-terminal/pal/board/sim/device"
	"github.com/pal-terminal/pal/board/sim/setting"
)

// Registers: table 18.
const (
	regCalibration = 0x88
	regID          = 0xD0
	regReset       = 0xE0
	regStatus      = 0xF3
	regControl     = 0xF4
	regConfig      = 0xF5
	regPressure    = 0xF7
	regTemperature = 0xFA

	chipID    = 0x58
	softReset = 0xB6
	measuring = 0x08
	skipped   = 0x80000
)

// Modes: table 10. 10b is forced as well.
const (
	sleep  = 0
	normal = 3
)

// standby is table 11.
var standby = [8]time.Duration{
	500 * time.Microsecond, 62_500 * time.Microsecond, 125 * time.Millisecond, 250 * time.Millisecond, 500 * time.Millisecond,
	time.Second, 2 * time.Second, 4 * time.Second,
}

// Sensor is the part. It implements device.I2C.
type Sensor struct {
	setting.Faults
	w                     device.World
	addr                  uint16
	temperature, pressure float64 // °C and hPa around the sensor

	control, config byte
	began           time.Time // the cycle under way
	results         [2]int    // pressure and temperature, 20 bits
	filtered        [2]int    // what the filter remembers, -1 for nothing
	measured        uint64

	reg   byte
	named bool
	burst [6]byte // F7 to FC as the read under way gives them
}

// State is what `pal sim show` prints.
type State struct {
	Temperature float64  `json:"temperature"` // °C around the sensor
	Pressure    float64  `json:"pressure"`    // hPa around the sensor
	Mode        string   `json:"mode"`
	Measuring   bool     `json:"measuring"`
	Measured    uint64   `json:"measured"`
	RawT        int      `json:"raw_temperature"`
	RawP        int      `json:"raw_pressure"`
	Faults      []string `json:"faults,omitempty"`
}

// New builds a sensor in the air of the data sheet's example. Settings: temperature (-40 to 85 °C), pressure (300 to 1100 hPa). Faults:
// slow (ten times the typical time), stale (keeps its results), saturated (all bits set).
func New(w device.World, o device.Options) (device.Device, error) {
	addr, err := setting.Address(o, 0x76, 0x77)
	if err != nil {
		return nil, err
	}
	s := &Sensor{Faults: setting.NewFaults("slow", "stale", "saturated"), w: w, addr: addr, temperature: 25.0825, pressure: 1006.5327}
	if err := setting.Apply(s, o.Values); err != nil {
		return nil, err
	}
	s.Reset()
	return s, nil
}

// Reset is a power-up or a soft reset.
func (s *Sensor) Reset() {
	s.control, s.config, s.reg = 0, 0, 0
	s.results, s.filtered = [2]int{skipped, skipped}, [2]int{-1, -1}
}

// Addresses returns the one address.
func (s *Sensor) Addresses() []uint16 { return []uint16{s.addr} }

// Start begins a write, whose first byte names a register, or a read.
func (s *Sensor) Start(read bool) bool {
	s.settle()
	s.named = false
	if read {
		for i, v := range s.results {
			s.burst[3*i], s.burst[3*i+1], s.burst[3*i+2] = byte(v>>12), byte(v>>4), byte(v<<4)
		}
	}
	return true
}

// Write takes a register and a value in turns.
func (s *Sensor) Write(b byte) bool {
	if !s.named {
		s.reg, s.named = b, true
		return true
	}
	s.named = false
	switch s.reg {
	case regReset:
		if b == softReset {
			s.Reset()
		}
	case regControl:
		s.control = b
		s.began = s.w.Now()
	case regConfig:
		s.config = b &^ 2 // bit 1 does not exist
	}
	return true
}

// Read gives the register and goes on to the next.
func (s *Sensor) Read() byte {
	r := s.reg
	s.reg++
	switch {
	case r >= regCalibration && int(r) < regCalibration+2*len(calibration):
		word := uint16(calibration[(r-regCalibration)/2])
		return byte(word >> (8 * (r & 1)))
	case r == regID:
		return chipID
	case r == regStatus:
		if s.busy() {
			return measuring
		}
	case r == regControl:
		return s.control
	case r == regConfig:
		return s.config
	case r >= regPressure && r < regPressure+6:
		return s.burst[r-regPressure]
	}
	return 0
}

// Stop ends a transaction.
func (s *Sensor) Stop() {}

func (s *Sensor) mode() byte { return s.control & 3 }

// steps returns the oversampling of a quantity by its three bits: 0, 1, 2, 4, 8 or 16 (tables 4 and 5).
func steps(bits byte) int {
	return 1 << min(bits&7, 5) >> 1
}

// takes is how long a measurement is: section 3.8.1.
func (s *Sensor) takes() time.Duration {
	t, p := steps(s.control>>5), steps(s.control>>2)
	d := time.Millisecond + time.Duration(t+p)*2*time.Millisecond
	if p > 0 {
		d += 500 * time.Microsecond
	}
	if s.Has("slow") {
		d *= 10
	}
	return d
}

// busy tells whether a measurement is under way; settle must have run.
func (s *Sensor) busy() bool {
	return s.mode() != sleep && s.w.Now().Sub(s.began) < s.takes() && !s.w.Now().Before(s.began)
}

// settle ends the measurements whose time is up.
func (s *Sensor) settle() {
	passed := s.w.Now().Sub(s.began)
	takes := s.takes()
	if s.mode() == sleep || passed < takes {
		return
	}
	if s.mode() != normal {
		s.control &^= 3
		s.measure(1)
		return
	}
	cycle := takes + standby[s.config>>5]
	n := int64((passed + cycle - takes) / cycle) // ended since began
	// began moves to the first cycle that has not ended, which may begin later: a standby comes before it.
	s.began = s.began.Add(time.Duration(n) * cycle)
	s.measure(n)
}

// measure does n measurements of the same air.
func (s *Sensor) measure(n int64) {
	s.measured += uint64(n)
	if s.Has("stale") {
		return
	}
	rawT := searchTemperature(s.temperature)
	raw := [2]int{searchPressure(s.pressure, rawT), rawT}
	for i, oversampling := range [2]int{steps(s.control >> 2), steps(s.control >> 5)} {
		switch {
		case s.Has("saturated"):
			s.results[i] = top
		case oversampling == 0:
			s.results[i], s.filtered[i] = skipped, -1
		default:
			s.results[i] = s.filter(i, raw[i], oversampling, n)
		}
	}
}

// filter returns what n measurements of a raw value read as.
func (s *Sensor) filter(i, raw, oversampling int, n int64) int {
	bits := s.config >> 2 & 7
	if bits == 0 {
		s.filtered[i] = -1
		mask := 16/oversampling - 1 // 16 bits at ×1, one more with each doubling
		return raw &^ mask
	}
	c := 1 << min(bits, 4) // 2, 4, 8 or 16
	if s.filtered[i] < 0 {
		s.filtered[i] = raw
	}
	for range min(n, 1000) { // it has long arrived
		s.filtered[i] = (s.filtered[i]*(c-1) + raw) / c
	}
	return s.filtered[i]
}

// Set changes the air around the sensor.
func (s *Sensor) Set(key, value string) error {
	s.settle()
	field, lo, hi := &s.temperature, -40.0, 85.0
	switch key {
	case "temperature":
	case "pressure":
		field, lo, hi = &s.pressure, 300, 1100
	default:
		return setting.Unknown(key, "temperature", "pressure")
	}
	v, err := setting.Float(key, value, lo, hi)
	if err == nil {
		*field = v
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
	return State{
		Temperature: s.temperature, Pressure: s.pressure, Mode: [4]string{"sleep", "forced", "forced", "normal"}[s.mode()], Measuring: s.busy(),
		Measured: s.measured, RawP: s.results[0], RawT: s.results[1], Faults: s.Active(),
	}
}
