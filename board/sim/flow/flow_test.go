package flow_test

import (
	"testing"

	"github.com/pal-terminal/pal/board/sim/devicetest"
	"github.com/pal-terminal/pal/board/sim/flow"
)

func TestContract(t *testing.T) {
	devicetest.Contract(t, devicetest.Spec{
		New:  flow.New,
		Good: map[string][]string{"flow": {"0", "30"}, "": {"7.5"}, "pulses_per_litre": {"1", "10000"}},
		Bad:  map[string][]string{"flow": {"-1", "31"}, "pulses_per_litre": {"0", "10001"}},
	})
}
