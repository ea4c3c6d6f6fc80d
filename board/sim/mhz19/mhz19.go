// Package mhz19 simulates the carbon dioxide sensor MH-Z19B on its UART, 9,600 bits a second, after Winsen's user manual, version 1.0.
//
// # Model
//
// Commands have nine bytes: FF, the sensor's number 1, the command, five parameters, and the two's complement of the sum of bytes 1 to 7
// (section "Serial port"). 86 answers with the concentration and, as sensors do though the manual leaves it open, the temperature plus
// 40. 79 switches the automatic baseline (A0 on, 00 off), 87 calibrates the zero point, 88 the span, 99 sets the range, in its last four
// parameters: none of these answers. A concentration beyond the range reads as the range. Preheating takes three minutes after power-up,
// in which the sensor gives 400 ppm. The first power-up of all is taken to be long ago, unless the value preheat is on.
//
// # What it refuses
//
// Frames with a wrong checksum or another sensor's number are dropped in silence; bytes up to the next FF are skipped. Not modelled: the
// PWM and analogue outputs, and the hours that calibrations need; the zero point is what the air has when 87 comes, and 400 ppm from then
// on.
package mhz19

import (
	"time"

	"github.com/pal-terminal/pal/board/sim/device"
	"github.com/pal-terminal/pal/board/sim/serial"
	"github.com/pal-terminal/pal/board/sim/setting"
)

const (
	rate     = 9600
	preheat  = 3 * time.Minute
	clean    = 400 // ppm
	most     = 10_000
	slowness = time.Second
	length   = 9
)

// Sensor is the part. It implements device.UART.
type Sensor struct {
	setting.Faults
	port        serial.Port
	co2         int
	temperature int

	reach     int // ppm
	baseline  bool
	offset    int // by zero calibration
	cold      bool
	powered   bool
	since     time.Time // power-up
	frame     []byte
	stop      func() // ends an answer under way
	last      int    // ppm, as last told
	requests  uint64
	discarded uint64
}

// State is what `pal sim show` prints.
type State struct {
	CO2         int      `json:"co2"`         // ppm around the sensor
	Temperature int      `json:"temperature"` // °C
	Range       int      `json:"range"`       // ppm
	Baseline    bool     `json:"baseline"`    // automatic
	Preheating  bool     `json:"preheating"`
	Requests    uint64   `json:"requests"`
	Discarded   uint64   `json:"discarded"` // frames
	Faults      []string `json:"faults,omitempty"`
}

// New builds a sensor in air of 600 ppm or o.Value. Value: preheat on or off. Settings: co2 (0 to 10,000 ppm, also without a name),
// temperature (-40 to 85 °C, whole). Faults: crc (wrong checksums), slow (answers after a second), stale (tells the last concentration
// again), saturated, mute.
func New(w device.World, o device.Options) (device.Device, error) {
	co2, err := setting.Start(o, 0, most, 600)
	if err != nil {
		return nil, err
	}
	s := &Sensor{
		Faults: setting.NewFaults("crc", "slow", "stale", "saturated", "mute"), port: serial.Port{W: w, Rate: rate},
		co2: co2, temperature: 25, reach: 5000, baseline: true, last: clean,
	}
	if v, ok := o.Values["preheat"]; ok {
		if s.powered, err = setting.Bool("preheat", v); err != nil {
			return nil, err
		}
	}
	if err := setting.Apply(s, o.Values, "preheat"); err != nil {
		return nil, err
	}
	return s, nil
}

// Reset is a power-up. Range, baseline and calibration are kept without power.
func (s *Sensor) Reset() {
	s.cold, s.powered, s.since = s.powered, true, s.port.W.Now()
	s.frame, s.last = s.frame[:0], clean
	if s.stop != nil {
		s.stop()
		s.stop = nil
	}
}

func (s *Sensor) preheating() bool { return s.cold && s.port.W.Now().Sub(s.since) < preheat }

// checksum is that of bytes 1 to 7.
func checksum(frame []byte) byte {
	var sum byte
	for _, b := range frame[1 : length-1] {
		sum += b
	}
	return -sum
}

// Receive takes bytes of commands.
func (s *Sensor) Receive(p []byte) {
	for _, b := range s.port.Hears(p) {
		if len(s.frame) == 0 && b != 0xFF {
			continue
		}
		s.frame = append(s.frame, b)
		if len(s.frame) < length {
			continue
		}
		frame := s.frame
		s.frame = s.frame[:0]
		if frame[1] != 1 || frame[length-1] != checksum(frame) {
			s.discarded++
			continue
		}
		s.requests++
		s.obey(frame[2], frame[3:length-1])
	}
}

func (s *Sensor) obey(command byte, p []byte) {
	switch command {
	case 0x86:
		s.tell()
	case 0x79:
		s.baseline = p[0] == 0xA0
	case 0x87:
		s.offset = clean - s.co2
	case 0x88:
		if span := int(p[0])<<8 | int(p[1]); span >= 1000 {
			s.offset = span - s.co2
		}
	case 0x99:
		switch reach := int(p[1])<<24 | int(p[2])<<16 | int(p[3])<<8 | int(p[4]); reach {
		case 2000, 5000, 10_000:
			s.reach = reach
		}
	}
}

// tell answers with the concentration.
func (s *Sensor) tell() {
	switch {
	case s.Has("stale"):
	case s.Has("saturated"):
		s.last = s.reach
	case s.preheating():
		s.last = clean
	default:
		s.last = min(max(s.co2+s.offset, 0), s.reach)
	}
	frame := []byte{0xFF, 0x86, byte(s.last >> 8), byte(s.last), byte(s.temperature + 40), 0, 0, 0, 0}
	frame[length-1] = checksum(frame)
	if s.Has("crc") {
		frame[length-1] ^= 0x55
	}
	if s.Has("mute") {
		return
	}
	pause := s.port.Characters(length) // the command has to arrive first
	if s.Has("slow") {
		pause = slowness
	}
	s.stop = s.port.SendAfter(pause, frame)
}

// Set changes the air around the sensor.
func (s *Sensor) Set(key, value string) error {
	field, lo, hi := &s.co2, 0, most
	switch key {
	case "", "co2":
	case "temperature":
		field, lo, hi = &s.temperature, -40, 85
	default:
		return setting.Unknown(key, "co2", "temperature")
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
		CO2: s.co2, Temperature: s.temperature, Range: s.reach, Baseline: s.baseline, Preheating: s.preheating(),
		Requests: s.requests, Discarded: s.discarded, Faults: s.Active(),
	}
}
