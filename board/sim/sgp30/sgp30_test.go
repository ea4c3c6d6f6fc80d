package sgp30_test

import (
	"testing"

	"github.com/pal-terminal/pal/board/sim/device"
	"github.com/pal-terminal/pal/board/sim/devicetest"
	"github.com/pal-terminal/pal/board/sim/sgp30"
)

var spec = devicetest.Spec{
	New:    sgp30.New,
	Good:   map[string][]string{"co2": {"400", "60000"}, "": {"800"}, "tvoc": {"0", "60000"}, "h2": {"0", "65535"}, "ethanol": {"18000"}},
	Bad:    map[string][]string{"co2": {"399", "60001"}, "tvoc": {"-1", "60001"}, "h2": {"65536"}},
	Faults: []string{"crc", "slow", "stale", "saturated"},
}

func TestContract(t *testing.T) { devicetest.Contract(t, spec) }

func FuzzWire(f *testing.F) { devicetest.Fuzz(f, spec) }

// Checksums were computed apart from the code, by the data sheet's table 9: 400 = 01 90 4C, 0 = 00 00 81, 600 = 02 58 9F, 50 = 00 32 26.
func TestTranscripts(t *testing.T) {
	for _, tt := range []struct{ name, script string }{
		{"serial number", "w 36 82 \n r! \n wait 499us \n r! \n wait 1us \n r .. .. .. .. .. .. .. .. .. FF"},
		{"feature set", "w 20 2F \n wait 10ms \n r 00 22 65"},
		{"self-test takes 220 ms", "w 20 32 \n wait 219ms \n r! \n w! \n wait 1ms \n r D4 00 C6"},
		{"air quality: 15 s of 400 and 0", `
			w 20 03
			wait 10ms
			r!
			w 20 08
			wait 11ms
			r!
			wait 1ms
			r 01 90 4C 00 00 81
			wait 14977ms            # 14.999 s since init
			w 20 08
			wait 12ms
			r 01 90 4C 00 00 81
			w 20 08
			wait 12ms
			r 02 58 9F 00 32 26`},
		{"without init", "wait 20s \n w 20 08 \n wait 12ms \n r 01 90 4C 00 00 81"},
		{"other air", `
			w 20 03
			wait 15s
			set co2 60000
			set tvoc 0
			w 20 08
			wait 12ms
			r EA 60 A2 00 00 81`},
		{"baselines: get and set have opposite orders", `
			w 20 15
			wait 10ms
			r 8C D2 70 8F 1B 92
			w 20 1E 8A AE AF 89 73 CA
			wait 10ms
			r!
			w 20 15
			wait 10ms
			r 89 73 CA 8A AE AF`},
		{"a wrong checksum is refused", `
			w 20 1E 8A AE 00!
			w 20 1E 8A AE AF 89 73 00!
			w 20 15
			wait 10ms
			r 8C D2 70 8F 1B 92`},
		{"too much is refused", "w 20 61 0F 80 62 00!"},
		{"unknown command", "w 12 34! \n r!"},
		{"raw signals", "w 20 50 \n wait 25ms \n r 33 90 27 48 44 C6"},
		{"power-up", `
			w 20 03
			wait 20s
			reset
			w 20 08
			wait 12ms
			r 01 90 4C 00 00 81`},
		{"wrong checksum", "fault crc \n w 20 2F \n wait 10ms \n r 00 22 30"},
		{"slow", "fault slow \n w 20 2F \n wait 99ms \n r! \n wait 1ms \n r 00 22 65"},
		{"stale", "w 20 03 \n wait 15s \n fault stale \n w 20 08 \n wait 12ms \n r 01 90 4C 00 00 81"},
		{"saturated", "fault saturated \n w 20 08 \n wait 12ms \n r EA 60 A2 EA 60 A2"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := devicetest.NewWorld()
			d, err := sgp30.New(w, device.Options{Addr: -1})
			if err != nil {
				t.Fatal(err)
			}
			devicetest.Run(t, w, d, tt.script)
		})
	}
}

func TestState(t *testing.T) {
	w := devicetest.NewWorld()
	value := 900
	d, err := sgp30.New(w, device.Options{Addr: -1, Value: &value})
	if err != nil {
		t.Fatal(err)
	}
	devicetest.Run(t, w, d, `
		w 20 61 0F 80 62
		wait 10ms
		w 20 03
		wait 1s
		w 20 08
		wait 1s
		w 20 08
		wait 5s
		w 20 08
		wait 100ms
		w 20 08
		wait 10s`)
	s := d.State().(sgp30.State)
	if s.CO2 != 900 || s.Measured != 4 || s.Uneven != 2 || s.Humidity != 15.5 || !s.Running || !s.WarmedUp {
		t.Errorf("got %+v, want 900 ppm, 4 measurements of which 2 uneven, 15.5 g/m³, running and warmed up", s)
	}
}
