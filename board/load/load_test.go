package load

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pal-terminal/pal/board"
	"github.com/pal-terminal/pal/hw"
	"github.com/pal-terminal/pal/limits"
)

// small is a correct board file that tests change.
const small = `board: small
pins:
  - {id: 0, name: BOOT, owner: system}
  - {id: 1, name: TEMP, owner: agent, can: [adc], scale: "raw * 2", unit: degC}
  - {id: 2, name: DOOR, owner: guard, can: [in], pull: up}
  - {id: 5, name: LED, owner: agent, can: [in, out, pwm], safe: low}
  - {id: 6, name: SDA, owner: agent, can: [i2c]}
  - {id: 7, name: SCL, owner: agent, can: [i2c]}
  - id: A5
    name: PUMP
    owner: agent
    can: [out]
    safe: high
    max_on: 30s
    min_off: 1s
    max_rate: 10/s
    interlock: [LED, 9]
    requires: {pin: DOOR, level: low}
    trip: {adc: TEMP, above: 80, for_ms: 50}
    lease_required: true
    on_disconnect: safe
    danger: high
  - {id: 9, owner: agent, can: [open_drain], safe: high, requires: DOOR}
buses:
  - {i2c: 0, sda: SDA, scl: 7, owner: agent}
devices:
  - {type: led, pin: LED}
  - {type: aht20, bus: i2c0, addr: 0x38}
`

func TestParseReadsEverything(t *testing.T) {
	d, err := Bytes("small.yaml", []byte(small), nil)
	if err != nil {
		t.Fatal(err)
	}
	above := 80.0
	want := board.Pin{
		ID: "A5", Name: "PUMP", Owner: board.OwnerAgent, Can: board.CapOut, Safe: 1, MaxOn: 30 * time.Second, MinOff: time.Second,
		MaxRate: board.Rate{N: 10, Per: time.Second}, Interlock: []int{3, 7}, Requires: &board.Requirement{Pin: 2, Level: 0},
		Trip:          &board.Trip{ADC: 1, Above: &above, For: 50 * time.Millisecond},
		LeaseRequired: true, OnDisconnectSafe: true, Danger: board.DangerHigh, At: board.Pos{Line: 9, Col: 5},
	}
	if diff := cmp.Diff(want, d.Pins[6]); diff != "" {
		t.Errorf("PUMP (-want +got):\n%s", diff)
	}
	if got := d.Pins[3].Interlock; !cmp.Equal(got, []int{6}) {
		t.Errorf("interlock of LED: got %v want [6], the other half of PUMP's", got)
	}
	if got := d.Pins[1].Reading(4); got != 8 {
		t.Errorf("reading of 4 counts: got %v want 8", got)
	}
	if got := d.Pins[2].Pull; got != hw.PullUp {
		t.Errorf("pull of DOOR: got %v want up", got)
	}
	if got, want := d.Buses[0].Pins, (map[string]int{"sda": 4, "scl": 5}); !cmp.Equal(got, want) {
		t.Errorf("lines of i2c0: got %v want %v", got, want)
	}
	if got := d.Devices[0]; got.Name != "LED" || got.Pin != 3 {
		t.Errorf("device on a pin: got %+v", got)
	}
	if got := d.Devices[1]; got.Bus != "i2c0" || got.Addr != 0x38 || got.Pin != -1 {
		t.Errorf("device on a bus: got %+v", got)
	}
	if d.MaxExec != limits.MaxExecDefault || d.Driver.Kind != "sim" || d.Mode != board.ModeOpen || len(d.Hash) != 64 {
		t.Errorf("defaults: got max_exec %s driver %q mode %s hash %q", d.MaxExec, d.Driver.Kind, d.Mode, d.Hash)
	}
}

