package sim

import (
	"encoding/json"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pal-terminal/pal/board"
	"github.com/pal-terminal/pal/board/boardtest"
	boardload "github.com/pal-terminal/pal/board/load"
	"github.com/pal-terminal/pal/hw"
)

func bench(t *testing.T, o Options) (*board.Description, *Board) {
	t.Helper()
	d, err := boardload.Builtin("bench-sim")
	if err != nil {
		t.Fatal(err)
	}
	b, err := New(d, o)
	if err != nil {
		t.Fatal(err)
	}
	return d, b
}

func TestContract(t *testing.T) {
	for name, hook := range map[string]func(string, int) error{
		"immediate": nil,
		"hooked":    func(string, int) error { return nil },
	} {
		t.Run(name, func(t *testing.T) {
			boardtest.Run(t, func(t *testing.T) boardtest.Bench {
				d, b := bench(t, Options{Hook: hook})
				if got, want := b.Immediate(), hook == nil; got != want {
					t.Errorf("Immediate: got %v want %v", got, want)
				}
				t.Cleanup(func() { _ = b.Close() })
				do := func(op, name, value string) {
					if _, err := b.Sim(op, name, value); err != nil {
						t.Error(err)
					}
				}
				return boardtest.Bench{
					Board: d, Driver: b, Out: "LED", In: "PIR", ADC: "POT_ADC", PWM: "LED",
					Force: func(level int) { do("set", "PIR", []string{"0", "1"}[level]) },
					I2C: &boardtest.I2C{Bus: 0, Present: 0x50, Absent: 0x51, Write: []byte{0, 0}, Hold: func(on bool) {
						do("fault", "AT24C32", map[bool]string{true: "held:forever", false: "off"}[on])
					}},
					SPI: &boardtest.SPI{ // the flash memory's JEDEC ID
						Bus: 2, Select: "CS", Send: []byte{0x9F, 0, 0, 0}, Want: []byte{0xFF, 0xEF, 0x40, 0x17},
					},
					UART:  &boardtest.Wire{Bus: 3},
					Timed: &boardtest.Timed{Bits: "RGB", Silent: "SDA_1", OneWire: "DS18B20", Pulse: "PIR"},
				}
			})
		})
	}
}

func pin(t *testing.T, d *board.Description, name string) int {
	t.Helper()
	i, ok := d.Lookup(name)
	if !ok {
		t.Fatalf("no pin %s", name)
	}
	return i
}

