package hcsr04_test

import (
	"testing"

	"github.com/pal-terminal/pal/board/sim/devicetest"
	"github.com/pal-terminal/pal/board/sim/hcsr04"
)

func TestContract(t *testing.T) {
	devicetest.Contract(t, devicetest.Spec{
		New:    hcsr04.New,
		Good:   map[string][]string{"distance": {"0", "1000"}, "": {"2.5"}},
		Bad:    map[string][]string{"distance": {"-1", "1001"}},
		Faults: []string{"timeout"},
	})
}
