// Package tmp16 simulates a temperature sensor of 1/16 °C in a 16-bit register, TMP102, after Texas Instruments' data sheet SBOS397.
//
// # Model
//
// Four registers of 16 bits, high byte first, chosen by a pointer that stays (section 7.5.1): temperature, configuration, T_LOW and
// T_HIGH. Temperature is 12 bits left-justified, or 13 in extended mode, whose lowest register bit is 1 (tables 8 and 9). After power-up
// the part converts four times a second; a conversion takes 26 ms and shows the temperature at its end (electrical characteristics). In
// shutdown, writing 1 to OS converts once; OS then reads 0 until it is done. AL and the pin ALERT (the device's line, where the board
// gives it one) follow the limits after as many conversions in a row as the fault queue says: as a thermostat, or as an interrupt that a
// read of any register ends.
//
// # What it refuses
//
// It acknowledges and ignores writes to the temperature and to bits that can be read only. Not modelled: the SMBus alert response and the
// general call.
package tmp16

import (
	"math"
	"time"

	"github.com/pal-terminal/pal/board/sim/device"
	"github.com/pal-terminal/pal/board/sim/setting"
)

const (
	conversion     = 26 * time.Millisecond
	slowConversion = 350 * time.Millisecond
)

// Registers, and the bits of the configuration: section 7.5.3.
const (
	regTemperature = iota
	regConfig
	regLow
	regHigh

	oneShot    = 0x8000
	resolution = 0x6000 // always 11
	polarity   = 0x0400
	interrupt  = 0x0200
	shutdown   = 0x0100
	rateMask   = 0x00C0
	alertBit   = 0x0020
	extended   = 0x0010
	writable   = 0x1FD0
)

var (
	periods = [4]time.Duration{4 * time.Second, time.Second, 250 * time.Millisecond, 125 * time.Millisecond}
	queues  = [4]int{1, 2, 4, 6}
)

// Sensor is the part. It implements device.I2C.
type Sensor struct {
	setting.Faults
	w       device.World
	addr    uint16
	wired   bool // ALERT has a line
	celsius float64

	reg        [4]uint16
	pointer    byte
	n          int // bytes of the transaction
	converting bool
	began      time.Time // the conversion under way, or the next one
	raw        int       // 1/16 °C, as last converted
	beyond     int       // conversions in a row beyond the limit that counts now
	hot        bool      // T_HIGH was the last limit passed
	asserted   bool      // ALERT in interrupt mode
	cancel     func()
	converted  uint64
}

// State is what `pal sim show` prints.
type State struct {
	Temperature float64  `json:"temperature"` // °C around the sensor
	Converted   uint64   `json:"converted"`
	Register    int      `json:"register"` // of the temperature
	Shutdown    bool     `json:"shutdown"`
	Alert       bool     `json:"alert"` // the pin is active
	Faults      []string `json:"faults,omitempty"`
}

// New builds a sensor at 25 °C. Setting: temperature (-55 to 150 °C), also without a name. Faults: slow (350 ms a conversion), stale
// (keeps its temperature), saturated.
func New(w device.World, o device.Options) (device.Device, error) {
	addr, err := setting.Address(o, 0x48, 0x49, 0x4A, 0x4B)
	if err != nil {
		return nil, err
	}
	start, err := setting.Start(o, -55, 150, 25)
	if err != nil {
		return nil, err
	}
	s := &Sensor{Faults: setting.NewFaults("slow", "stale", "saturated"), w: w, addr: addr, wired: len(o.Lines) > 0, celsius: float64(start)}
	if err := setting.Apply(s, o.Values); err != nil {
		return nil, err
	}
	s.Reset()
	return s, nil
}

// Reset is a power-up: limits of 75 and 80 °C, four conversions a second.
func (s *Sensor) Reset() {
	s.reg = [4]uint16{regConfig: 0x0080, regLow: 75 << 8, regHigh: 80 << 8}
	s.pointer, s.raw, s.beyond, s.hot, s.asserted = 0, 0, 0, false, false
	s.begin()
}

// begin starts a conversion.
func (s *Sensor) begin() {
	s.converting, s.began = true, s.w.Now()
	s.follow()
}

// follow drives ALERT and asks to be called at the end of the next conversion, if there is a line to drive.
func (s *Sensor) follow() {
	if !s.wired {
		return
	}
	low := s.active() == (s.reg[regConfig]&polarity == 0)
	if low {
		s.w.Force(0, 0)
	} else {
		s.w.Force(0, -1)
	}
	if s.cancel != nil {
		s.cancel()
		s.cancel = nil
	}
	if s.converting {
		s.cancel = s.w.At(s.began.Add(s.takes()), s.settle)
	}
}

// active tells whether the pin ALERT is.
func (s *Sensor) active() bool {
	if s.reg[regConfig]&interrupt != 0 {
		return s.asserted
	}
	return s.hot
}

func (s *Sensor) takes() time.Duration {
	if s.Has("slow") {
		return slowConversion
	}
	return conversion
}

func (s *Sensor) continuous() bool { return s.reg[regConfig]&shutdown == 0 }

