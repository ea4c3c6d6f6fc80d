package pir_test

import (
	"testing"

	"github.com/pal-terminal/pal/board/sim/devicetest"
	"github.com/pal-terminal/pal/board/sim/pir"
)

func TestContract(t *testing.T) {
	devicetest.Contract(t, devicetest.Spec{
		New:  pir.New,
		Good: map[string][]string{"motion": {"on", "0"}, "": {"1"}, "hold_ms": {"0", "300000"}},
		Bad:  map[string][]string{"motion": {"2"}, "hold_ms": {"300001"}},
	})
}