func sim(t *testing.T, b *Board, op, name, value string) Entry {
	t.Helper()
	got, err := b.Sim(op, name, value)
	if err != nil {
		t.Fatal(err)
	}
	e, ok := got.(Entry)
	if !ok {
		t.Fatalf("sim %s: got %T", op, got)
	}
	return e
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestDevices(t *testing.T) {
	d, b := bench(t, Options{})
	for _, name := range []string{"LED", "RELAY_1"} {
		for _, level := range []int{0, 1, 0, 1} {
			if err := b.Configure(pin(t, d, name), hw.ModeOut, hw.PullNone, level); err != nil {
				t.Fatal(err)
			}
		}
	}
	tests := []struct{ op, name, value, want string }{
		{"show", "LED", "", `{"name":"LED","type":"led","pin":5,"mode":"out","level":1,"state":{"lit":true,"switched":3}}`},
		{"show", "5", "", `{"name":"LED","type":"led","pin":5,"mode":"out","level":1,"state":{"lit":true,"switched":3}}`},
		{"show", "RELAY_1", "", `{"name":"RELAY_1","type":"relay","pin":13,"mode":"out","level":1,"state":{"closed":true,"cycles":2}}`},
		{"show", "BUTTON", "", `{"name":"BUTTON","type":"button","pin":21,"mode":"none","level":1,"state":{"pressed":false,"presses":0}}`},
		{"press", "BUTTON", "", `{"name":"BUTTON","type":"button","pin":21,"mode":"none","level":0,"state":{"pressed":true,"presses":1}}`},
		{"press", "BUTTON", "", `{"name":"BUTTON","type":"button","pin":21,"mode":"none","level":0,"state":{"pressed":true,"presses":1}}`},
		{"release", "BUTTON", "", `{"name":"BUTTON","type":"button","pin":21,"mode":"none","level":1,"state":{"pressed":false,"presses":1}}`},
		{"set", "BUTTON", "low", `{"name":"BUTTON","type":"button","pin":21,"mode":"none","level":0,"forced":0,"state":{"pressed":false,"presses":1}}`},
		{"set", "BUTTON", "float", `{"name":"BUTTON","type":"button","pin":21,"mode":"none","level":1,"state":{"pressed":false,"presses":1}}`},
		{"set", "TEMP_ADC", "2048", `{"name":"TEMP_ADC","type":"adc","pin":1,"mode":"none","level":1,"state":{"raw":2048,"microvolts":1650402}}`},
		{"set", "TEMP_ADC", "1.5V", `{"name":"TEMP_ADC","type":"adc","pin":1,"mode":"none","level":0,"state":{"raw":1861,"microvolts":1499706}}`},
		{"set", "PIR", "1", `{"name":"PIR","type":"pir","pin":47,"mode":"none","level":1,"state":{"motion":true,"detected":true,"detections":1}}`},
		{"set", "SCL_1", "0", `{"name":"SCL_1","type":"line","pin":34,"mode":"none","level":0,"forced":0}`},
		{"stuck", "LED", "0", `{"name":"LED","type":"led","pin":5,"mode":"out","level":0,"stuck":0,"state":{"lit":false,"switched":4}}`},
		{"stuck", "LED", "off", `{"name":"LED","type":"led","pin":5,"mode":"out","level":1,"state":{"lit":true,"switched":5}}`},
	}
	for _, tt := range tests {
		if got := asJSON(t, sim(t, b, tt.op, tt.name, tt.value)); got != tt.want {
			t.Errorf("%s %s %s:\ngot  %s\nwant %s", tt.op, tt.name, tt.value, got, tt.want)
		}
	}
}

func TestSimRefuses(t *testing.T) {
	d, b := bench(t, Options{})
	if err := b.Configure(pin(t, d, "LED"), hw.ModeOut, hw.PullNone, 0); err != nil {
		t.Fatal(err)
	}
	tests := []struct{ op, name, value, want string }{
		{"fly", "LED", "", "no operation"},
		{"ls", "LED", "", "takes no arguments"},
		{"reset", "", "1", "takes no arguments"},
		{"show", "NOPE", "", "no such thing"},
		{"show", "", "", "no such thing"},
		{"show", "LED", "1", "takes no value"},
		{"set", "BOOT", "1", "system pin"},
		{"set", "LED", "1", "only the guard drives"},
		{"set", "PIR", "2", "neither on nor off"},
		{"set", "SDA", "2", "is not 0, 1"},
		{"set", "SDA", "", "is not 0, 1"},
		{"set", "TEMP_ADC", "4096", "neither raw counts"},
		{"set", "TEMP_ADC", "-1", "neither raw counts"},
		{"set", "TEMP_ADC", "3.4V", "not a voltage"},
		{"set", "TEMP_ADC", "NaNV", "not a voltage"},
		{"press", "LED", "", "no button"},
		{"press", "BUTTON", "1", "takes no value"},
		{"wave", "LED", "off", "no analogue input"},
		{"wave", "TEMP_ADC", "saw:0,1,1s", "no waveform"},
		{"wave", "TEMP_ADC", "sine:0,1", "needs LOW,HIGH"},
		{"wave", "TEMP_ADC", "sine:0,1,0s", "not a period"},
		{"wave", "TEMP_ADC", "noise:0,x", "neither raw counts"},
		{"stuck", "LED", "float", "is not 0, 1, low, high or off"},
		{"load", "LED", "0 AA==", "no memory"},
		{"load", "SCL_1", "0 AA==", "no memory"},
		{"load", "W25Q64", "x AA==", "no offset"},
		{"load", "W25Q64", "", "no offset"},
		{"load", "W25Q64", "0 A", "the bytes"},
		{"load", "W25Q64", "-1 AAAA", "only 0 fit"},
		{"load", "W25Q64", "8388607 AAAA", "only 1 fit"},
		{"load", "AT24C32", "4095 AAAA", "only 1 fit"},
		{"load", "AT24C32", "-9223372036854775808 AAAA", "only 0 fit"},
	}
	for _, tt := range tests {
		_, err := b.Sim(tt.op, tt.name, tt.value)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s %s %s: got %v want %q", tt.op, tt.name, tt.value, err, tt.want)
		}
		if got, want := errors.Is(err, board.ErrUnknownName), tt.want == "no such thing"; got != want {
			t.Errorf("%s %s: is ErrUnknownName: got %v want %v", tt.op, tt.name, got, want)
		}
	}
}

