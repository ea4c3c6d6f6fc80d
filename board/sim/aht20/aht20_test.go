package aht20_test

import (
	"testing"

	"github.com/pal-terminal/pal/board/sim/aht20"
	"github.com/pal-terminal/pal/board/sim/device"
	"github.com/pal-terminal/pal/board/sim/devicetest"
)

var spec = devicetest.Spec{
	New:    aht20.New,
	Good:   map[string][]string{"temperature": {"-40", "23.5", "85"}, "humidity": {"0", "40", "100"}},
	Bad:    map[string][]string{"temperature": {"-40.1", "86"}, "humidity": {"-1", "100.5"}},
	Faults: []string{"crc", "slow", "stale", "saturated"},
}

func TestContract(t *testing.T) { devicetest.Contract(t, spec) }

func FuzzWire(f *testing.F) { devicetest.Fuzz(f, spec) }

// The frames were computed from the manual's formulas by hand: 25 °C is 0x60000 of 2²⁰, 50 % is 0x80000.
func TestTranscripts(t *testing.T) {
	old := map[string]string{"part": "aht10"}
	for _, tt := range []struct {
		name   string
		values map[string]string
		script string
	}{
		{"measurement", nil, `
			r 18
			w AC 33 00
			r 98 00 00 00 00 00 D9
			wait 79999us
			r 98
			wait 1us
			r 18 80 00 06 00 00 23 FF
			r 18 80 00 06 00 00 23      # and again`},
		{"status by command", nil, `
			wr 71 : 18
			w 71
			r 18`},
		{"other air", nil, `
			set temperature 23.5
			set humidity 40
			w AC 33 00
			wait 80ms
			r 18 66 66 65 E1 48 FF`},
		{"the ends of the range", nil, `
			set temperature -40
			set humidity 100
			w AC 33 00
			wait 80ms
			r 18 FF FF F0 CC CD 9E
			set temperature 85
			set humidity 0
			w AC 33 00
			wait 80ms
			r 18 00 00 0A CC CD FE`},
		{"a measurement shows the air at its end", nil, `
			w AC 33 00
			wait 80ms
			set temperature 85
			r 18 80 00 06 00 00 23
			w AC 33 00
			wait 40ms
			set temperature 23.5
			set humidity 40
			wait 40ms
			r 18 66 66 65 E1 48 FF`},
		{"wrong parameters measure nothing", nil, `
			w AC 33 01
			w AC 33
			w AC
			w 33 AC 00
			r 18`},
		{"busy: commands are not heard", nil, `
			w AC 33 00
			wait 70ms
			w AC 33 00
			w BA
			wait 10ms
			r 18 80 00 06`},
		{"soft reset", nil, `
			w AC 33 00
			wait 80ms
			w BA
			w!
			wait 19ms
			r!
			wait 1ms
			r 18 00 00 00 00 00 35`},
		{"an AHT20 that has lost its calibration", map[string]string{"calibrated": "off"}, `
			r 10
			w AC 33 00
			wait 80ms
			r 10 00 00 00 00 00 EF
			w BE 08 00
			r 18
			w AC 33 00
			wait 80ms
			r 18 80 00 06 00 00 23`},
		{"AHT10: its own command, 75 ms, no checksum", old, `
			r 10
			w BE 08 00
			r 10
			w E1 08 00
			r 18
			w AC 33 00
			wait 74ms
			r 98
			wait 1ms
			r 18 80 00 06 00 00 FF
			reset
			r 10`},
		{"settings of the board file", map[string]string{"temperature": "23.5", "humidity": "40"}, `
			w AC 33 00
			wait 80ms
			r 18 66 66 65 E1 48 FF`},
		{"wrong checksum", nil, `
			fault crc
			w AC 33 00
			wait 80ms
			r 18 80 00 06 00 00 76
			fault off
			r 18 80 00 06 00 00 23`},
		{"slow", nil, `
			fault slow
			w AC 33 00
			wait 499ms
			r 98
			wait 1ms
			r 18`},
		{"stale", nil, `
			w AC 33 00
			wait 80ms
			fault stale
			set temperature 85
			w AC 33 00
			wait 80ms
			r 18 80 00 06 00 00 23`},
		{"saturated", nil, `
			fault saturated
			w AC 33 00
			wait 80ms
			r 18 FF FF FF FF FF 17`},
		{"uncalibrated", nil, `
			fault uncalibrated
			w BE 08 00
			r 10`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := devicetest.NewWorld()
			d, err := aht20.New(w, device.Options{Addr: -1, Values: tt.values})
			if err != nil {
				t.Fatal(err)
			}
			devicetest.Run(t, w, d, tt.script)
		})
	}
}

func TestOptions(t *testing.T) {
	for _, values := range []map[string]string{{"part": "aht30"}, {"calibrated": "perhaps"}, {"temperature": "500"}} {
		if _, err := aht20.New(devicetest.NewWorld(), device.Options{Addr: -1, Values: values}); err == nil {
			t.Errorf("%v: got no error", values)
		}
	}
}
