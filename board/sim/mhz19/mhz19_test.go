package mhz19_test

import (
	"testing"

	"github.com/pal-terminal/pal/board/sim/device"
	"github.com/pal-terminal/pal/board/sim/devicetest"
	"github.com/pal-terminal/pal/board/sim/mhz19"
)

var spec = devicetest.Spec{
	New:    mhz19.New,
	Good:   map[string][]string{"co2": {"0", "10000"}, "": {"800"}, "temperature": {"-40", "85"}},
	Bad:    map[string][]string{"co2": {"-1", "10001"}, "temperature": {"-41", "86", "20.5"}},
	Faults: []string{"crc", "slow", "stale", "saturated", "mute"},
}

func TestContract(t *testing.T) { devicetest.Contract(t, spec) }

func FuzzWire(f *testing.F) { devicetest.Fuzz(f, spec) }

// The commands are those that the manual prints, with their checksums; 600 ppm is 0x0258 and 25 °C is 0x41.
const (
	ask   = "send FF 01 86 00 00 00 00 00 79 \n wait 50ms \n"
	plain = "got FF 86 02 58 41 00 00 00 DF \n"
)

func TestTranscripts(t *testing.T) {
	for _, tt := range []struct {
		name   string
		values map[string]string
		script string
	}{
		{"concentration", nil, ask + plain},
		{"command and answer take nine characters each: 18.75 ms", nil, "send FF 01 86 00 00 00 00 00 79 \n wait 18700us \n got \n wait 50us \n" + plain},
		{"608 ppm at 7 °C", nil, "set co2 608 \n set temperature 7 \n" + ask + "got FF 86 02 60 2F 00 00 00 E9"},
		{"in pieces, after rubbish", nil, "send 00 55 FF 01 86 \n wait 1s \n send 00 00 00 00 00 79 \n wait 50ms \n" + plain},
		{"wrong checksum", nil, "send FF 01 86 00 00 00 00 00 78 \n wait 1s \n got \n" + ask + plain},
		{"another sensor", nil, "send FF 02 86 00 00 00 00 00 78 \n wait 1s \n got"},
		{"beyond the range of delivery, 5,000 ppm", nil, "set 6000 \n" + ask + "got FF 86 13 88 41 00 00 00 9E"},
		{"range of 2,000 ppm", nil, "send FF 01 99 00 00 00 07 D0 8F \n set 6000 \n" + ask + "got FF 86 07 D0 41 00 00 00 62"},
		{"no such range", nil, "send FF 01 99 00 00 00 12 34 20 \n set 6000 \n" + ask + "got FF 86 13 88 41 00 00 00 9E"},
		{"settings do not answer", nil, "send FF 01 79 00 00 00 00 00 86 \n send FF 01 79 A0 00 00 00 00 E6 \n wait 1s \n got"},
		{"zero calibration", nil, "send FF 01 87 00 00 00 00 00 78 \n" + ask + "got FF 86 01 90 41 00 00 00 A8 \n set 1700 \n" + ask + "got FF 86 05 DC 41 00 00 00 58"},
		{"span calibration", nil, "set 1500 \n send FF 01 88 07 D0 00 00 00 A0 \n" + ask + "got FF 86 07 D0 41 00 00 00 62"},
		{"preheating", map[string]string{"preheat": "on"}, ask + "got FF 86 01 90 41 00 00 00 A8 \n wait 179900ms \n" + ask + "got FF 86 01 90 41 00 00 00 A8 \n wait 100ms \n" + ask + plain},
		{"preheating after power was lost", nil, "reset \n" + ask + "got FF 86 01 90 41 00 00 00 A8 \n wait 3m \n" + ask + plain},
		{"wrong checksum of the answer", nil, "fault crc \n" + ask + "got FF 86 02 58 41 00 00 00 8A"},
		{"slow", nil, "fault slow \n" + ask + "got \n wait 1s \n" + plain},
		{"stale", nil, ask + plain + "fault stale \n set 900 \n" + ask + plain},
		{"saturated", nil, "fault saturated \n" + ask + "got FF 86 13 88 41 00 00 00 9E"},
		{"mute", nil, "fault mute \n" + ask + "got"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := devicetest.NewWorld()
			d, err := mhz19.New(w, device.Options{Addr: -1, Values: tt.values})
			if err != nil {
				t.Fatal(err)
			}
			d.Reset()
			devicetest.Run(t, w, d, tt.script)
		})
	}
}

func TestState(t *testing.T) {
	w := devicetest.NewWorld()
	d, err := mhz19.New(w, device.Options{Addr: -1})
	if err != nil {
		t.Fatal(err)
	}
	d.Reset()
	devicetest.Run(t, w, d, "send FF 01 79 00 00 00 00 00 86 \n send FF 01 99 00 00 00 07 D0 8F \n send FF 01 99 00 00 00 07 D0 00")
	if s := d.State().(mhz19.State); s.Baseline || s.Range != 2000 || s.Requests != 2 || s.Discarded != 1 || s.Preheating {
		t.Errorf("got %+v", s)
	}
	w.BaudRate = 115_200
	devicetest.Run(t, w, d, ask+"got")
}
