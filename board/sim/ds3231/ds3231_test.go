package ds3231_test

import (
	"testing"

	"github.com/pal-terminal/pal/board/sim/device"
	"github.com/pal-terminal/pal/board/sim/devicetest"
	"github.com/pal-terminal/pal/board/sim/ds3231"
)

var spec = devicetest.Spec{
	New:     ds3231.New,
	Options: device.Options{Lines: []string{"int"}},
	Good:    map[string][]string{"temperature": {"-40", "23.25", "85"}, "time": {"2000-01-01T00:00:00Z", "2199-12-31T23:59:59Z", "2026-05-01T08:00:00+02:00"}},
	Bad:     map[string][]string{"temperature": {"-41", "86"}, "time": {"1999-12-31T23:59:59Z", "2200-01-01T00:00:00Z", "2026-02-30T00:00:00Z", "12:00"}},
	Faults:  []string{"battery"},
}

func TestContract(t *testing.T) { devicetest.Contract(t, spec) }

func FuzzWire(f *testing.F) { devicetest.Fuzz(f, spec) }

// The test's clock starts on Thursday, 15 January 2026, at noon.
func TestTranscripts(t *testing.T) {
	for _, tt := range []struct{ name, script string }{
		{"time of the bench", "wr 00 : 00 00 12 04 15 01 26 \n wait 3661s \n wr 00 : 01 01 13 04 15 01 26"},
		{"defaults of the rest", "wr 0E : 1C 08 00 19 00"},
		{"the pointer wraps from 0x12 to 0", "wr 11 : 19 00 00 00 12"},
		{"midnight, weekday and month", `
			w 00 59 59 23 07 31 01 26
			wait 1s
			wr 00 : 00 00 00 01 01 02 26`},
		{"leap year", `
			w 00 59 59 23 01 28 02 28
			wait 1s
			wr 03 : 02 29 02 28
			wait 24h
			wr 03 : 03 01 03 28`},
		{"no leap year", "w 00 59 59 23 01 28 02 26 \n wait 1s \n wr 03 : 02 01 03 26"},
		{"century", "w 00 59 59 23 01 31 12 99 \n wait 1s \n wr 03 : 02 01 81 00"},
		{"twelve hours", `
			w 00 59 59 71          # 11 p.m.
			wait 1s
			wr 00 : 00 00 52       # midnight is 12 a.m.
			wait 1h
			wr 02 : 41
			wait 11h
			wr 02 : 72             # noon is 12 p.m.
			wait 1h
			wr 02 : 61`},
		{"writing seconds begins a second", `
			wait 900ms
			w 00 30
			wait 999ms
			wr 00 : 30
			wait 1ms
			wr 00 : 31`},
		{"bits that do not exist", "w 00 FF FF FF FF FF FF \n wr 00 : 7F 7F 7F 07 3F 9F"},
		{"alarm 1 at a date", `
			w 07 30 45 13 15       # the 15th, 13:45:30
			wait 6329s
			wr 0F : 08
			wait 1s
			wr 0F : 09
			w 0F 01                # 1 leaves the flag
			wr 0F : 01
			w 0F 00
			wr 0F : 00`},
		{"alarm 1 each minute at 30 s", `
			w 07 30 80 80 80
			wait 30s
			wr 0F : 09
			w 0F 08
			wait 59s
			wr 0F : 08
			wait 1s
			wr 0F : 09`},
		{"alarm 1 each second", "w 07 80 80 80 80 \n wait 1s \n wr 0F : 09"},
		{"alarm 1 on a weekday, found after days", `
			w 07 00 00 08 42       # the second day of the week, 08:00
			wait 417599s           # from the fourth, noon: four days and twenty hours, less a second
			wr 0F : 08
			wait 1s
			wr 0F : 09`},
		{"alarm 2 at the full minute of an hour in twelve-hour form", `
			w 0B 05 61 80          # 1:05 p.m., any day
			wait 3899s
			wr 0F : 08
			wait 1s
			wr 0F : 0A`},
		{"interrupt", `
			w 07 10 80 80 80
			w 0E 1D
			line 0 -
			wait 10s
			line 0 0
			w 0F 00
			line 0 -
			wait 60s
			line 0 0
			w 0E 1C
			line 0 -`},
		{"without INTCN the line is not the alarms'", "w 07 10 80 80 80 \n w 0E 19 \n wait 10s \n line 0 - \n wr 0F : 09"},
		{"flags cannot be set", "w 0F FF \n wr 0F : 08"},
		{"temperature each 64 s", `
			set temperature -10.25
			wait 63s
			wr 11 : 19 00
			wait 1s
			wr 11 : F5 C0
			w 11 00 00
			wr 11 : F5 C0`},
		{"conversion on demand", `
			set temperature 25.75
			w 0E 3C
			wr 0E : 3C 0C
			wait 124ms
			wr 11 : 19 00
			wait 1ms
			wr 0E : 1C 08 00 19 C0`},
		{"power lost, battery good", "w 00 00 00 08 \n reset \n wait 1s \n wr 00 : 01 00 08 04 15 01 26 \n wr 0F : 08"},
		{"power lost, battery flat", "fault battery \n reset \n wr 00 : 00 00 00 01 01 01 00 \n wr 0F : 88 \n w 0F 00 \n wr 0F : 00"},
		{"oscillator stopped", "wait 5s \n fault stopped \n wait 1h \n wr 00 : 05 00 12 \n wr 0F : 88 \n fault off \n wait 1s \n wr 00 : 06 00 12"},
		{"set by hand", "wait 400ms \n set time 2030-12-24T18:30:00+01:00 \n wr 00 : 00 30 17 02 24 12 30 \n wait 1s \n wr 00 : 01"},
		{"no date rolls over", "w 00 59 59 23 01 31 02 26 \n wr 04 : 31 02 \n wait 1s \n wr 03 : 02 04 03 26"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := devicetest.NewWorld()
			d, err := ds3231.New(w, device.Options{Addr: -1, Lines: []string{"int"}})
			if err != nil {
				t.Fatal(err)
			}
			d.Reset()
			devicetest.Run(t, w, d, tt.script)
		})
	}
}

func TestWithoutBattery(t *testing.T) {
	w := devicetest.NewWorld()
	d, err := ds3231.New(w, device.Options{Addr: -1, Values: map[string]string{"battery": "none"}})
	if err != nil {
		t.Fatal(err)
	}
	d.Reset()
	devicetest.Run(t, w, d, "wr 00 : 00 00 00 01 01 01 00 \n wr 0F : 88")
	if s := d.State().(ds3231.State); s.Time != "2000-01-01T00:00:00" || !s.Stopped {
		t.Errorf("got %+v, want the first day of 2000, not to be trusted", s)
	}
	if _, err := ds3231.New(w, device.Options{Addr: -1, Values: map[string]string{"battery": "half"}}); err == nil {
		t.Error("battery=half: got no error")
	}
}
