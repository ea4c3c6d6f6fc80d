package bmp280

import (
	"math"
	"testing"
)

// The worked example of section 3.12, in floating point.
func TestWorkedExample(t *testing.T) {
	if got := fine(519_888); math.Abs(got-128_422.287) > 0.001 {
		t.Errorf("t_fine: got %.4f, want 128422.287", got)
	}
	if got := pascal(415_148, 519_888); math.Abs(got-100_653.27) > 0.005 {
		t.Errorf("pressure: got %.4f, want 100653.27", got)
	}
}