// settle ends the conversions whose time is up.
func (s *Sensor) settle() {
	passed := s.w.Now().Sub(s.began)
	if !s.converting || passed < s.takes() {
		return
	}
	n := int64(1)
	if s.continuous() {
		period := periods[s.reg[regConfig]&rateMask>>6]
		n += int64((passed - s.takes()) / period)
		s.began = s.began.Add(time.Duration(n) * period)
	} else {
		s.converting = false
	}
	s.convert(n)
	s.follow()
}

// convert does n conversions of one temperature. No more than a few of them can make a difference.
func (s *Sensor) convert(n int64) {
	s.converted += uint64(n)
	switch {
	case s.Has("stale"):
	case s.Has("saturated"):
		s.raw = math.MaxInt16
	default:
		s.raw = int(math.Round(s.celsius * 16))
	}
	for range min(n, 2*int64(queues[3])) {
		s.compare()
	}
}

// compare counts a conversion for the fault queue: section 7.3.5.
func (s *Sensor) compare() {
	v := s.value()
	past := v >= s.limit(regHigh)
	if s.hot {
		past = v < s.limit(regLow)
	}
	if !past {
		s.beyond = 0
		return
	}
	if s.beyond++; s.beyond >= queues[s.reg[regConfig]>>11&3] {
		s.beyond, s.hot = 0, !s.hot
		s.asserted = true
	}
}

// value is the last temperature within the range of the format, in 1/16 °C.
func (s *Sensor) value() int {
	top := 1 << 11
	if s.reg[regConfig]&extended != 0 {
		top = 1 << 12
	}
	return min(max(s.raw, -top), top-1)
}

// temperature is the register of that name: tables 8 and 9.
func (s *Sensor) temperature() uint16 {
	if s.reg[regConfig]&extended != 0 {
		return uint16(s.value()<<3) | 1
	}
	return uint16(s.value() << 4)
}

// limit is a limit register in 1/16 °C.
func (s *Sensor) limit(r int) int {
	if s.reg[regConfig]&extended != 0 {
		return int(int16(s.reg[r])) >> 3
	}
	return int(int16(s.reg[r])) >> 4
}

// Addresses returns the one address.
func (s *Sensor) Addresses() []uint16 { return []uint16{s.addr} }

// Start begins a write, whose first byte is the pointer, or a read, which ends an interrupt.
func (s *Sensor) Start(read bool) bool {
	s.settle()
	s.n = 0
	if read && s.asserted {
		s.asserted = false
		s.follow()
	}
	return true
}

// Write takes the pointer and then the two bytes of a register.
func (s *Sensor) Write(b byte) bool {
	s.n++
	old := s.reg[s.pointer]
	var v uint16
	switch s.n {
	case 1:
		s.pointer = b & 3
		return true
	case 2:
		v = uint16(b)<<8 | old&0xFF
	case 3:
		v = old&0xFF00 | uint16(b)
	default:
		return true
	}
	switch s.pointer {
	case regConfig:
		s.configure(old, v, s.n == 2)
	case regLow, regHigh:
		s.reg[s.pointer] = v
	}
	return true
}

// configure takes a half of the configuration.
func (s *Sensor) configure(old, v uint16, high bool) {
	s.reg[regConfig] = v & writable
	changed := old ^ v
	switch {
	case high && v&shutdown != 0:
		// The conversion under way is given up, which the part finishes; nobody can tell but by the register a moment later.
		s.converting, s.asserted = false, false
		if v&oneShot != 0 {
			s.begin()
		}
	case changed&(shutdown|rateMask) != 0 && s.continuous():
		s.begin()
	}
	s.follow()
}

// Read gives the register's high and low byte in turns.
func (s *Sensor) Read() byte {
	v := s.read()
	s.n++
	if s.n%2 == 1 {
		return byte(v >> 8)
	}
	return byte(v)
}

func (s *Sensor) read() uint16 {
	switch s.pointer {
	case regTemperature:
		return s.temperature()
	case regConfig:
		v := s.reg[regConfig] | resolution
		if !s.continuous() && !s.converting {
			v |= oneShot
		}
		if s.hot == (v&polarity != 0) {
			v |= alertBit
		}
		return v
	}
	return s.reg[s.pointer]
}

// Stop ends a transaction.
func (s *Sensor) Stop() {}

// Set changes the temperature around the sensor.
func (s *Sensor) Set(key, value string) error {
	if key != "" && key != "temperature" {
		return setting.Unknown(key, "temperature")
	}
	s.settle()
	v, err := setting.Float(key, value, -55, 150)
	if err == nil {
		s.celsius = v
	}
	return err
}

// Fault starts or ends faults, of conversions that end from now on.
func (s *Sensor) Fault(kind string) error {
	s.settle()
	err := s.Faults.Fault(kind)
	s.follow()
	return err
}

// State returns what to show.
func (s *Sensor) State() any {
	s.settle()
	return State{
		Temperature: s.celsius, Converted: s.converted, Register: int(s.temperature()), Shutdown: !s.continuous(), Alert: s.active(), Faults: s.Active(),
	}
}