// TestParseProblems replaces one line of the small board and looks for the problem and its place.
func TestParseProblems(t *testing.T) {
	const led = "  - {id: 5, name: LED, owner: agent, can: [in, out, pwm], safe: low}"
	tests := []struct {
		name, old, new, want string
	}{
		{"unknown-key", led, strings.Replace(led, "safe:", "saef:", 1), `6:59: pin: unknown key "saef"`},
		{"unknown-top-key", "board: small", "board: small\nbord: x", `2:1: board file: unknown key "bord"`},
		{"duplicate-key", led, strings.Replace(led, "safe: low", "safe: low, safe: high", 1), `6:70: pin: key "safe" stands twice`},
		{"no-safe", led, strings.Replace(led, ", safe: low", "", 1), "6:5: LED: an output needs a safe level"},
		{"bad-safe", led, strings.Replace(led, "safe: low", "safe: 0", 1), "6:65: safe is one of low, high, not int"},
		{"pin-twice", led, led + "\n  - {id: 5, owner: agent, can: [in]}", `7:5: "5" already means the pin on line 6`},
		{"pin-twice-quoted", led, led + "\n  - {id: \"5\", owner: agent, can: [in]}", `7:5: "5" already means the pin on line 6`},
		{"name-twice", led, led + "\n  - {id: 8, name: DOOR, owner: agent, can: [in]}", `7:5: "DOOR" already means the pin on line 5`},
		{"name-case", led, led + "\n  - {id: 8, name: Door, owner: agent, can: [in]}", `7:5: "Door" is too much like a name of the pin on line 5`},
		{"name-of-other-chip-pin", led, led + "\n  - {id: 8, name: GPIO5, owner: agent, can: [in]}", `7:5: "GPIO5" already means the pin on line 6`},
		{"name-not-word", led, strings.Replace(led, "LED", "\"L D\"", 1), `6:19: name "L D" must be letters`},
		{"name-number", led, strings.Replace(led, "LED", "\"12\"", 1), `6:19: name "12" must be letters`},
		{"id-negative", led, strings.Replace(led, "5", "-5", 1), "6:10: id must be a whole number from 0"},
		{"id-leading-zero", led, strings.Replace(led, "5", "05", 1), "6:10: id must be a whole number from 0"},
		{"id-list", led, strings.Replace(led, "5", "[5]", 1), "6:10: id must be a number or a word, not sequence"},
		{"no-owner", led, strings.Replace(led, "owner: agent, ", "", 1), `6:5: pin: "owner" is missing`},
		{"no-can", led, strings.Replace(led, "can: [in, out, pwm], safe: low", "note: x", 1), `6:5: LED: "can" is missing`},
		{"open-drain-low", "can: [open_drain], safe: high", "can: [open_drain], safe: low", "23:52: 9: a shared or open drain line is inert when"},
		{"bus-line-low", led, strings.Replace(led, "pwm", "open_drain, i2c", 1), "6:77: LED: a shared or open drain line is inert when"},
		{"pull-against-safe", led, strings.Replace(led, "safe: low", "safe: low, pull: up", 1), "6:76: LED: this bias pulls the output away"},
		{"unknown-can", led, strings.Replace(led, "pwm", "fly", 1), `6:53: can is one of`},
		{"strapping", led, strings.Replace(led, "safe:", "strapping: true, safe:", 1), "6:5: LED: the chip reads this pin at reset"},
		{"system-rule", "{id: 0, name: BOOT, owner: system}", "{id: 0, owner: system, can: [out]}", `3:33: 0: a system pin is never used`},
		{"rule-on-input", "can: [in], pull: up", "can: [in], max_on: 3s", `5:58: DOOR: "max_on" is for outputs`},
		{"scale-on-input", "can: [in], pull: up", "can: [in], scale: raw", `5:57: DOOR: "scale" is for analogue inputs`},
		{"pull-on-adc", `scale: "raw * 2"`, "pull: up", `4:57: TEMP: "pull" is for inputs`},
		{"bad-scale", "raw * 2", "raw ^ 2", `4:58: a scale is arithmetic on raw`},
		{"interlock-unknown", "interlock: [LED, 9]", "interlock: [LEDD]", `17:17: PUMP: interlock names "LEDD", which is no pin`},
		{"interlock-input", "interlock: [LED, 9]", "interlock: [DOOR]", "17:17: PUMP: interlock with DOOR, which is no output"},
		{"interlock-self", "interlock: [LED, 9]", "interlock: [A5]", "17:17: PUMP: interlock with itself"},
		{"requires-unknown", "requires: DOOR}", "requires: GATE}", `23:68: 9: requires names "GATE"`},
		{"requires-output", "requires: DOOR}", "requires: PUMP}", "23:68: 9: requires needs a pin that can [in], which PUMP cannot"},
		{"requires-drivable", "requires: DOOR}", "requires: LED}", "23:68: 9: requires needs a pin that is only an input, but LED can be driven"},
		{"trip-unknown", "adc: TEMP,", "adc: TMP,", `19:17: PUMP: trip names "TMP"`},
		{"trip-not-adc", "adc: TEMP,", "adc: DOOR,", "19:17: PUMP: trip needs a pin that can [adc], which DOOR cannot"},
		{"trip-both", "above: 80,", "above: 80, below: 3,", "19:11: trip needs above or below, and not both"},
		{"trip-neither", "above: 80, ", "", "19:11: trip needs above or below, and not both"},
		{"trip-infinite", "above: 80", "above: .inf", "19:30: above must be a number"},
		{"max-on-zero", "max_on: 30s", "max_on: 0s", "14:13: max_on must be a time above 0"},
		{"max-on-number", "max_on: 30s", "max_on: 30", "14:13: max_on must be a time above 0"},
		{"rate", "10/s", "10/d", "16:15: max_rate is 1 to 1000 changes per"},
		{"rate-zero", "10/s", "0/s", "16:15: max_rate is 1 to 1000 changes per"},
		{"on-disconnect", "on_disconnect: safe", "on_disconnect: hold", "21:20: on_disconnect is one of safe"},
		{"bus-no-line", "scl: 7, ", "", `25:5: i2c0: "scl" is missing`},
		{"bus-wrong-pin", "scl: 7", "scl: LED", "25:29: i2c0: LED cannot be a line of it"},
		{"bus-unknown-pin", "scl: 7", "scl: 77", `25:29: i2c0: scl names "77"`},
		{"bus-same-line", "scl: 7", "scl: SDA", "25:19: i2c0: SDA is already a line of i2c0"},
		{"bus-system-pin", "scl: 7", "scl: BOOT", "25:29: i2c0 is owned by agent but its line BOOT by system"},
		{"bus-foreign-line", "scl: 7", "scl: 7, tx: 7", `25:36: i2c0 has no line "tx"`},
		{"device-bus", "bus: i2c0", "bus: i2c9", `28:24: device aht20 hangs on "i2c9"`},
		{"device-both", "bus: i2c0", "bus: i2c0, pin: LED", "28:5: device aht20 hangs on a pin (pin: …), or on several (pins: …), a bus (bus: …) or both"},
		{"device-system", "{type: led, pin: LED}", "{type: led, pin: BOOT}", "27:22: device led hangs on BOOT, a system pin"},
		{"devices-linux", "buses:", "drivers: {kind: linux, chip: gpiochip0}\nbuses:", "28:5: devices are for the simulated board"},
		{"chip-sim", "buses:", "drivers: {kind: sim, chip: gpiochip0}\nbuses:", "24:10: chip belongs to the linux driver"},
		{"max-exec", "board: small", "board: small\nmax_exec: 11m", "2:11: max_exec must be a time above 0 and up to 10m0s"},
		{"board-py-missing", "board: small", "board: small\nboard_py: board.py", "2:11: board_py: board.py is not at hand"},
		{"board-py-path", "board: small", "board: small\nboard_py: ../board.py", "2:11: board_py names a file beside"},
		{"anchor", "board: small", "board: &x small", "1:8: board must be text, not anchor"},
		{"tag", "board: small", "board: !!str small", "1:8: board must be text, not tag"},
		{"no-board", "board: small", "mode: open", `1:1: board file: "board" is missing`},
		{"two-documents", "devices:", "---\ndevices:", "a board file holds one document"},
		{"long-line", "board: small", "board: small # " + strings.Repeat("x", 1024), "1:1: a line of a board file has at most 1024 bytes"},
		{"deep", "board: small", "board: " + strings.Repeat("[", 17), "1:24: brackets nest at most 16 deep"},
		{"not-yaml", "board: small", "board: [small", "2:1: "},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			src := strings.Replace(small, tt.old, tt.new, 1)
			if src == small {
				t.Fatalf("the board does not hold %q", tt.old)
			}
			d, err := Bytes("b.yaml", []byte(src), nil)
			if d != nil || err == nil {
				t.Fatalf("got a description, want an error with %q", tt.want)
			}
			if !strings.Contains("\n"+err.Error(), "b.yaml:"+tt.want) && !strings.Contains(err.Error(), ": "+tt.want) {
				t.Errorf("got %v\nwant %q", err, tt.want)
			}
		})
	}
}

