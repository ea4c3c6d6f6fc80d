// Package mpu6050 simulates the accelerometer and gyroscope MPU-6050, after InvenSense's register map RM-MPU-6000A-00, revision 4.2.
//
// # Model
//
// The first byte of a write names a register, further ones and reads go up from there (product specification, section 9.3). After
// power-up the part sleeps (PWR_MGMT_1 is 0x40, section 4.28) and its data registers hold; awake it samples at the rate of section 4.2, 8
// kHz or with the low pass filter 1 kHz over 1 + SMPLRT_DIV, and at once when it wakes. Data are big-endian: acceleration in 16,384 to
// 2,048 counts per g (section 4.17), rotation in 131 to 16.4 counts per °/s (section 4.19), temperature as (°C − 36.53) · 340 (section
// 4.18), each limited to 16 bits. Axes in standby (section 4.29) and a temperature sensor that is off hold. A burst is of one sample.
// INT_STATUS tells of new data and is cleared by reading it, or anything with INT_RD_CLEAR (sections 4.14 and 4.16). DEVICE_RESET puts all
// registers back.
//
// With DATA_RDY_EN (section 4.15) the pin INT, the device's line where the board gives it one, tells of new data as section 4.14 has it: a
// pulse of 50 µs, or with LATCH_INT_EN until the status is cleared; INT_LEVEL and INT_OPEN choose the level and who pulls it up. Only then
// the device asks to be called at its samples, at the next one and no other, and not while a latched INT waits to be cleared.
//
// # What it refuses
//
// It acknowledges and ignores writes to registers that can be read only. Not modelled: FIFO, self-test, the auxiliary bus, motion
// detection, the low-power cycle mode, the other causes of INT and the time the gyroscope takes to start.
package mpu6050

import (
	"math"
	"time"

	"github.com/pal-terminal/pal/board/sim/device"
	"github.com/pal-terminal/pal/board/sim/setting"
)

// Registers.
const (
	regDivider     = 0x19
	regConfig      = 0x1A
	regGyroConfig  = 0x1B
	regAccelConfig = 0x1C
	regIntPin      = 0x37
	regIntEnable   = 0x38
	regIntStatus   = 0x3A
	regData        = 0x3B
	regLastRead    = 0x60 // data of the auxiliary bus end here
	regPathReset   = 0x68
	regUserControl = 0x6A
	regPower1      = 0x6B
	regPower2      = 0x6C
	regFIFOCount   = 0x72
	regWhoAmI      = 0x75
)

const (
	identity      = 0x68
	cloneIdentity = 0x98 // of a copy that is often sold under this name
	dataReady     = 1
	deviceReset   = 0x80
	asleep        = 0x40
	noTemperature = 0x08

	activeLow = 0x80 // of INT_PIN_CFG
	openDrain = 0x40
	latched   = 0x20
	readClear = 0x10
)

// pulseWidth is how long INT tells of one sample when it is not latched.
const pulseWidth = 50 * time.Microsecond

// quantities are what is measured, in the order of the data registers.
var quantities = [7]string{"ax", "ay", "az", "temperature", "gx", "gy", "gz"}

const (
	accel = iota // in quantities
	_
	_
	thermo
	gyro
)

// limits of the quantities: g, °C and °/s. A sensor in a stronger field shows the end of its scale.
var limits = [7]float64{100, 100, 100, 125, 10_000, 10_000, 10_000}

// Sensor is the part. It implements device.I2C.
type Sensor struct {
	setting.Faults
	w      device.World
	addr   uint16
	around [7]float64

	reg     [128]byte
	at      byte // register pointer
	named   bool
	sampled time.Time
	samples uint64

	wired    bool   // INT has a line
	pulse    bool   // which tells of a sample right now
	endPulse func() // stops the call that ends it
	stop     func() // stops the call at the next sample
}

