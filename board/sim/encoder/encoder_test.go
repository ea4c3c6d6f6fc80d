package encoder_test

import (
	"testing"

	"github.com/pal-terminal/pal/board/sim/devicetest"
	"github.com/pal-terminal/pal/board/sim/encoder"
)

func TestContract(t *testing.T) {
	devicetest.Contract(t, devicetest.Spec{
		New:  encoder.New,
		Good: map[string][]string{"turn": {"-1000", "1000"}, "": {"0"}, "edge_us": {"20", "1000000"}},
		Bad:  map[string][]string{"turn": {"1001", "0.5"}, "edge_us": {"19"}},
	})
}