func TestReset(t *testing.T) {
	d, b := bench(t, Options{})
	before := asJSON(t, must(t, b, "ls"))
	if err := b.Configure(pin(t, d, "LED"), hw.ModeOut, hw.PullNone, 0); err != nil {
		t.Fatal(err)
	}
	for _, op := range [][3]string{
		{"press", "BUTTON"}, {"set", "PIR", "1"}, {"stuck", "LED", "1"}, {"wave", "TEMP_ADC", "sine:0,4095,1s"},
	} {
		sim(t, b, op[0], op[1], op[2])
	}
	after := asJSON(t, must(t, b, "reset"))
	// The output is the guard's and keeps its mode.
	if want := strings.Replace(before, `"pin":5,"mode":"none"`, `"pin":5,"mode":"out"`, 1); after != want {
		t.Errorf("after reset:\ngot  %s\nwant %s", after, want)
	}
	if got := sim(t, b, "show", "PIR", ""); got.Forced != nil || *got.Level != 0 {
		t.Errorf("PIR after reset: got %+v", got)
	}
}

func must(t *testing.T, b *Board, op string) any {
	t.Helper()
	got, err := b.Sim(op, "", "")
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// second lets a second go by in a bubble.
func second() { time.Sleep(time.Second) } //nolint:forbidigo // in a bubble: simulated time

func TestWaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, b := bench(t, Options{})
		temp := pin(t, d, "TEMP_ADC")
		tests := []struct {
			spec string
			want []int // every quarter of a period
		}{
			{"sine:0,4000,4s", []int{0, 2000, 4000, 2000, 0}},
			{"ramp:0,4000,4s", []int{0, 1000, 2000, 3000, 0}},
			{"triangle:1000,3000,4s", []int{1000, 2000, 3000, 2000, 1000}},
			{"square:0V,3.3V,4s", []int{0, 0, 4095, 4095, 0}},
		}
		for _, tt := range tests {
			sim(t, b, "wave", "TEMP_ADC", tt.spec)
			var got []int
			for range 5 {
				raw, _, err := b.ReadADC(temp)
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, raw)
				second()
			}
			if !cmp.Equal(got, tt.want) {
				t.Errorf("%s: got %v want %v", tt.spec, got, tt.want)
			}
		}
		sim(t, b, "wave", "TEMP_ADC", "ramp:0,4000,4s")
		second()
		sim(t, b, "wave", "TEMP_ADC", "off")
		second()
		if raw, _, err := b.ReadADC(temp); raw != 1000 || err != nil {
			t.Errorf("after off: got %d, %v want 1000", raw, err)
		}
	})
}

func TestNoiseIsRepeatable(t *testing.T) {
	read := func(seed uint64) (list []int) {
		d, b := bench(t, Options{Seed: seed})
		sim(t, b, "wave", "TEMP_ADC", "noise:100,200")
		for range 32 {
			raw, _, err := b.ReadADC(pin(t, d, "TEMP_ADC"))
			if err != nil || raw < 100 || raw > 200 {
				t.Fatalf("got %d, %v", raw, err)
			}
			list = append(list, raw)
			sim(t, b, "show", "TEMP_ADC", "") // looking draws nothing
		}
		return list
	}
	if a, b := read(1), read(1); !cmp.Equal(a, b) {
		t.Errorf("same seed: got %v and %v", a, b)
	}
	if a, b := read(1), read(2); cmp.Equal(a, b) {
		t.Errorf("other seed: got the same noise %v", a)
	}
}

