package pcf8574_test

import (
	"testing"

	"github.com/pal-terminal/pal/board/sim/device"
	"github.com/pal-terminal/pal/board/sim/devicetest"
	"github.com/pal-terminal/pal/board/sim/pcf8574"
)

var spec = devicetest.Spec{
	New:     pcf8574.New,
	Options: device.Options{Lines: []string{"int"}},
	Good:    map[string][]string{"p0": {"0", "1", "open"}, "p7": {"0"}, "": {"0xF0", "255", "0"}},
	Bad:     map[string][]string{"p3": {"2", "low"}, "": {"256", "-1"}},
	Faults:  []string{"stuck", "stale"},
}

func TestContract(t *testing.T) {
	s := spec
	devicetest.Contract(t, s)
	s.Options.Values = map[string]string{"part": "pcf8574a"}
	devicetest.Contract(t, s)
}

func FuzzWire(f *testing.F) { devicetest.Fuzz(f, spec) }

func TestTranscripts(t *testing.T) {
	for _, tt := range []struct{ name, script string }{
		{"all high after power-up", "r FF FF"},
		{"read back", "w A5 \n r A5"},
		{"each byte sets the port", "w 00 FF 0F \n r 0F"},
		{"held low from outside", "set p3 0 \n r F7 \n w 0F \n r 07 \n set p3 open \n r 0F"},
		{"high from outside loses against a pin driven low", "w FE \n set p0 1 \n r FE"},
		{"all at once", "set  0x3C \n r 3C"},
		{"interrupt until read", "line 0 - \n set p0 0 \n line 0 0 \n r FE \n line 0 -"},
		{"interrupt until the level returns", "set p0 0 \n line 0 0 \n set p0 1 \n line 0 -"},
		{"interrupt until written", "set p0 0 \n line 0 0 \n w FF \n line 0 -"},
		{"a pin written low does not see", "w FE \n set p0 0 \n line 0 -"},
		{"power-up", "w 00 \n reset \n r FF"},
		{"stuck", "fault stuck \n line 0 0 \n r 00 \n fault off \n r FF"},
		{"stale", "fault stale \n set p0 0 \n r FF"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := devicetest.NewWorld()
			d, err := pcf8574.New(w, device.Options{Addr: 0x27, Lines: []string{"int"}})
			if err != nil {
				t.Fatal(err)
			}
			devicetest.Run(t, w, d, tt.script)
		})
	}
}

func TestPart(t *testing.T) {
	d, err := pcf8574.New(devicetest.NewWorld(), device.Options{Addr: -1, Values: map[string]string{"part": "pcf8574a"}})
	if err != nil || d.(device.I2C).Addresses()[0] != 0x38 {
		t.Errorf("pcf8574a: got %v, want address 0x38", err)
	}
	if _, err := pcf8574.New(devicetest.NewWorld(), device.Options{Addr: -1, Values: map[string]string{"part": "mcp23008"}}); err == nil {
		t.Error("another part: got no error")
	}
}
