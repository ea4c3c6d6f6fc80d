package bus

import (
	"testing"

	"github.com/pal-terminal/pal/hw"
	"github.com/pal-terminal/pal/pin"
)

// BenchmarkI2CWrite is what the guard adds to a transfer of 16 bytes.
func BenchmarkI2CWrite(b *testing.B) {
	for name, direct := range map[string]bool{"direct": true, "goroutines": false} {
		b.Run(name, func(b *testing.B) {
			d := parse(b, testBoard)
			f := newFake(d, direct)
			table, err := pin.New(d, f, pin.Options{})
			if err != nil {
				b.Fatal(err)
			}
			g := New(d, f, table, Options{})
			if _, _, err := g.Call(b.Context(), agent, hw.Call{Op: hw.OpBusOpen, Text: "i2c:0"}); err != nil {
				b.Fatal(err)
			}
			call := write(i2c0, make([]byte, 16)...)
			b.ReportAllocs()
			for b.Loop() {
				f.wrote = f.wrote[:0]
				if r, _, err := g.Call(b.Context(), agent, call); err != nil || r.Errno != 0 {
					b.Fatal(r, err)
				}
			}
			b.StopTimer()
			_, _ = g.Close(), table.Close()
		})
	}
}
