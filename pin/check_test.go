package pin

import (
	"strings"
	"sync/atomic"
	"testing"

	"github.com/pal-terminal/pal/board"
	"github.com/pal-terminal/pal/board/load"
	"github.com/pal-terminal/pal/board/sim"
)

// liar is a driver whose line of pin 0 reads as somebody else holds it.
type liar struct {
	board.Driver
	held atomic.Int32 // level and 1, 0 for nobody
}

func (l *liar) Get(pin int) (int, error) {
	if v := l.held.Load(); v != 0 && pin == 0 {
		return int(v - 1), nil
	}
	return l.Driver.Get(pin)
}

// The guard's own watchdog hears of an output that is not where it was driven to, and of nothing else.
func TestCheck(t *testing.T) {
	d, err := load.Bytes("b.yaml", []byte("board: b\npins:\n  - {id: 1, name: LAMP, owner: agent, can: [in, out], safe: low}\n  - {id: 2, name: FAN, owner: agent, can: [out, pwm], safe: low}\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	s, err := sim.New(d, sim.Options{})
	if err != nil {
		t.Fatal(err)
	}
	drv := &liar{Driver: s}
	table, err := New(d, drv, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer table.Close()
	if _, err := table.Write(Caller{Name: "a", Drive: true}, 0, 1); err != nil {
		t.Fatal(err)
	}
	if err := table.Check(); err != nil {
		t.Errorf("all is well: %v", err)
	}
	drv.held.Store(1) // low
	if err := table.Check(); err == nil || !strings.Contains(err.Error(), "LAMP") {
		t.Errorf("a line that is held: got %v, want LAMP named", err)
	}
	drv.held.Store(0)
	if err := table.Check(); err != nil {
		t.Errorf("let go again: %v", err)
	}
	drv.held.Store(1)
	if _, err := table.Write(Caller{Name: "a", Drive: true}, 0, 1); err == nil {
		t.Fatal("a drive that did not take was no fault")
	}
	if err := table.Check(); err != nil {
		t.Errorf("a fault that is known: %v", err)
	}
}
