package bmp280_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/pal-terminal/pal/board/sim/bmp280"
	"github.com/pal-terminal/pal/board/sim/device"
	"github.com/pal-terminal/pal/board/sim/devicetest"
)

var spec = devicetest.Spec{
	New:    bmp280.New,
	Good:   map[string][]string{"temperature": {"-40", "21.5", "85"}, "pressure": {"300", "1013.25", "1100"}},
	Bad:    map[string][]string{"temperature": {"-41", "86"}, "pressure": {"299", "1101"}},
	Faults: []string{"slow", "stale", "saturated"},
}

func TestContract(t *testing.T) { devicetest.Contract(t, spec) }

func FuzzWire(f *testing.F) { devicetest.Fuzz(f, spec) }

func build(t *testing.T) (device.I2C, *devicetest.World) {
	t.Helper()
	w := devicetest.NewWorld()
	d, err := bmp280.New(w, device.Options{Addr: -1})
	if err != nil {
		t.Fatal(err)
	}
	return d.(device.I2C), w
}

// The example's raw values are 415,148 = 0x655AC and 519,888 = 0x7EED0.
func TestTranscripts(t *testing.T) {
	for _, tt := range []struct{ name, script string }{
		{"identity", "wr D0 : 58"},
		{"calibration of the example, low byte first", "wr 88 : 70 6B 43 67 18 FC 7D 8E 43 D6 D0 0B 27 0B 8C 00 F9 FF 8C 3C F8 C6 70 17"},
		{"after power-up", "wr F7 : 80 00 00 80 00 00 \n wr F3 : 00 00 00"},
		{"forced, 16 times both: 65.5 ms", `
			w F4 B5
			wr F3 : 08 B5
			wait 65499us
			wr F3 : 08 B5
			wr F7 : 80 00 00 80 00 00
			wait 1us
			wr F3 : 00 B4
			wr F7 : 65 5A C0 7E ED 00`},
		{"once each: 5.5 ms, 16 bits", `
			w F4 25
			wait 5499us
			wr F3 : 08
			wait 1us
			wr F7 : 65 5A 00 7E ED 00`},
		{"twice pressure has 17 bits", `
			w F4 29
			wait 1s
			wr F7 : 65 5A 80 7E ED 00`},
		{"without pressure: 3 ms", `
			w F4 21
			wait 2999us
			wr F3 : 08
			wait 1us
			wr F7 : 80 00 00 7E ED 00`},
		{"without temperature", "w F4 05 \n wait 1s \n wr FA : 80 00 00"},
		{"normal mode measures again and again", `
			w F5 20 F4 27           # two pairs; 62.5 ms between
			wr F3 : 08 27 20
			wait 6ms
			wr F3 : 00
			set temperature 85
			wr FA : 7E ED 00
			wait 61999us            # 67,999 µs: the second began at 68 ms
			wr F3 : 00
			wait 1us
			wr F3 : 08
			wr FA : 7E ED 00
			wait 5499us
			wr FA : 7E ED 00
			wait 1us
			wr FA : .. .. 00
			wr F3 : 00`},
		{"the filter starts at its first value", `
			w F5 10 F4 25
			wait 6ms
			wr F7 : 65 5A C0 7E ED 00`},
		{"sleep keeps the results", "w F4 B7 \n wait 66ms \n w F4 B4 \n set temperature 0 \n wait 1h \n wr F7 : 65 5A C0 7E ED 00"},
		{"soft reset", "w F5 FF F4 B5 \n wait 1s \n w E0 B6 \n wr F4 : 00 00 00 80 00 00 80 00 00"},
		{"another value does not reset", "w F5 04 E0 B5 \n wr F5 : 04"},
		{"other registers cannot be written", "w D0 00 88 00 F7 00 \n wr D0 : 58 \n wr 88 : 70"},
		{"slow", "fault slow \n w F4 25 \n wait 54999us \n wr F3 : 08 \n wait 1us \n wr F3 : 00"},
		{"stale", "fault stale \n w F4 25 \n wait 1s \n wr F7 : 80 00 00 80 00 00"},
		{"saturated", "fault saturated \n w F4 25 \n wait 1s \n wr F7 : FF FF F0 FF FF F0"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d, w := build(t)
			devicetest.Run(t, w, d, tt.script)
		})
	}
}

