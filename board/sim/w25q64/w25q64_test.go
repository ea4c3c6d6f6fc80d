package w25q64_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/pal-terminal/pal/board/sim/device"
	"github.com/pal-terminal/pal/board/sim/devicetest"
	"github.com/pal-terminal/pal/board/sim/w25q64"
)

var spec = devicetest.Spec{New: w25q64.New, Faults: []string{"slow", "stuck", "worn"}}

func TestContract(t *testing.T) { devicetest.Contract(t, spec) }

func FuzzWire(f *testing.F) { devicetest.Fuzz(f, spec) }

func build(t testing.TB) (*w25q64.Flash, *devicetest.World) {
	t.Helper()
	w := devicetest.NewWorld()
	d, err := w25q64.New(w, device.Options{Addr: -1})
	if err != nil {
		t.Fatal(err)
	}
	return d.(*w25q64.Flash), w
}

func TestTranscripts(t *testing.T) {
	for _, tt := range []struct{ name, script string }{
		{"identification", `
			x 9F .. .. .. .. = EF 40 17 FF
			x 90 00 00 00 .. .. .. = EF 16 EF
			x 90 00 00 01 .. .. = 16 EF
			x AB .. .. .. .. .. = 16 16`},
		{"delivered erased", `
			x 03 00 00 00 .. .. = FF FF
			x 05 .. = 00
			x 35 .. = 00
			x 15 .. = 60`},
		{"write enable latch", `
			x 06
			x 05 .. .. = 02 02
			x 04
			x 05 .. = 00
			x 06 00                     # one byte too many
			x 05 .. = 00`},
		{"page program takes 0.4 ms", `
			x 06
			x 02 00 01 00 11 22 33
			x 05 .. = 03
			x 03 00 01 00 .. .. = FF FF # busy: not heard
			wait 399us
			x 05 .. = 03
			wait 1us
			x 05 .. = 00
			x 03 00 00 FF .. .. .. .. .. = FF 11 22 33 FF
			x 0B 00 01 01 .. .. .. = 22 33`},
		{"without the latch nothing is programmed", `
			x 02 00 00 00 11
			x 05 .. = 00
			x 03 00 00 00 .. = FF`},
		{"bits go from 1 to 0 only", `
			x 06
			x 02 00 00 00 F0
			wait 1ms
			x 06
			x 02 00 00 00 3C
			wait 1ms
			x 03 00 00 00 .. = 30`},
		{"programs wrap in their page", `
			x 06
			x 02 00 12 FE 01 02 03 04
			wait 1ms
			x 03 00 12 FE .. .. .. = 01 02 FF
			x 03 00 12 00 .. .. .. = 03 04 FF`},
		{"reads wrap at the end, address bit 23 is ignored", `
			x 06
			x 02 00 00 00 AA
			wait 1ms
			x 06
			x 02 7F FF FF BB
			wait 1ms
			x 03 7F FF FF .. .. = BB AA
			x 03 FF FF FF .. .. = BB AA
			x 03 80 00 00 .. = AA`},
		{"sector erase takes 45 ms", `
			x 06
			x 02 00 1F FF 00
			wait 1ms
			x 06
			x 02 00 20 00 00
			wait 1ms
			x 06
			x 20 00 12 34
			wait 44999us
			x 05 .. = 03
			wait 1us
			x 05 .. = 00
			x 03 00 1F FF .. .. = FF 00`},
		{"erases cut short or too long do nothing", `
			x 06
			x 20 00 00
			x 05 .. = 02
			x 20 00 00 00 00
			x 05 .. = 02
			x C7 00
			x 05 .. = 02`},
		{"32 KiB, 64 KiB and chip erase", `
			x 06
			x 02 00 80 00 00
			wait 1ms
			x 06
			x 02 01 00 00 00
			wait 1ms
			x 06
			x 52 00 FF FF
			wait 120ms
			x 05 .. = 00
			x 03 00 80 00 .. = FF
			x 03 01 00 00 .. = 00
			x 06
			x D8 01 23 45
			wait 150ms
			x 05 .. = 00
			x 03 01 00 00 .. = FF
			x 06
			x C7
			wait 19999ms
			x 05 .. = 03
			wait 1ms
			x 05 .. = 00`},
		{"status registers", `
			x 06
			x 01 1C 42
			x 05 .. = 1F
			wait 10ms
			x 05 .. = 1C
			x 35 .. = 42
			x 06
			x 31 00
			wait 10ms
			x 06
			x 11 FF
			wait 10ms
			x 15 .. = 64
			x 35 .. = 00`},
		{"the whole array protected", `
			x 06
			x 01 1C
			wait 10ms
			x 06
			x 02 00 00 00 00
			x 03 00 00 00 .. = FF
			x 20 00 00 00
			x C7
			x 05 .. = 1E`},
		{"upper 128 KiB protected", `
			x 06
			x 01 04
			wait 10ms
			x 06
			x 02 7E 00 00 00
			x 05 .. = 06
			x 02 7D FF 00 11
			wait 1ms
			x 03 7D FF 00 .. = 11`},
		{"lower 4 KiB protected, and the complement", `
			x 06
			x 01 64
			wait 10ms
			x 06
			x 20 00 00 00
			x 05 .. = 66
			x 20 00 10 00
			wait 45ms
			x 05 .. = 64
			x 06
			x 31 40
			wait 10ms
			x 06
			x 20 00 10 00
			x 05 .. = 66
			x 20 00 00 00
			x 05 .. = 67`},
		{"power-down hears only its release", `
			x B9
			x 9F .. = FF
			x 05 .. = FF
			x 06
			x AB
			x 05 .. = 00
			x 9F .. = EF`},
		{"reset needs both of its instructions in a row", `
			x 06
			x 66
			x 05 .. = 02
			x 99
			x 05 .. = 02
			x 66
			x 99
			x 05 .. = 00`},
		{"slow parts take the longest time", `
			fault slow
			x 06
			x 20 00 00 00
			wait 399ms
			x 05 .. = 03
			wait 1ms
			x 05 .. = 00`},
		{"stuck", `
			fault stuck
			x 06
			x 20 00 00 00
			wait 1000s
			x 05 .. = 03
			fault off
			x 05 .. = 00`},
		{"worn", `
			fault worn
			x 06
			x 20 00 10 00
			wait 45ms
			x 03 00 10 00 .. .. = FE FF`},
		{"power lost keeps contents and registers", `
			x 06
			x 02 00 00 00 77
			wait 1ms
			x 06
			x 01 04
			wait 10ms
			x 06
			reset
			x 05 .. = 04
			x 03 00 00 00 .. = 77`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f, w := build(t)
			devicetest.Run(t, w, f, tt.script)
		})
	}
}

