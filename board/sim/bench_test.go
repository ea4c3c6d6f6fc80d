package sim

import (
	"testing"

	"github.com/pal-terminal/pal/board"
	boardload "github.com/pal-terminal/pal/board/load"
	"github.com/pal-terminal/pal/hw"
)

func BenchmarkSet(b *testing.B) {
	d, drv := opened(b, "bench-sim")
	for _, name := range []string{"RELAY_1", "LED"} {
		b.Run(name, func(b *testing.B) {
			at, _ := d.Lookup(name)
			if err := drv.Configure(at, hw.ModeOut, hw.PullNone, 0); err != nil {
				b.Fatal(err)
			}
			for i := 0; b.Loop(); i++ {
				if err := drv.Set(at, i&1); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkGet(b *testing.B) {
	d, drv := opened(b, "bench-sim")
	at, _ := d.Lookup("BUTTON")
	for b.Loop() {
		if _, err := drv.Get(at); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkFrame is one frame of a display, as its drivers send it.
func BenchmarkFrame(b *testing.B) {
	_, drv := opened(b, "bench-sim")
	if err := drv.OpenBus(0, board.BusSettings{Hz: 400_000}); err != nil {
		b.Fatal(err)
	}
	frame := make([]byte, 1025)
	frame[0] = 0x40
	for b.Loop() {
		if n, err := drv.I2C(b.Context(), 0, 0x3C, 0, frame, nil); n != len(frame) || err != nil {
			b.Fatal(n, err)
		}
	}
}

// BenchmarkSPIRead reads 1 KiB from the flash, as its drivers do.
func BenchmarkSPIRead(b *testing.B) {
	d, drv := opened(b, "bench-sim")
	cs, _ := d.Lookup("CS")
	if err := drv.Configure(cs, hw.ModeOut, hw.PullNone, 1); err != nil {
		b.Fatal(err)
	}
	if err := drv.OpenBus(2, board.BusSettings{Hz: 20_000_000, Bits: 8}); err != nil {
		b.Fatal(err)
	}
	command, tx, rx := []byte{0x03, 0, 0, 0}, make([]byte, 1024), make([]byte, 1024)
	for b.Loop() {
		for _, err := range []error{
			drv.Set(cs, 0), drv.SPI(b.Context(), 2, command, nil), drv.SPI(b.Context(), 2, tx, rx), drv.Set(cs, 1),
		} {
			if err != nil {
				b.Fatal(err)
			}
		}
	}
}

func opened(t testing.TB, name string) (*board.Description, *Board) {
	t.Helper()
	d, err := boardload.Builtin(name)
	if err != nil {
		t.Fatal(err)
	}
	b, err := New(d, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return d, b
}