// State is what `pal sim show` prints.
type State struct {
	Acceleration [3]float64 `json:"acceleration"` // g around the sensor
	Rotation     [3]float64 `json:"rotation"`     // °/s
	Temperature  float64    `json:"temperature"`  // °C
	Asleep       bool       `json:"asleep"`
	AccelRange   int        `json:"accel_range"` // ± g
	GyroRange    int        `json:"gyro_range"`  // ± °/s
	Samples      uint64     `json:"samples"`
	Faults       []string   `json:"faults,omitempty"`
}

// New builds a sensor that lies flat and still at 25 °C. Settings: ax, ay, az (g, ±100), gx, gy, gz (°/s, ±10,000), temperature (-40 to
// 125 °C). Faults: stale (its data hold), saturated (every axis at the upper end), clone (another WHO_AM_I).
func New(w device.World, o device.Options) (device.Device, error) {
	addr, err := setting.Address(o, 0x68, 0x69)
	if err != nil {
		return nil, err
	}
	s := &Sensor{Faults: setting.NewFaults("stale", "saturated", "clone"), w: w, addr: addr, around: [7]float64{2: 1, thermo: 25}}
	s.wired, s.endPulse, s.stop = len(o.Lines) > 0, func() {}, func() {}
	if err := setting.Apply(s, o.Values); err != nil {
		return nil, err
	}
	s.Reset()
	return s, nil
}

// Reset is a power-up or DEVICE_RESET.
func (s *Sensor) Reset() {
	s.reg = [128]byte{regPower1: asleep, regWhoAmI: identity}
	s.at, s.sampled = 0, s.w.Now()
	s.endPulse()
	s.pulse = false
	s.interrupt()
}

// Addresses returns the one address. WHO_AM_I does not follow the pin AD0.
func (s *Sensor) Addresses() []uint16 { return []uint16{s.addr} }

// Start begins a write, whose first byte names a register, or a read.
func (s *Sensor) Start(bool) bool {
	s.settle()
	s.named = false
	return true
}

// Write takes the register pointer and then values.
func (s *Sensor) Write(b byte) bool {
	if !s.named {
		s.at, s.named = b&0x7F, true
		return true
	}
	r := s.at
	s.at = (s.at + 1) & 0x7F
	switch {
	case r >= regIntStatus && r <= regLastRead, r == regFIFOCount, r == regFIFOCount+1, r == regWhoAmI, r == regPathReset:
	case r == regUserControl:
		if b&1 != 0 {
			clear(s.reg[regData : regLastRead+1])
		}
		s.reg[r] = b &^ 7 // resets clear themselves
	case r == regPower1 && b&deviceReset != 0:
		s.Reset()
		s.named = true
		s.at = r + 1
	case r == regPower1:
		woke := s.reg[r]&asleep != 0 && b&asleep == 0
		s.reg[r] = b
		if woke {
			s.sampled = s.w.Now()
			s.sample(1)
		}
	default:
		s.reg[r] = b
	}
	s.interrupt()
	return true
}

// Read gives the register and goes on to the next.
func (s *Sensor) Read() byte {
	r := s.at
	s.at = (s.at + 1) & 0x7F
	b := s.reg[r]
	if r == regIntStatus || s.reg[regIntPin]&readClear != 0 {
		s.reg[regIntStatus] = 0
		s.interrupt()
	}
	if r == regWhoAmI && s.Has("clone") {
		return cloneIdentity
	}
	return b
}

// Stop ends a transaction.
func (s *Sensor) Stop() {}

// period is the time between samples.
func (s *Sensor) period() time.Duration {
	rate := 125 * time.Microsecond
	if filter := s.reg[regConfig] & 7; filter != 0 && filter != 7 {
		rate = time.Millisecond
	}
	return rate * time.Duration(int(s.reg[regDivider])+1)
}

// settle takes the samples that have fallen due.
func (s *Sensor) settle() {
	if s.reg[regPower1]&asleep != 0 {
		return
	}
	if n := s.w.Now().Sub(s.sampled) / s.period(); n > 0 {
		s.sampled = s.sampled.Add(n * s.period())
		s.sample(uint64(n))
	}
}

