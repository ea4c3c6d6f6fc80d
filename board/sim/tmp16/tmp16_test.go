package tmp16_test

import (
	"testing"

	"github.com/pal-terminal/pal/board/sim/device"
	"github.com/pal-terminal/pal/board/sim/devicetest"
	"github.com/pal-terminal/pal/board/sim/tmp16"
)

var spec = devicetest.Spec{
	New:     tmp16.New,
	Options: device.Options{Lines: []string{"alert"}},
	Good:    map[string][]string{"temperature": {"-55", "0.0625", "150"}, "": {"30"}},
	Bad:     map[string][]string{"temperature": {"-56", "151"}},
	Faults:  []string{"slow", "stale", "saturated"},
}

func TestContract(t *testing.T) { devicetest.Contract(t, spec) }

func FuzzWire(f *testing.F) { devicetest.Fuzz(f, spec) }

// The values of table 8 (12 bits) and table 9 (13 bits), left-justified.
func TestFormats(t *testing.T) {
	for _, tt := range []struct{ celsius, normal, extended string }{
		{"150", "7F F0", "4B 01"},
		{"128", "7F F0", "40 01"},
		{"127.9375", "7F F0", "3F F9"},
		{"100", "64 00", "32 01"},
		{"80", "50 00", "28 01"},
		{"25", "19 00", "0C 81"},
		{"0.25", "00 40", "00 21"},
		{"0.0625", "00 10", "00 09"},
		{"0", "00 00", "00 01"},
		{"-0.25", "FF C0", "FF E1"},
		{"-25", "E7 00", "F3 81"},
		{"-55", "C9 00", "E4 81"},
	} {
		t.Run(tt.celsius, func(t *testing.T) {
			w := devicetest.NewWorld()
			d, err := tmp16.New(w, device.Options{Addr: -1})
			if err != nil {
				t.Fatal(err)
			}
			devicetest.Run(t, w, d, "set "+tt.celsius+"\n wait 26ms \n wr 00 : "+tt.normal+"\n w 01 60 B0 \n wr 00 : "+tt.extended)
		})
	}
}

func TestTranscripts(t *testing.T) {
	for _, tt := range []struct{ name, script string }{
		{"after power-up", "wr 01 : 60 A0 \n wr 02 : 4B 00 \n wr 03 : 50 00 \n wr 00 : 00 00"},
		{"first conversion takes 26 ms, then four a second", `
			wait 25999us
			r 00 00
			wait 1us
			r 19 00
			set 30
			wait 249999us
			r 19 00
			wait 1us
			r 1E 00`},
		{"the pointer stays", "wait 1s \n w 03 \n r 50 00 \n r 50 00 50"},
		{"one conversion each 4 s", `
			w 01 60 20
			wait 26ms
			set 30
			wait 3999ms
			wr 00 : 19 00
			wait 1ms
			r 1E 00`},
		{"one-shot in shutdown", `
			wait 1s
			w 01 61 A0
			wr 01 : E1 A0
			set 30
			wait 10s
			wr 00 : 19 00
			w 01 E1 A0
			wr 01 : 61 A0
			wait 26ms
			wr 01 : E1 A0
			wr 00 : 1E 00`},
		{"limits can be written, the temperature and read-only bits cannot", `
			wait 1s
			w 02 0A 00
			w 03 64 00
			w 00 12 34
			wr 02 : 0A 00
			wr 03 : 64 00
			wr 00 : 19 00
			w 01 00 00
			wr 01 : 60 20`},
		{"thermostat", `
			line 0 -
			set 79.9375
			wait 1s
			line 0 -
			wr 01 : 60 A0
			set 80
			wait 1s
			line 0 0
			wr 01 : 60 80
			set 75
			wait 1s
			line 0 0
			set 74.9375
			wait 1s
			line 0 -
			wr 01 : 60 A0`},
		{"active high", `
			w 01 64 A0
			line 0 0
			wr 01 : 64 80
			set 90
			wait 1s
			line 0 -
			wr 01 : 64 A0`},
		{"interrupt until read, then at T_LOW", `
			w 01 62 A0
			set 90
			wait 1s
			line 0 0
			r 62 80
			line 0 -
			wait 10s
			line 0 -
			set 20
			wait 1s
			line 0 0
			r 62 A0
			line 0 -`},
		{"four in a row", `
			w 01 70 A0
			set 90
			wait 26ms              # one
			wait 500ms             # three
			line 0 -
			wait 250ms
			line 0 0`},
		{"power-up", "w 01 61 A0 \n reset \n wr 01 : 60 A0 \n wait 26ms \n wr 00 : 19 00"},
		{"slow", "fault slow \n reset \n wait 349ms \n r 00 00 \n wait 1ms \n r 19 00"},
		{"stale", "wait 1s \n fault stale \n set 40 \n wait 10s \n r 19 00"},
		{"saturated", "fault saturated \n wait 1s \n r 7F F0"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := devicetest.NewWorld()
			d, err := tmp16.New(w, device.Options{Addr: -1, Lines: []string{"alert"}})
			if err != nil {
				t.Fatal(err)
			}
			devicetest.Run(t, w, d, tt.script)
		})
	}
}