// compensate is the integer arithmetic of section 3.11.3, which programs use; the model computes in floating point.
func compensate(rawT, rawP int64) (centidegrees int64, pascal float64) {
	a := ((rawT>>3 - 27504<<1) * 26435) >> 11
	b := (((rawT>>4 - 27504) * (rawT>>4 - 27504)) >> 12 * -1000) >> 14
	fine := a + b
	v1 := fine - 128000
	v2 := v1*v1*-7 + (v1*140)<<17 + 2855<<35
	v1 = (v1*v1*3024)>>8 + (v1*-10685)<<12
	v1 = ((1<<47 + v1) * 36477) >> 33
	p := 1048576 - rawP
	p = ((p<<31 - v2) * 3125) / v1
	v1 = (6000 * (p >> 13) * (p >> 13)) >> 25
	v2 = (-14600 * p) >> 19
	p = (p+v1+v2)>>8 + 15500<<4
	return (fine*5 + 128) >> 8, float64(p) / 256
}

func measure(t *testing.T, d device.I2C, w *devicetest.World) (celsius, pascal float64) {
	t.Helper()
	devicetest.Run(t, w, d, "w F4 B5 \n wait 66ms \n w F7")
	d.Start(true)
	var raw [2]int64
	for i := range raw {
		raw[i] = int64(d.Read())<<12 | int64(d.Read())<<4 | int64(d.Read())>>4
	}
	d.Stop()
	c, p := compensate(raw[1], raw[0])
	return float64(c) / 100, p
}

// What a program computes with the data sheet's own arithmetic is what is around the sensor. The example gives 25.08 °C and, in
// floating point, 100,653.27 Pa.
func TestCompensation(t *testing.T) {
	d, w := build(t)
	if c, p := measure(t, d, w); c != 25.08 || math.Abs(p-100653.27) > 0.025 {
		t.Errorf("example: got %v °C, %.2f Pa; want 25.08, 100653.27", c, p)
	}
	for _, celsius := range []float64{-40, -5, 0, 21.5, 60, 85} {
		for _, hPa := range []float64{300, 700, 950, 1013.25, 1100} {
			devicetest.Run(t, w, d, fmt.Sprintf("set temperature %v \n set pressure %v", celsius, hPa))
			c, p := measure(t, d, w)
			if math.Abs(c-celsius) > 0.011 || math.Abs(p-hPa*100) > 2 {
				t.Errorf("got %v °C, %.2f Pa; want %v, %v", c, p, celsius, hPa*100)
			}
		}
	}
}

// A step of one passes a filter of coefficient 4 to a quarter at the first measurement and to seven sixteenths at the second.
func TestFilter(t *testing.T) {
	d, w := build(t)
	raw := func() int {
		devicetest.Run(t, w, d, "w F4 B5 \n wait 66ms")
		return d.State().(bmp280.State).RawT
	}
	devicetest.Run(t, w, d, "set temperature 20")
	low := raw()
	devicetest.Run(t, w, d, "set temperature 60")
	step := raw() - low
	devicetest.Run(t, w, d, "set temperature 20")
	raw()
	devicetest.Run(t, w, d, "w F5 08")
	raw()
	devicetest.Run(t, w, d, "set temperature 60")
	for i, want := range []float64{0.25, 0.4375} {
		if got := float64(raw()-low) / float64(step); math.Abs(got-want) > 0.001 {
			t.Errorf("measurement %d: got %.4f of the step, want %.4f", i+1, got, want)
		}
	}
}

// A year of normal mode is settled at once.
func TestLongNormalMode(t *testing.T) {
	d, w := build(t)
	devicetest.Run(t, w, d, "w F5 1C F4 27")
	w.Advance(365 * 24 * time.Hour)
	if s := d.State().(bmp280.State); s.Mode != "normal" || s.Measured != 365*24*3600*1_000_000/6000 {
		t.Errorf("got %+v, want normal mode and a measurement each 6 ms", s)
	}
}