// sample puts what is around into the data registers, as n samples of the same do.
func (s *Sensor) sample(n uint64) {
	s.samples += n
	s.reg[regIntStatus] |= dataReady
	s.announce()
	if s.Has("stale") {
		return
	}
	for i := range quantities {
		if s.standby(i) {
			continue
		}
		v := int16(min(max(math.Round(s.counts(i)), math.MinInt16), math.MaxInt16))
		if s.Has("saturated") && i != thermo {
			v = math.MaxInt16
		}
		s.reg[regData+2*i], s.reg[regData+2*i+1] = byte(uint16(v)>>8), byte(v)
	}
}

// announce begins a pulse on INT, if it is to tell of samples by one.
func (s *Sensor) announce() {
	if s.wired && s.reg[regIntEnable]&dataReady != 0 && s.reg[regIntPin]&latched == 0 {
		s.endPulse()
		s.pulse = true
		s.endPulse = s.w.At(s.w.Now().Add(pulseWidth), func() {
			s.pulse = false
			s.interrupt()
		})
	}
	s.interrupt()
}

// interrupt brings INT up to date and asks to be called at the next sample, if that is to change it.
func (s *Sensor) interrupt() {
	if !s.wired {
		return
	}
	pin, enabled := s.reg[regIntPin], s.reg[regIntEnable]&dataReady != 0
	active := enabled && s.pulse
	if pin&latched != 0 {
		active = enabled && s.reg[regIntStatus]&dataReady != 0
	}
	level := 0
	if active != (pin&activeLow != 0) {
		level = 1
	}
	if level == 1 && pin&openDrain != 0 {
		level = -1
	}
	s.w.Force(0, level)
	s.stop()
	s.stop = func() {}
	if !enabled || s.reg[regPower1]&asleep != 0 || active && pin&latched != 0 {
		return
	}
	s.stop = s.w.At(s.sampled.Add(s.period()), func() {
		s.settle()
		s.interrupt()
	})
}

// standby tells whether a quantity is switched off.
func (s *Sensor) standby(i int) bool {
	switch {
	case i == thermo:
		return s.reg[regPower1]&noTemperature != 0
	case i < thermo:
		return s.reg[regPower2]>>(5-(i-accel))&1 == 1
	}
	return s.reg[regPower2]>>(2-(i-gyro))&1 == 1
}

func (s *Sensor) accelScale() int { return int(s.reg[regAccelConfig] >> 3 & 3) }
func (s *Sensor) gyroScale() int  { return int(s.reg[regGyroConfig] >> 3 & 3) }

// counts is a quantity in the units of its register.
func (s *Sensor) counts(i int) float64 {
	switch {
	case i == thermo:
		return (s.around[i] - 36.53) * 340
	case i < thermo:
		return s.around[i] * float64(int(16_384)>>s.accelScale())
	}
	return s.around[i] * [4]float64{131, 65.5, 32.8, 16.4}[s.gyroScale()]
}

// Set changes what is around the sensor.
func (s *Sensor) Set(key, value string) error {
	s.settle()
	for i, q := range quantities {
		if q != key {
			continue
		}
		lo := -limits[i]
		if i == thermo {
			lo = -40
		}
		v, err := setting.Float(key, value, lo, limits[i])
		if err == nil {
			s.around[i] = v
		}
		return err
	}
	return setting.Unknown(key, quantities[:]...)
}

// Fault starts or ends faults, of samples from now on.
func (s *Sensor) Fault(kind string) error {
	s.settle()
	return s.Faults.Fault(kind)
}

// State returns what to show.
func (s *Sensor) State() any {
	s.settle()
	return State{
		Acceleration: [3]float64(s.around[accel:]), Rotation: [3]float64(s.around[gyro:]), Temperature: s.around[thermo],
		Asleep: s.reg[regPower1]&asleep != 0, AccelRange: 2 << s.accelScale(), GyroRange: 250 << s.gyroScale(), Samples: s.samples, Faults: s.Active(),
	}
}
