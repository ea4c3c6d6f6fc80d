// Package sgp30 simulates the gas sensor SGP30, after Sensirion's data sheet, version 1.0.
//
// # Model
//
// Commands have 16 bits, words on the wire two bytes and a CRC-8 (section 6.6, table 9). Commands are those of tables 10 to 12 and take
// their longest duration, in which the part does not acknowledge a read. Air quality is measured after 2003 (init): for 15 s results are
// fixed at 400 ppm and 0 ppb, then they are what is around the sensor (section 6.3); without init they stay fixed. Baselines are words
// that get (2015: CO₂eq, then TVOC) and set (201E: TVOC, then CO₂eq) handle in their opposite orders. The general call 0006 is the
// bench's to deliver, as a loss of power.
//
// A program ought to measure once a second. The state counts the measurements that came earlier or later, by more than a tenth.
//
// # What it refuses
//
// The second byte of unknown commands and the checksum of a wrong word are not acknowledged, and nothing happens. Reads without a
// result are not acknowledged. Not modelled: the algorithm's slow change of its baselines and the sensor's own 12 hours of burning in.
package sgp30

import (
	"time"

	"github.com/pal-terminal/pal/board/sim/crc"
	"github.com/pal-terminal/pal/board/sim/device"
	"github.com/pal-terminal/pal/board/sim/setting"
)

const (
	warmUp     = 15 * time.Second
	cadence    = time.Second
	restCO2    = 400 // ppm, also the least there is
	mostCO2    = 60_000
	mostTVOC   = 60_000 // ppb
	testPassed = 0xD400
	featureSet = 0x0022 // product type 0, version 0x22
	baseCO2    = 0x8CD2 // some baselines of clean air; no data sheet has values
	baseTVOC   = 0x8F1B
)

// command is a row of tables 10 to 12.
type command struct {
	words int // parameters
	takes time.Duration
	do    func(s *Sensor, p []uint16) []uint16
}

var commands = map[uint16]command{
	0x2003: {0, 10 * time.Millisecond, (*Sensor).initialise},
	0x2008: {0, 12 * time.Millisecond, (*Sensor).measure},
	0x2015: {0, 10 * time.Millisecond, func(s *Sensor, _ []uint16) []uint16 { return []uint16{s.baseCO2, s.baseTVOC} }},
	0x201E: {2, 10 * time.Millisecond, func(s *Sensor, p []uint16) []uint16 { s.baseTVOC, s.baseCO2 = p[0], p[1]; return nil }},
	0x2032: {0, 220 * time.Millisecond, func(*Sensor, []uint16) []uint16 { return []uint16{testPassed} }},
	0x2061: {1, 10 * time.Millisecond, func(s *Sensor, p []uint16) []uint16 { s.absolute = p[0]; return nil }},
	0x202F: {0, 10 * time.Millisecond, func(*Sensor, []uint16) []uint16 { return []uint16{featureSet} }},
	0x2050: {0, 25 * time.Millisecond, func(s *Sensor, _ []uint16) []uint16 { return []uint16{uint16(s.h2), uint16(s.ethanol)} }},
	0x3682: {0, 500 * time.Microsecond, func(s *Sensor, _ []uint16) []uint16 { return s.serial[:] }},
}

// Sensor is the part. It implements device.I2C.
type Sensor struct {
	setting.Faults
	w                      device.World
	addr                   uint16
	co2, tvoc, h2, ethanol int
	serial                 [3]uint16

	running           bool // since 2003
	since, last       time.Time
	co2Read, tvocRead uint16 // last results
	baseCO2, baseTVOC uint16
	absolute          uint16
	measured, uneven  uint64

	in    []byte
	code  uint16
	bad   bool
	until time.Time // the command under way
	out   []byte
	next  int
}

// State is what `pal sim show` prints.
type State struct {
	CO2      int      `json:"co2"`  // ppm CO₂eq around the sensor
	TVOC     int      `json:"tvoc"` // ppb around the sensor
	H2       int      `json:"h2"`   // raw signals
	Ethanol  int      `json:"ethanol"`
	Running  bool     `json:"running"`   // init has come
	WarmedUp bool     `json:"warmed_up"` // and 15 s have passed
	Measured uint64   `json:"measured"`
	Uneven   uint64   `json:"uneven"`   // measurements off the cadence of 1 s
	Humidity float64  `json:"humidity"` // g/m³ that the program told, 0 for none
	Faults   []string `json:"faults,omitempty"`
}