// A program of more than a page keeps the last 256 bytes.
func TestProgramOfMoreThanAPage(t *testing.T) {
	f, w := build(t)
	devicetest.Run(t, w, f, "x 06")
	tx := []byte{0x02, 0, 0, 0}
	for i := range 300 {
		tx = append(tx, byte(i), byte(i>>8))
	}
	f.Select(true)
	f.Transfer(tx, nil)
	f.Select(false)
	w.Advance(time.Millisecond)
	got := read(f, 0, 256)
	data := tx[4:]
	want := make([]byte, 256)
	for i, b := range data {
		want[i%256] = b
	}
	if !bytes.Equal(got, want) {
		t.Errorf("got % X\nwant % X", got, want)
	}
}

func read(f *w25q64.Flash, at, n int) []byte {
	rx := make([]byte, n)
	f.Select(true)
	f.Transfer([]byte{0x03, byte(at >> 16), byte(at >> 8), byte(at)}, nil)
	f.Transfer(rx, rx) // in place, as a driver may
	f.Select(false)
	return rx
}

func TestUniqueID(t *testing.T) {
	id := func() []byte {
		f, _ := build(t)
		rx := make([]byte, 13)
		f.Select(true)
		f.Transfer([]byte{0x4B, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, rx)
		f.Select(false)
		return rx[5:]
	}
	first := id()
	if bytes.Equal(first, bytes.Repeat([]byte{0xFF}, 8)) || !bytes.Equal(first, id()) {
		t.Errorf("got % X and % X, want the same of one seed", first, id())
	}
}

func TestLoad(t *testing.T) {
	f, _ := build(t)
	image := make([]byte, 200_000)
	for i := range image {
		image[i] = byte(i ^ i>>8)
	}
	if n := f.Load(70_000, image); n != len(image) {
		t.Errorf("got %d bytes loaded, want %d", n, len(image))
	}
	if got := read(f, 70_000, len(image)); !bytes.Equal(got, image) {
		t.Error("what is read is not what was loaded")
	}
	if n := f.Load(w25q64.Size-2, image); n != 2 {
		t.Errorf("past the end: got %d bytes loaded, want 2", n)
	}
	if n := f.Load(-1, image); n != 0 {
		t.Errorf("before the beginning: got %d bytes loaded, want none", n)
	}
	if s := f.State().(w25q64.State); s.UsedBlocks != 5 || s.Read != 200_000 {
		t.Errorf("got %+v, want 5 used blocks and 200,000 bytes read", s)
	}
}

// Nothing is driven while the chip is not selected.
func TestNotSelected(t *testing.T) {
	f, _ := build(t)
	rx := make([]byte, 4)
	f.Transfer([]byte{0x9F, 0, 0, 0}, rx)
	if want := []byte{0xFF, 0xFF, 0xFF, 0xFF}; !bytes.Equal(rx, want) {
		t.Errorf("got % X, want % X", rx, want)
	}
}

func BenchmarkReadFrame(b *testing.B) {
	f, _ := build(b)
	f.Load(0, make([]byte, 1<<20))
	cmd, rx := []byte{0x03, 0, 4, 0}, make([]byte, 1024)
	b.SetBytes(1024)
	for b.Loop() {
		f.Select(true)
		f.Transfer(cmd, nil)
		f.Transfer(rx, rx)
		f.Select(false)
	}
}
