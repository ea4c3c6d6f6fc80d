package lease

import (
	"testing"

	"github.com/pal-terminal/pal/pin"
)

// BenchmarkDrive is a drive of the guard with a book that has no claims, one on something else, and the driver's own.
func BenchmarkDrive(b *testing.B) {
	d := description(b)
	for name, uses := range map[string][]Use{"nothing": nil, "other": drive("NEED"), "own": drive("PLAIN")} {
		b.Run(name, func(b *testing.B) {
			w := newWorld(b, d, 0, true)
			if uses != nil {
				if _, err := w.book.Take("ann", 1, uses, 0, false); err != nil {
					b.Fatal(err)
				}
			}
			c, level := pin.Caller{Name: "ann", Drive: true}, 0
			for b.Loop() {
				level ^= 1
				if _, err := w.table.Write(c, 5, level); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
