package durable

import (
	"testing"

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
