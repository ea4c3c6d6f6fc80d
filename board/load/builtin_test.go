package load

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pal-terminal/pal/board"
	"github.com/pal-terminal/pal/board/boardpy"
)

// TestBenchSimPinMap holds the profile to the published pin map, which programs and documents rely on.
func TestBenchSimPinMap(t *testing.T) {
	if got := Names(); !slices.Contains(got, "bench-sim") {
		t.Fatalf("built-in boards: got %v", got)
	}
	d, err := Builtin("bench-sim")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"1": "TEMP_ADC", "2": "POT_ADC", "3": "LIGHT_ADC", "4": "LED_B", "5": "LED", "6": "SDA", "7": "SCL", "8": "DHT22",
		"9": "DS18B20", "10": "WS2812", "11": "BUZZER", "12": "RELAY_POWER", "13": "RELAY_1", "14": "RELAY_2", "15": "SERVO",
		"16": "FAN_PWM", "17": "TX", "18": "RX", "21": "BUTTON", "33": "SDA_1", "34": "SCL_1", "35": "MOSI", "36": "SCK",
		"37": "MISO", "38": "CS", "39": "BUTTON_B", "40": "FLOW", "41": "TRIG", "42": "ECHO", "43": "STEPPER_1",
		"44": "STEPPER_2", "45": "STEPPER_3", "46": "STEPPER_4", "47": "PIR", "48": "RGB", "49": "ENC_A", "50": "ENC_B",
	}
	got := map[string]string{}
	var system []string
	for i := range d.Pins {
		if p := &d.Pins[i]; p.Owner == board.OwnerSystem {
			system = append(system, string(p.ID))
		} else {
			got[string(p.ID)] = p.Name
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("agent pins (-want +got):\n%s", diff)
	}
	if got, want := strings.Join(system, " "), "0 19 20 26 27 28 29 30 31 32"; got != want {
		t.Errorf("system pins: got %s want %s", got, want)
	}
	if d.MaxExec != 10*time.Minute || d.Mode != board.ModeOpen {
		t.Errorf("got max_exec %s mode %s", d.MaxExec, d.Mode)
	}
	power, _ := d.Lookup("RELAY_POWER")
	relay1, _ := d.Lookup("RELAY_1")
	relay2, _ := d.Lookup("14")
	if d.Pins[power].Danger != board.DangerHigh || !slices.Contains(d.Pins[relay1].Interlock, relay2) {
		t.Errorf("rules: got %+v and %+v", d.Pins[power], d.Pins[relay1])
	}
	temp, _ := d.Lookup("TEMP_ADC")
	if got := d.Pins[temp].Reading(4095); got < 329.99 || got > 330.01 {
		t.Errorf("TEMP_ADC at full scale: got %v want 330", got)
	}
}

func TestBuiltinBoardPyIsFreeOfFindings(t *testing.T) {
	for _, name := range Names() {
		d, err := Builtin(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range boardpy.Lint(d.BoardPy) {
			t.Errorf("%s line %d: %s", d.BoardPyName, f.Line, f.Message)
		}
	}
	d, err := Builtin("bench-sim")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range boardpy.Functions(d.BoardPy) {
		names = append(names, f.Name)
	}
	for _, want := range []string{"toggle_led", "read_temperature", "relay_on", "power_off"} {
		if !slices.Contains(names, want) {
			t.Errorf("board.py lacks %s (has %v)", want, names)
		}
	}
}

func TestBuiltinUnknown(t *testing.T) {
	if _, err := Builtin("../bench-sim"); err == nil || !strings.Contains(err.Error(), "there are: ") {
		t.Errorf("got %v", err)
	}
}

func TestExamplesLoad(t *testing.T) {
	for _, file := range []string{"../../examples/greenhouse.yaml"} {
		d, err := File(file)
		if err != nil {
			t.Error(err)
			continue
		}
		if findings := boardpy.Lint(d.BoardPy); len(findings) > 0 || len(boardpy.Functions(d.BoardPy)) == 0 {
			t.Errorf("%s: got findings %v", d.BoardPyName, findings)
		}
	}
}
