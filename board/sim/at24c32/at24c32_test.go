package at24c32_test

import (
	"testing"

	"github.com/pal-terminal/pal/board/sim/at24c32"
	"github.com/pal-terminal/pal/board/sim/device"
	"github.com/pal-terminal/pal/board/sim/devicetest"
)

var spec = devicetest.Spec{New: at24c32.New, Faults: []string{"slow", "protected", "worn"}}

func TestContract(t *testing.T) { devicetest.Contract(t, spec) }

func FuzzWire(f *testing.F) { devicetest.Fuzz(f, spec) }

func TestLoad(t *testing.T) {
	w := devicetest.NewWorld()
	d, err := at24c32.New(w, device.Options{Addr: 0x57})
	if err != nil {
		t.Fatal(err)
	}
	m := d.(*at24c32.Memory)
	for _, c := range []struct{ off, size, want int }{{0, 4096, 4096}, {4094, 5, 2}, {4096, 1, 0}, {-1, 9, 0}, {0, 0, 0}} {
		if got := m.Load(c.off, make([]byte, c.size)); got != c.want {
			t.Errorf("Load of %d at %d: got %d, want %d", c.size, c.off, got, c.want)
		}
	}
	m.Load(30, []byte{1, 2, 3, 4}) // across a page
	for _, b := range []byte{0, 30} {
		m.Write(b)
	}
	for i, want := range []byte{1, 2, 3, 4, 0} {
		if got := m.Read(); got != want {
			t.Errorf("byte %d: got %d, want %d", 30+i, got, want)
		}
	}
}

func TestTranscripts(t *testing.T) {
	for _, tt := range []struct{ name, script string }{
		{"delivered erased", "wr 00 00 : FF FF"},
		{"byte write and random read", `
			w 01 23 A5
			wait 5ms
			wr 01 22 : FF A5 FF`},
		{"no acknowledge in the write cycle", `
			w 00 00 11
			w!
			r!
			wait 4999us
			w!
			wait 1us
			w
			wr 00 00 : 11`},
		{"page write wraps in its 32 bytes", `
			w 00 3E 01 02 03 04
			wait 5ms
			wr 00 3E : 01 02 FF
			wr 00 20 : 03 04 FF`},
		{"more than a page keeps the last bytes", `
			w 00 00 00 01 02 03 04 05 06 07 08 09 0A 0B 0C 0D 0E 0F 10 11 12 13 14 15 16 17 18 19 1A 1B 1C 1D 1E 1F 20 21
			wait 5ms
			wr 00 00 : 20 21 02
			wr 00 1F : 1F FF`},
		{"current address read goes on", `
			w 00 10 AA BB
			wait 5ms
			wr 00 10 : AA
			r BB FF`},
		{"reads wrap at the end; the upper four address bits do not count", `
			w 0F FF 55
			wait 5ms
			w 00 00 66
			wait 5ms
			wr FF FF : 55 66 FF`},
		{"a write without STOP writes nothing", `
			wr 00 00 12 34 : FF
			w
			wr 00 00 : FF FF`},
		{"an address alone costs no cycle", "w 00 00 \n w 00"},
		{"power lost keeps the array", `
			w 00 05 77
			reset
			wr 00 05 : 77`},
		{"slow", `
			fault slow
			w 00 00 11
			wait 19ms
			w!
			wait 1ms
			wr 00 00 : 11`},
		{"protected", `
			fault protected
			w 00 00 11
			wr 00 00 : FF`},
		{"worn", `
			fault worn
			w 00 00 10
			wait 5ms
			wr 00 00 : 11`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := devicetest.NewWorld()
			d, err := at24c32.New(w, device.Options{Addr: 0x57})
			if err != nil {
				t.Fatal(err)
			}
			devicetest.Run(t, w, d, tt.script)
		})
	}
}
