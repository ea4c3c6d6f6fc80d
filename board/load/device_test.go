package load

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pal-terminal/pal/board"
)

// wired has a board of three pins with one device, whose line is 7.
func wired(device string) []byte {
	return []byte("board: x\npins:\n  - {id: 1, name: TRIG, owner: agent, can: [out], safe: low}\n  - {id: 2, name: ECHO, owner: agent, can: [in]}\n" +
		"  - {id: 0, name: BOOT, owner: system}\ndevices:\n  - " + device + "\ndrivers: {kind: sim, timing: real, seed: 7}\n")
}

func TestDevices(t *testing.T) {
	value := 30
	for text, want := range map[string]board.Device{
		"{type: led, pin: 1}": {Type: "led", Name: "TRIG", Pin: 0, Addr: -1},
		"{type: hcsr04, pins: {trig: TRIG, echo: 2}, name: FINDER, value: 30}": {
			Type: "hcsr04", Name: "FINDER", Pin: -1, Pins: map[string]int{"trig": 0, "echo": 1}, Addr: -1, Value: &value,
		},
		`{type: x, pin: ECHO, pixels: 16, rom: "0028", deep: 0x1F, cold: -3.5, on: true, word: abc}`: {
			Type: "x", Name: "ECHO", Pin: 1, Addr: -1,
			Values: map[string]string{"pixels": "16", "rom": "0028", "deep": "0x1F", "cold": "-3.5", "on": "true", "word": "abc"},
		},
	} {
		d, err := Bytes("x.yaml", wired(text), nil)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		want.At = board.Pos{Line: 7, Col: 5}
		if diff := cmp.Diff(want, d.Devices[0]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
		if !d.Driver.Real || d.Driver.Seed != 7 {
			t.Errorf("driver: got %+v want real timing and seed 7", d.Driver)
		}
	}
}

func TestDeviceProblems(t *testing.T) {
	for text, want := range map[string]string{
		"{type: x}":                                             "7:5: device x hangs on a pin",
		"{type: x, pins: {}}":                                   "7:5: device x hangs on a pin",
		"{type: x, pin: 1, pins: {a: 2}}":                       "7:5: device x hangs on a pin",
		"{type: x, pins: {a: 9}}":                               `7:25: device x: pin names "9"`,
		"{type: x, pins: {a: BOOT}}":                            "7:25: device x hangs on BOOT, a system pin",
		"{type: x, pins: {a: 1, a: 2}}":                         `7:28: pins: key "a" stands twice`,
		"{type: x, pins: [1, 2]}":                               "7:21: pins must be a mapping",
		"{type: x, pin: 1, list: [1]}":                          "7:29: list must be a word or a number",
		"{type: x, pin: 1, map: {a: 1}}":                        "7:28: map must be a word or a number",
		"{type: x, pin: 1, none: }":                             "7:28: none must be a word or a number",
		"{type: x, pin: 1, y: 1, y: 2}":                         `7:29: device: key "y" stands twice`,
		"{type: x, pin: 1, y: " + strings.Repeat("z", 65) + "}": "7:26: y must be a word or a number of at most 64 bytes",
	} {
		_, err := Bytes("x.yaml", wired(text), nil)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v want %q", text, err, want)
		}
	}
	for driver, want := range map[string]string{
		"{kind: sim, timing: fast}":   "timing is one of real",
		"{kind: sim, seed: -1}":       "seed must be a whole number from 0",
		"{kind: linux, timing: real}": "timing and seed belong to the sim driver",
		"{kind: serial, seed: 0}":     "timing and seed belong to the sim driver",
	} {
		text := strings.Replace(string(wired("{type: led, pin: 1}")), "{kind: sim, timing: real, seed: 7}", driver, 1)
		if _, err := Bytes("x.yaml", []byte(text), nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v want %q", driver, err, want)
		}
	}
}
