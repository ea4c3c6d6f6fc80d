package bh1750_test

import (
	"testing"

	"github.com/pal-terminal/pal/board/sim/bh1750"
	"github.com/pal-terminal/pal/board/sim/device"
	"github.com/pal-terminal/pal/board/sim/devicetest"
)

var spec = devicetest.Spec{
	New:    bh1750.New,
	Good:   map[string][]string{"lux": {"0", "123.4", "120000"}, "": {"500"}},
	Bad:    map[string][]string{"lux": {"-1", "120001"}},
	Faults: []string{"slow", "stale", "saturated"},
}

func TestContract(t *testing.T) { devicetest.Contract(t, spec) }

func FuzzWire(f *testing.F) { devicetest.Fuzz(f, spec) }

// The data sheet's example: 0x8390 in H mode is 28,067 lx. 300 lx is 360 = 0x168.
func TestTranscripts(t *testing.T) {
	for _, tt := range []struct{ name, script string }{
		{"powered down after power-up", "r 00 00 FF"},
		{"continuous H", `
			w 01
			w 10
			wait 119ms
			r 00 00
			wait 1ms
			r 01 68
			set lux 28067
			r 01 68
			wait 120ms
			r 83 90
			wait 1h
			r 83 90`},
		{"continuous H2 has twice the counts", "set lux 100 \n w 01 \n w 11 \n wait 120ms \n r 00 F0"},
		{"continuous L: 16 ms, steps of 4 lx", "set lux 103 \n w 01 \n w 13 \n wait 15ms \n r 00 00 \n wait 1ms \n r 00 78"},
		{"one-time H", `
			w 20
			wait 120ms
			r 01 68
			set lux 10
			wait 1s
			r 01 68
			w 20
			wait 120ms
			r 00 0C`},
		{"one-time H2 and L", `
			w 21
			wait 120ms
			r 02 D0
			w 23
			wait 16ms
			r 01 68`},
		{"a measurement shows the light at its end", "w 10 \n wait 60ms \n set lux 10 \n wait 60ms \n r 00 0C"},
		{"measurement time 138: twice the time, twice the counts", `
			w 44
			w 6A
			w 10
			wait 239ms
			r 00 00
			wait 1ms
			r 02 D0`},
		{"measurement time in one transaction", "w 41 7F 20 \n wait 109ms \n r 00 00 \n wait 1ms \n r 01 49"},
		{"reset clears the register when on", "w 10 \n wait 120ms \n r 01 68 \n w 07 \n r 00 00"},
		{"reset does nothing when powered down", "w 20 \n wait 120ms \n w 07 \n r 01 68"},
		{"power-down ends measuring", "w 10 \n wait 100ms \n w 00 \n wait 1s \n r 00 00"},
		{"undefined instructions", "w 02 12 22 30 80 FF \n wait 1s \n r 00 00"},
		{"the register is full at 54,612 lx", "set lux 54612 \n w 10 \n wait 120ms \n r FF FE \n set lux 54613 \n wait 120ms \n r FF FF \n set lux 100000 \n wait 120ms \n r FF FF"},
		{"power-up", "w 10 \n wait 120ms \n reset \n r 00 00"},
		{"slow", "fault slow \n w 20 \n wait 1199ms \n r 00 00 \n wait 1ms \n r 01 68"},
		{"stale", "w 10 \n wait 120ms \n fault stale \n set lux 5 \n wait 1s \n r 01 68"},
		{"saturated", "fault saturated \n w 10 \n wait 120ms \n r FF FF"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := devicetest.NewWorld()
			d, err := bh1750.New(w, device.Options{Addr: 0x5C})
			if err != nil {
				t.Fatal(err)
			}
			devicetest.Run(t, w, d, tt.script)
		})
	}
}

func TestStartingValue(t *testing.T) {
	for value, ok := range map[int]bool{0: true, 800: true, -1: false, 120_001: false} {
		d, err := bh1750.New(devicetest.NewWorld(), device.Options{Addr: -1, Value: &value})
		if (err == nil) != ok {
			t.Errorf("value %d: got error %v, want ok %v", value, err, ok)
		}
		if ok && d.State().(bh1750.State).Lux != float64(value) {
			t.Errorf("value %d: got %+v", value, d.State())
		}
	}
}