func TestOpenDrainLetsTheWorldPull(t *testing.T) {
	d, b := bench(t, Options{})
	sda := pin(t, d, "SDA")
	level := func() int {
		got, err := b.Get(sda)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	if err := b.Configure(sda, hw.ModeOpenDrain, hw.PullUp, 1); err != nil || level() != 1 {
		t.Errorf("released: got %d, %v", level(), err)
	}
	sim(t, b, "set", "SDA", "0")
	if level() != 0 {
		t.Error("the world pulls low: got 1")
	}
	sim(t, b, "set", "SDA", "float")
	if err := b.Set(sda, 0); err != nil || level() != 0 {
		t.Errorf("driven low: got %d, %v", level(), err)
	}
}

func TestNewRefusesDevices(t *testing.T) {
	const head = "board: x\npins:\n  - {id: 1, name: A, owner: agent, can: [in, adc]}\n  - {id: 2, name: B, owner: agent, can: [in, i2c]}\n" +
		"  - {id: 3, name: C, owner: agent, can: [in, i2c]}\nbuses:\n  - {i2c: 0, sda: 2, scl: 3, owner: agent}\ndevices:\n  - "
	tests := map[string]string{
		"{type: warp, pin: A}":                                  "unknown type",
		"{type: led, bus: i2c0}":                                "hangs on lines",
		"{type: led, pins: {a: A}}":                             `its line "" is missing`,
		"{type: hcsr04, pin: A}":                                "several lines",
		"{type: hcsr04, pins: {trig: A}}":                       `its line "echo" is missing`,
		"{type: hcsr04, pins: {trig: A, echo: B, ping: C}}":     "and no others",
		"{type: ws2812, pin: A, pixels: 0}":                     "no whole number from 1",
		"{type: ws2812, pin: A, pixel: 3}":                      "nothing that can be set",
		"{type: button, pin: A, value: 3}":                      "has no value",
		"{type: adc, pin: A, value: 5000}":                      "outside 0 to 4095",
		"{type: adc, pin: A}\n  - {type: button, pin: 1}":       "another device's",
		"{type: adc, pin: A, name: B}":                          "another pin's",
		"{type: adc, pin: A}\n  - {type: led, pin: 1, name: Z}": "has a device already",
	}
	for devices, want := range tests {
		d, err := boardload.Bytes("x.yaml", []byte(head+devices+"\n"), nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := New(d, Options{}); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "x.yaml:") {
			t.Errorf("%s: got %v want %q", devices, err, want)
		}
	}
}

func TestExampleBoardBuilds(t *testing.T) {
	d, err := boardload.File("../../examples/greenhouse.yaml")
	if err != nil {
		t.Fatal(err)
	}
	b, err := New(d, Options{})
	if err != nil {
		t.Fatal(err)
	}
	raw, _, err := b.ReadADC(pin(t, d, "AIR_TEMP"))
	if temp := d.Pins[pin(t, d, "AIR_TEMP")].Reading(raw); err != nil || temp < 19.9 || temp > 20.1 {
		t.Errorf("air temperature: got %v, %v want 20", temp, err)
	}
}

// The motion sensor's INT comes by itself, a pulse for each sample, and no more than two events of it wait at any time.
func TestInterruptOfASensor(t *testing.T) {
	const text = "board: x\npins:\n  - {id: 1, name: INT, owner: agent, can: [in], pull: up}\n  - {id: 2, name: SDA, owner: agent, can: [in, i2c]}\n" +
		"  - {id: 3, name: SCL, owner: agent, can: [in, i2c]}\nbuses:\n  - {i2c: 0, sda: 2, scl: 3, owner: agent}\n" +
		"devices:\n  - {type: mpu6050, bus: i2c0, pins: {int: INT}}\n"
	synctest.Test(t, func(t *testing.T) {
		d, err := boardload.Bytes("x.yaml", []byte(text), nil)
		if err != nil {
			t.Fatal(err)
		}
		b, err := New(d, Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer b.Close()
		if level, err := b.Get(0); level != 0 || err != nil {
			t.Errorf("after power-up: got level %d, %v, want the sensor to drive 0 against the pull-up", level, err)
		}
		if err := b.OpenBus(0, board.BusSettings{Hz: 400_000, Bits: 8, Parity: -1, Stop: 1}); err != nil {
			t.Fatal(err)
		}
		write := func(data ...byte) {
			if _, err := b.I2C(t.Context(), 0, 0x68, 0, data, nil); err != nil {
				t.Error(err)
			}
		}
		var edges atomic.Int64
		cancel, err := b.Watch(0, hw.EdgeRising, func(bool, time.Time) { edges.Add(1) })
		if err != nil {
			t.Fatal(err)
		}
		defer cancel()
		for _, tt := range []struct {
			divider byte
			filter  byte
			want    int64
		}{{9, 3, 100}, {0, 3, 1000}, {0, 0, 8000}} {
			write(0x38, 1)
			write(0x19, tt.divider, tt.filter)
			write(0x6B, 0)
			edges.Store(0)
			second()
			b.mu.Lock()
			got, waiting := edges.Load(), len(b.agenda)
			b.mu.Unlock()
			if got < tt.want-1 || got > tt.want+1 || waiting > 2 {
				t.Errorf("divider %d, filter %d: got %d edges in a second and %d events waiting, want %d and 2 at most", tt.divider, tt.filter, got, waiting, tt.want)
			}
			write(0x6B, 0x80) // device reset
		}
		edges.Store(0)
		if second(); edges.Load() != 0 {
			t.Errorf("after the reset: got %d edges", edges.Load())
		}
	})
}

func TestHookFailsActions(t *testing.T) {
	boom := errors.New("boom")
	d, b := bench(t, Options{Hook: func(action string, _ int) error {
		if action == "set" {
			return boom
		}
		return nil
	}})
	led := pin(t, d, "LED")
	if err := b.Configure(led, hw.ModeOut, hw.PullNone, 0); err != nil {
		t.Fatal(err)
	}
	if err := b.Set(led, 1); !errors.Is(err, boom) {
		t.Errorf("got %v want %v", err, boom)
	}
}
