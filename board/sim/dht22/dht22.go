// Package dht22 simulates the humidity and temperature sensor DHT22 (AM2302) after its data sheet (Aosong, "AM2302 product manual",
// section 7): five bytes, humidity and temperature in tenths with the sign in the top bit, and the low byte of their sum. It measures
// no more often than every 2 s (section 7.4); read earlier it repeats itself.
//
// The second after power-up in which the part must be left alone is not modelled.
package dht22

import (
	"math"
	"time"

	"github.com/pal-terminal/pal/board/sim/device"
	"github.com/pal-terminal/pal/board/sim/setting"
)

// Ranges of the part (section 4), and how often it measures.
const (
	coldest, hottest = -40, 80
	wettest          = 99.9
	period           = 2 * time.Second
)

// Sensor is a DHT22.
type Sensor struct {
	setting.Faults
	w                     device.World
	temperature, humidity float64
	frame                 [5]byte
	at                    time.Time // of the measurement in frame, zero when there is none
	reads                 int
}

// State is what `pal sim show` prints.
type State struct {
	Temperature float64  `json:"temperature"` // °C
	Humidity    float64  `json:"humidity"`    // % RH
	Reads       int      `json:"reads"`
	Faults      []string `json:"faults,omitempty"`
}

// New returns a sensor in a pleasant room.
func New(w device.World, o device.Options) (device.Device, error) {
	s := &Sensor{w: w, temperature: 23.5, humidity: 45.2, Faults: setting.NewFaults("crc")}
	return s, setting.Apply(s, o.Values)
}

// Frame answers the start signal.
func (s *Sensor) Frame() (frame [5]byte, ok bool) {
	s.reads++
	if now := s.w.Now(); s.at.IsZero() || now.Sub(s.at) >= period || now.Before(s.at) {
		s.at = now
		h, t := uint16(math.Round(s.humidity*10)), uint16(math.Round(math.Abs(s.temperature)*10))
		if s.temperature < 0 {
			t |= 0x8000
		}
		s.frame = [5]byte{byte(h >> 8), byte(h), byte(t >> 8), byte(t)}
	}
	frame = s.frame
	frame[4] = frame[0] + frame[1] + frame[2] + frame[3]
	if s.Has("crc") {
		frame[4]++
	}
	return frame, true
}

// Reset forgets the last measurement.
func (s *Sensor) Reset() { s.at, s.reads = time.Time{}, 0 }

// Set takes "temperature" in °C and "humidity" in % RH.
func (s *Sensor) Set(key, value string) (err error) {
	switch key {
	case "temperature":
		return assign(&s.temperature, key, value, coldest, hottest)
	case "humidity":
		return assign(&s.humidity, key, value, 0, wettest)
	}
	return setting.Unknown(key, "temperature", "humidity")
}

func assign(to *float64, key, value string, lo, hi float64) error {
	v, err := setting.Float(key, value, lo, hi)
	if err == nil {
		*to = v
	}
	return err
}

// State returns what to show.
func (s *Sensor) State() any {
	return State{Temperature: s.temperature, Humidity: s.humidity, Reads: s.reads, Faults: s.Active()}
}
