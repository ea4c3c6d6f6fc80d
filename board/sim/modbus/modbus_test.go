package modbus_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pal-terminal/pal/board/sim/device"
	"github.com/pal-terminal/pal/board/sim/devicetest"
	"github.com/pal-terminal/pal/board/sim/modbus"
)

var spec = devicetest.Spec{
	New: modbus.New,
	Good: map[string][]string{
		"coil.0": {"1", "0"}, "discrete.255": {"1"}, "holding.7": {"65535", "-1", "0x10"}, "input.0": {"-32768"},
	},
	Bad:    map[string][]string{"coil.0": {"2", "-1"}, "holding.7": {"65536", "-32769", "1.5"}},
	Faults: []string{"crc", "slow", "mute", "busy"},
}

func TestContract(t *testing.T) { devicetest.Contract(t, spec) }

func FuzzWire(f *testing.F) { devicetest.Fuzz(f, spec) }

func build(t *testing.T, values map[string]string) (device.Device, *devicetest.World) {
	t.Helper()
	w := devicetest.NewWorld()
	d, err := modbus.New(w, device.Options{Addr: -1, Values: values})
	if err != nil {
		t.Fatal(err)
	}
	return d, w
}

// Requests and answers are those of the specification's own examples where it has one of that function; checksums were computed apart
// from the code.
func TestTranscripts(t *testing.T) {
	for _, tt := range []struct{ name, script string }{
		{"1: coils 19 to 37", `
			send 11 01 00 13 00 13 8E 92
			wait 100ms
			got 11 01 03 CD 6B 05 40 12`},
		{"2: discrete inputs 196 to 217", `
			send 11 02 00 C4 00 16 BA A9
			wait 100ms
			got 11 02 03 AC DB 35 20 18`},
		{"3: holding registers 107 to 109", `
			send 11 03 00 6B 00 03 76 87
			wait 100ms
			got 11 03 06 02 2B 00 00 00 64 C8 BA`},
		{"4: input register 8", `
			send 11 04 00 08 00 01 B2 98
			wait 100ms
			got 11 04 02 00 0A F8 F4`},
		{"5: a coil on and off", `
			send 11 05 00 AC FF 00 4E 8B
			wait 100ms
			got 11 05 00 AC FF 00 4E 8B
			send 11 05 00 AC 00 00 0F 7B
			wait 100ms
			got 11 05 00 AC 00 00 0F 7B
			send 11 05 00 AC 00 01 CE BB
			wait 100ms
			got 11 85 03 03 54`},
		{"6: a register", `
			send 11 06 00 01 00 03 9A 9B
			wait 100ms
			got 11 06 00 01 00 03 9A 9B`},
		{"15: ten coils", `
			send 11 0F 00 13 00 0A 02 CD 01 BF 0B
			wait 100ms
			got 11 0F 00 13 00 0A 26 99`},
		{"16: two registers", `
			send 11 10 00 01 00 02 04 00 0A 01 02 C6 F0
			wait 100ms
			got 11 10 00 01 00 02 12 98`},
		{"16: a wrong byte count", `
			send 11 10 00 01 00 02 03 00 0A 01 43 B3
			wait 100ms
			got 11 90 03 0D C4`},
		{"no such function", "send 11 07 4C 22 \n wait 100ms \n got 11 87 01 83 F5"},
		{"a request cut short", "send 11 03 4D E1 \n wait 100ms \n got 11 83 03 00 F4"},
		{"past the end", "send 11 03 00 FF 00 02 F6 AB \n wait 100ms \n got 11 83 02 C1 34"},
		{"too many", "send 11 03 00 00 00 7E C7 7A \n wait 100ms \n got 11 83 03 00 F4"},
		{"answers after 3.5 characters and its own length: 3.6 + 8.3 ms", `
			send 11 06 00 01 00 03 9A 9B
			wait 11900us
			got
			wait 100us
			got 11 06 00 01 00 03 9A 9B`},
		{"a frame in two pieces", `
			send 11 06 00 01
			wait 3ms
			send 00 03 9A 9B
			wait 100ms
			got 11 06 00 01 00 03 9A 9B`},
		{"a silence ends a frame", `
			send 11 06 00 01
			wait 4ms
			send 00 03 9A 9B
			wait 100ms
			got`},
		{"another slave's address", "send 12 06 00 01 00 08 DB 6F \n wait 100ms \n got \n send 11 03 00 01 00 01 D7 5A \n wait 100ms \n got 11 03 02 00 00 79 87"},
		{"to all: done and not answered", "send 00 06 00 01 00 07 98 19 \n wait 100ms \n got \n send 11 03 00 01 00 01 D7 5A \n wait 100ms \n got 11 03 02 00 07 38 45"},
		{"wrong checksum of a request", "send 11 06 00 01 00 03 9A 9C \n wait 100ms \n got"},
		{"power lost in the middle", "send 11 06 00 01 \n reset \n send 00 03 9A 9B \n wait 100ms \n got"},
		{"power lost before the answer", "send 11 06 00 01 00 03 9A 9B \n wait 5ms \n reset \n wait 100ms \n got"},
		{"wrong checksum", "fault crc \n send 11 06 00 01 00 03 9A 9B \n wait 100ms \n got 11 06 00 01 00 03 CF CE"},
		{"slow", "fault slow \n send 11 06 00 01 00 03 9A 9B \n wait 2s \n got \n wait 12ms \n got 11 06 00 01 00 03 9A 9B"},
		{"mute", "fault mute \n send 11 06 00 01 00 03 9A 9B \n wait 10s \n got"},
		{"busy", "fault busy \n send 11 03 00 6B 00 03 76 87 \n wait 100ms \n got 11 83 06 C0 F7"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d, w := build(t, map[string]string{"address": "17", "holding.107": "555", "holding.109": "100", "input.8": "10"})
			for table, bytes := range map[string][3]byte{"coil": {0xCD, 0x6B, 0x05}, "discrete": {0xAC, 0xDB, 0x35}} {
				first := map[string]int{"coil": 19, "discrete": 196}[table]
				for i := range 24 {
					if err := d.Set(fmt.Sprintf("%s.%d", table, first+i), fmt.Sprint(bytes[i/8]>>(i%8)&1)); err != nil {
						t.Fatal(err)
					}
				}
			}
			devicetest.Run(t, w, d, tt.script)
		})
	}
}