func TestParseReportsAllProblemsInOrder(t *testing.T) {
	src := "board: x y\nmode: free\npins:\n  - {id: 1, owner: agent, can: [out]}\n  - {id: 1, owner: nobody, can: [in]}\nextra: 1\n"
	_, err := Bytes("b.yaml", []byte(src), nil)
	problems, ok := errors.AsType[board.Problems](err)
	if !ok {
		t.Fatalf("got %v (%T) want Problems", err, err)
	}
	var got []board.Pos
	for _, p := range problems {
		got = append(got, p.Pos)
	}
	want := []board.Pos{{Line: 1, Col: 8}, {Line: 2, Col: 7}, {Line: 4, Col: 5}, {Line: 5, Col: 5}, {Line: 5, Col: 20}, {Line: 6, Col: 1}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("places (-want +got):\n%s\n%v", diff, err)
	}
}

func TestParseBounds(t *testing.T) {
	var b strings.Builder
	b.WriteString("board: big\npins:\n")
	for i := range limits.BoardPins + 1 {
		fmt.Fprintf(&b, "  - {id: %d, owner: system}\n", i)
	}
	if _, err := Bytes("b.yaml", []byte(b.String()), nil); err == nil || !strings.Contains(err.Error(), "at most 1024 pins") {
		t.Errorf("one pin too many: got %v", err)
	}
	huge := []byte("board: big\n#" + strings.Repeat("x", limits.BoardFileBytes))
	if _, err := Bytes("b.yaml", huge, nil); err == nil || !strings.Contains(err.Error(), "at most 262144 bytes") {
		t.Errorf("one byte too many: got %v", err)
	}
}

