package notices

import (
	"testing"
	"time"

	"github.com/pal-terminal/pal/limits"
)

func TestDenials(t *testing.T) {
	var d Denials
	now := time.Unix(100, 0)
	told := 0
	for range 1000 {
		if _, tell := d.Tell(now); tell {
			told++
		}
	}
	if told != limits.DenialsTold {
		t.Errorf("told %d in a second, want %d", told, limits.DenialsTold)
	}
	if n, tell := d.Tell(now.Add(time.Second)); !tell || n != 1000-limits.DenialsTold {
		t.Errorf("a second later: got %d, %v, want %d not told and this one told", n, tell, 1000-limits.DenialsTold)
	}
}

// A text stays as long as any of those that run it.
func TestSources(t *testing.T) {
	var s Sources
	one := s.Add([32]byte{1}, "x = 1")
	two := s.Add([32]byte{1}, "x = 1")
	one()
	if got := s.Text([32]byte{1}); got != "x = 1" {
		t.Errorf("got %q while one still runs", got)
	}
	two()
	if got := s.Text([32]byte{1}); got != "" {
		t.Errorf("got %q after the last, want nothing", got)
	}
}
