//go:build unix

package faults

import (
	"testing"

	"github.com/pal-terminal/pal/board"
	"github.com/pal-terminal/pal/board/sim"
)

// lasting is a simulated board that outlives the guard, as a real one does.
type lasting struct{ *sim.Board }

func (lasting) Close() error { return nil }

func newLasting(t testing.TB, d *board.Description) lasting {
	t.Helper()
	b, err := sim.New(d, sim.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() }) // the test is over
	return lasting{b}
}
