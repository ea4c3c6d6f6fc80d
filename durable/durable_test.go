package durable

import (
	"testing"

	"github.com/pal-terminal/pal/board"
	"github.com/pal-terminal/pal/core"
	"github.com/pal-terminal/pal/store/crash"
)

// The very first start, cut at each operation, leaves no e-stop behind: nobody has set one.
func TestFirstStartCut(t *testing.T) {
	for n := range 100 {
		d := crash.New(uint64(n))
		d.CutAfter(n)
		emit := func(string, map[string]any) {}
		s, err := Open(Options{Disk: d, Terminal: "t", Emit: emit})
		if err == nil {
			if err = s.Load(); err == nil {
				s.Close()
			}
		}
		ended := d.Ops() <= n
		for seed := range uint64(8) {
			s, err := Open(Options{Disk: d.Restart(seed), Terminal: "t", Emit: emit})
			if err != nil {
				t.Fatalf("cut %d, seed %d: %v", n, seed, err)
			}
			if s.Stopped() != nil {
				t.Errorf("cut %d, seed %d: the e-stop is set: %+v", n, seed, s.Stopped())
			}
		}
		if ended {
			return
		}
	}
	t.Error("it never ends")
}

// What was applied in open mode, by an agent perhaps, is not what alone may drive in engineering mode.
func TestBoardPyOfAnotherMode(t *testing.T) {
	d := crash.New(1)
	start := func(mode board.Mode) core.Config {
		s, err := Open(Options{Disk: d, Terminal: "t", Emit: func(string, map[string]any) {}})
		if err == nil {
			err = s.Load()
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		cfg := core.Config{Board: &board.Description{Mode: mode}}
		s.Fill(&cfg)
		return cfg
	}
	if err := start(board.ModeOpen).Apply([]byte("x = 1")); err != nil {
		t.Fatal(err)
	}
	if got := start(board.ModeEngineering).BoardPy; got != nil {
		t.Errorf("in engineering mode: got %q, want that of the board file", got)
	}
	if got := start(board.ModeOpen).BoardPy; string(got) != "x = 1" {
		t.Errorf("in open mode: got %q, want what was applied", got)
	}
}
