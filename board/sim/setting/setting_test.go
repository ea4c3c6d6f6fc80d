package setting_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pal-terminal/pal/board/sim/device"
	"github.com/pal-terminal/pal/board/sim/setting"
)

func TestNumbers(t *testing.T) {
	for _, tt := range []struct {
		value string
		want  float64
		ok    bool
	}{
		{"23.5", 23.5, true}, {" -40 ", -40, true}, {"85", 85, true}, {"85.1", 0, false}, {"NaN", 0, false}, {"+Inf", 0, false}, {"", 0, false}, {"warm", 0, false},
	} {
		got, err := setting.Float("temperature", tt.value, -40, 85)
		if got != tt.want || (err == nil) != tt.ok {
			t.Errorf("Float(%q): got %v, %v; want %v, ok %v", tt.value, got, err, tt.want, tt.ok)
		}
	}
	for _, tt := range []struct {
		value string
		want  int
		ok    bool
	}{
		{"0x10", 16, true}, {"0b11", 3, true}, {"255", 255, true}, {"256", 0, false}, {"-1", 0, false}, {"99999999999999999999", 0, false}, {"1.5", 0, false},
	} {
		got, err := setting.Int("", tt.value, 0, 255)
		if got != tt.want || (err == nil) != tt.ok {
			t.Errorf("Int(%q): got %v, %v; want %v, ok %v", tt.value, got, err, tt.want, tt.ok)
		}
	}
	for value, want := range map[string]bool{"1": true, "On": true, "false": false, "0": false} {
		if got, err := setting.Bool("fix", value); got != want || err != nil {
			t.Errorf("Bool(%q): got %v, %v; want %v", value, got, err, want)
		}
	}
	if _, err := setting.Bool("fix", "perhaps"); err == nil {
		t.Error("Bool(perhaps): got no error")
	}
}

func TestAddress(t *testing.T) {
	for _, tt := range []struct {
		addr int
		want uint16
		ok   bool
	}{{-1, 0x23, true}, {0x23, 0x23, true}, {0x5C, 0x5C, true}, {0, 0, false}, {0x24, 0, false}, {0x10023, 0, false}} {
		got, err := setting.Address(device.Options{Addr: tt.addr}, 0x23, 0x5C)
		if got != tt.want || (err == nil) != tt.ok {
			t.Errorf("Address(%#x): got %#x, %v; want %#x, ok %v", tt.addr, got, err, tt.want, tt.ok)
		}
	}
}

func TestFaults(t *testing.T) {
	f := setting.NewFaults("crc", "slow")
	if err := f.Fault("slow"); err != nil {
		t.Fatal(err)
	}
	if err := f.Fault("fire"); err == nil {
		t.Error("an unknown fault: got no error")
	}
	if diff := cmp.Diff([]string{"slow"}, f.Active()); diff != "" || f.Has("crc") || !f.Has("slow") {
		t.Errorf("active faults: (-want +got)\n%s", diff)
	}
	if err := f.Fault("off"); err != nil || f.Has("slow") {
		t.Errorf("off: got %v, slow %v", err, f.Has("slow"))
	}
}