func TestLoadReadsBoardPyBesideTheFile(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("my.yaml", "board: my\nboard_py: my.py\npins: []\n")
	if _, err := File(filepath.Join(dir, "my.yaml")); err == nil || !strings.Contains(err.Error(), "my.yaml:2:11: board_py: ") {
		t.Errorf("missing board_py: got %v", err)
	}
	write("my.py", "X = 1\n")
	d, err := File(filepath.Join(dir, "my.yaml"))
	if err != nil || string(d.BoardPy) != "X = 1\n" || d.BoardPyName != "my.py" {
		t.Errorf("got %+v, %v", d, err)
	}
	for name, text := range map[string]string{
		"has more than 65536 bytes": strings.Repeat("#", limits.CodeBytes+1),
		"is not UTF-8":              "\xff",
		"has a NUL byte":            "a\x00b",
	} {
		write("my.py", text)
		if _, err := File(filepath.Join(dir, "my.yaml")); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("got %v want %q", err, name)
		}
	}
	if _, err := File(filepath.Join(dir, "none.yaml")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing file: got %v", err)
	}
	if err := os.Symlink("/etc/passwd", filepath.Join(dir, "evil.py")); err != nil {
		t.Fatal(err)
	}
	write("evil.yaml", "board: my\nboard_py: evil.py\npins: []\n")
	if _, err := File(filepath.Join(dir, "evil.yaml")); err == nil {
		t.Error("a board_py that leads out of the folder was read")
	}
}

func TestLookupIsExact(t *testing.T) {
	d, err := Bytes("small.yaml", []byte(small), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"5", "LED", "GPIO5"} {
		if i, ok := d.Lookup(name); !ok || d.Pins[i].ID != "5" {
			t.Errorf("Lookup(%q): got %d %v want LED's pin", name, i, ok)
		}
	}
	if i, ok := d.Lookup("A5"); !ok || d.Pins[i].Name != "PUMP" {
		t.Errorf("Lookup(A5): got %d %v", i, ok)
	}
	for _, name := range []string{
		"", " 5", "5 ", "+5", "-5", "05", "5.0", "0x5", "5\n", "５", "٥", "True", "led", "Led", "LED ", "GPIO05", "gpio5",
		"GPIOA5", "GPIO-5", "99", "LED\x00", "18446744073709551621",
	} {
		if i, ok := d.Lookup(name); ok {
			t.Errorf("Lookup(%q): got pin %s, want none", name, d.Pins[i].Label())
		}
	}
	if got, want := d.Pins[3].Aliases(), []string{"5", "GPIO5", "LED"}; !cmp.Equal(got, want) {
		t.Errorf("aliases of LED: got %v want %v", got, want)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(small))
	f.Add([]byte("board: x\npins: []\n"))
	f.Add([]byte("board: x\npins:\n- {id: 1, owner: agent, can: [out], safe: low, interlock: [1]}\n"))
	bench, err := profiles.ReadFile("profiles/bench-sim.yaml")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(bench)
	f.Fuzz(func(t *testing.T, src []byte) {
		d, err := Bytes("f.yaml", src, []byte("X = 1\n"))
		if err != nil {
			problems, ok := errors.AsType[board.Problems](err)
			if !ok || len(problems) == 0 || d != nil {
				t.Fatalf("got %v (%T) with %v, want Problems alone", err, err, d)
			}
			for _, p := range problems {
				if p.Line < 1 || p.Col < 1 {
					t.Fatalf("problem without a place: %v", p)
				}
			}
			return
		}
		for i := range d.Pins {
			p := &d.Pins[i]
			for _, a := range d.Pins[i].Aliases() {
				if j, ok := d.Lookup(a); !ok || j != i {
					t.Fatalf("alias %q of pin %d means %d", a, i, j)
				}
			}
			if p.Output() != (p.Safe >= 0) || p.Owner == board.OwnerSystem && p.Can != 0 || p.Strapping && p.Output() ||
				p.Can == board.CapOpenDrain && p.Safe != 1 || p.Against(p.Pull) {
				t.Fatalf("accepted a pin that breaks the rules: %+v", p)
			}
			for _, j := range p.Interlock {
				if !slices.Contains(d.Pins[j].Interlock, i) || j == i {
					t.Fatalf("interlock of %d with %d is not symmetric", i, j)
				}
			}
		}
	})
}