func TestState(t *testing.T) {
	d, w := build(t, map[string]string{"address": "17", "size": "300"})
	devicetest.Run(t, w, d, `
		send 11 10 00 01 00 02 04 00 0A 01 02 C6 F0
		wait 100ms
		send 11 0F 00 13 00 0A 02 CD 01 BF 0B
		wait 100ms
		send 11 07 4C 22
		wait 100ms
		send 11 07 4C 23
		wait 100ms
		set input.299 -1`)
	want := modbus.State{
		Address: 17, Requests: 3, Exceptions: 1, Dropped: 1,
		NonZero: map[string]int{
			"holding.1": 10, "holding.2": 258, "input.299": 65_535,
			"coil.19": 1, "coil.21": 1, "coil.22": 1, "coil.25": 1, "coil.26": 1, "coil.27": 1, // 0xCD and 0x01
		},
	}
	if diff := cmp.Diff(want, d.State()); diff != "" {
		t.Errorf("state (-want +got):\n%s", diff)
	}
}

// A program that opened the UART at another rate is not understood and hears nothing of sense.
func TestAnotherRate(t *testing.T) {
	d, w := build(t, map[string]string{"address": "17"})
	w.BaudRate = 19_200
	devicetest.Run(t, w, d, "send 11 06 00 01 00 03 9A 9B \n wait 100ms \n got")
	if s := d.State().(modbus.State); s.Dropped != 1 || s.Requests != 0 {
		t.Errorf("got %+v, want one dropped frame", s)
	}
}

func TestOptions(t *testing.T) {
	for _, values := range []map[string]string{{"address": "0"}, {"address": "248"}, {"size": "0"}, {"size": "70000"}, {"holding.256": "1"}, {"register.1": "1"}} {
		if _, err := modbus.New(devicetest.NewWorld(), device.Options{Addr: -1, Values: values}); err == nil {
			t.Errorf("%v: got no error", values)
		}
	}
}