// New builds a sensor in air of 600 ppm and 50 ppb, or of o.Value ppm, with a serial number from the bench's seed. Settings: co2 (400 to
// 60,000 ppm, also without a name), tvoc (0 to 60,000 ppb), h2 and ethanol (raw signals, 0 to 65,535). Faults: crc (wrong checksums),
// slow (ten times the duration), stale (keeps its results), saturated.
func New(w device.World, o device.Options) (device.Device, error) {
	addr, err := setting.Address(o, 0x58)
	if err != nil {
		return nil, err
	}
	co2, err := setting.Start(o, restCO2, mostCO2, 600)
	if err != nil {
		return nil, err
	}
	s := &Sensor{Faults: setting.NewFaults("crc", "slow", "stale", "saturated"), w: w, addr: addr, co2: co2, tvoc: 50, h2: 13_200, ethanol: 18_500}
	for i := range s.serial {
		s.serial[i] = uint16(w.Rand().Uint32())
	}
	if err := setting.Apply(s, o.Values); err != nil {
		return nil, err
	}
	s.Reset()
	return s, nil
}

// Reset is a power-up or a soft reset: init has to come anew, baselines are forgotten.
func (s *Sensor) Reset() {
	s.running, s.until, s.out, s.in, s.absolute = false, time.Time{}, nil, s.in[:0], 0
	s.co2Read, s.tvocRead = restCO2, 0
	s.baseCO2, s.baseTVOC = baseCO2, baseTVOC
	s.measured, s.uneven = 0, 0
}

// Addresses returns the one address.
func (s *Sensor) Addresses() []uint16 { return []uint16{s.addr} }

// Start refuses reads while a command is under way and when there is nothing to be read.
func (s *Sensor) Start(read bool) bool {
	s.in, s.bad, s.next = s.in[:0], false, 0
	if s.w.Now().Before(s.until) {
		return false
	}
	return !read || len(s.out) > 0
}

// Write takes a command and its parameters. It is done when the last byte has come.
func (s *Sensor) Write(b byte) bool {
	if s.bad || len(s.in) > 8 {
		return false
	}
	s.in = append(s.in, b)
	n := len(s.in)
	if n == 1 {
		return true
	}
	if n == 2 {
		s.code = uint16(s.in[0])<<8 | uint16(b)
	}
	c, known := commands[s.code]
	params := s.in[2:]
	switch {
	case !known, len(params) > 3*c.words:
		s.bad = true
	case n > 2 && len(params)%3 == 0:
		s.bad = crc.Eight(params[len(params)-3:len(params)-1]...) != b
	}
	if !s.bad && len(params) == 3*c.words {
		s.perform(c, params)
	}
	return !s.bad
}

func (s *Sensor) perform(c command, params []byte) {
	var words []uint16
	for i := 0; i < len(params); i += 3 {
		words = append(words, uint16(params[i])<<8|uint16(params[i+1]))
	}
	s.out = nil
	for _, word := range c.do(s, words) {
		high, low := byte(word>>8), byte(word)
		sum := crc.Eight(high, low)
		if s.Has("crc") {
			sum ^= 0x55
		}
		s.out = append(s.out, high, low, sum)
	}
	takes := c.takes
	if s.Has("slow") {
		takes *= 10
	}
	s.until = s.w.Now().Add(takes)
}

func (s *Sensor) initialise([]uint16) []uint16 {
	s.running, s.since, s.last = true, s.w.Now(), time.Time{}
	return nil
}

func (s *Sensor) measure([]uint16) []uint16 {
	now := s.w.Now()
	if s.measured++; !s.last.IsZero() && (now.Sub(s.last)-cadence).Abs() > cadence/10 {
		s.uneven++
	}
	s.last = now
	switch {
	case s.Has("stale"):
	case s.Has("saturated"):
		s.co2Read, s.tvocRead = mostCO2, mostTVOC
	case s.warm():
		s.co2Read, s.tvocRead = uint16(s.co2), uint16(s.tvoc)
	default:
		s.co2Read, s.tvocRead = restCO2, 0
	}
	return []uint16{s.co2Read, s.tvocRead}
}

func (s *Sensor) warm() bool { return s.running && s.w.Now().Sub(s.since) >= warmUp }

// Read gives the next byte of the answer, and the idle bus after it.
func (s *Sensor) Read() byte {
	if s.next == len(s.out) {
		return 0xFF
	}
	s.next++
	return s.out[s.next-1]
}

// Stop ends a transaction.
func (s *Sensor) Stop() {}

// Set changes the air around the sensor.
func (s *Sensor) Set(key, value string) error {
	field, lo, hi := &s.co2, restCO2, mostCO2
	switch key {
	case "", "co2":
	case "tvoc":
		field, lo, hi = &s.tvoc, 0, mostTVOC
	case "h2":
		field, lo, hi = &s.h2, 0, 65_535
	case "ethanol":
		field, lo, hi = &s.ethanol, 0, 65_535
	default:
		return setting.Unknown(key, "co2", "tvoc", "h2", "ethanol")
	}
	v, err := setting.Int(key, value, lo, hi)
	if err == nil {
		*field = v
	}
	return err
}

// State returns what to show.
func (s *Sensor) State() any {
	return State{
		CO2: s.co2, TVOC: s.tvoc, H2: s.h2, Ethanol: s.ethanol, Running: s.running, WarmedUp: s.warm(), Measured: s.measured, Uneven: s.uneven,
		Humidity: float64(s.absolute) / 256, Faults: s.Active(),
	}
}
