package ds18b20_test

import (
	"testing"

	"github.com/pal-terminal/pal/board/sim/devicetest"
	"github.com/pal-terminal/pal/board/sim/ds18b20"
)

func TestContract(t *testing.T) {
	devicetest.Contract(t, devicetest.Spec{
		New:    ds18b20.New,
		Good:   map[string][]string{"temperature": {"-55", "125"}, "": {"0.5"}},
		Bad:    map[string][]string{"temperature": {"-56", "126"}},
		Faults: []string{"crc", "slow"},
	})
}
