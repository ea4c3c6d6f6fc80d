package board

import (
	"math"
	"strings"
	"testing"
)

func TestScale(t *testing.T) {
	tests := []struct {
		text string
		raw  int
		want float64
	}{
		{"raw", 7, 7},
		{"raw * 3.3 / 4095 * 100", 4095, 330},
		{"1 - 2 - 3", 0, -4},
		{"2 + 3 * raw", 4, 14},
		{"-(raw - 10) * -2", 4, -12},
		{"( ( raw ) )/2", 5, 2.5},
	}
	for _, tt := range tests {
		s, err := ParseScale(tt.text)
		if err != nil {
			t.Errorf("%q: %v", tt.text, err)
			continue
		}
		if got := s.Value(tt.raw); got-tt.want > 1e-9 || tt.want-got > 1e-9 {
			t.Errorf("%q of %d: got %v want %v", tt.text, tt.raw, got, tt.want)
		}
	}
	for _, text := range []string{"", "raw raw", "raw +", "(raw", "raw)", "x", "rawx", "1..2", "raw ** 2", "os.exit", "1 << 2", "!raw", "'a'", "2i", "1e999", "raw; raw", "f(raw)", "func() {}", strings.Repeat("(", 400) + "1"} {
		if _, err := ParseScale(text); err == nil {
			t.Errorf("%q: got no error", text)
		}
	}
}

func TestTripTreatsUnreadableAsMet(t *testing.T) {
	limit := 5.0
	for _, trip := range []Trip{{Above: &limit}, {Below: &limit}} {
		if !trip.Met(math.NaN()) {
			t.Errorf("%+v: a value that is no number must trip", trip)
		}
	}
	if (Trip{Above: &limit}).Met(5) || !(Trip{Above: &limit}).Met(5.1) || (Trip{Below: &limit}).Met(5) || !(Trip{Below: &limit}).Met(4.9) {
		t.Error("a threshold itself is not past the threshold")
	}
}
