package dht22_test

import (
	"testing"

	"github.com/pal-terminal/pal/board/sim/devicetest"
	"github.com/pal-terminal/pal/board/sim/dht22"
)

func TestContract(t *testing.T) {
	devicetest.Contract(t, devicetest.Spec{
		New:    dht22.New,
		Good:   map[string][]string{"temperature": {"-40", "80", "23.5"}, "humidity": {"0", "99.9"}},
		Bad:    map[string][]string{"temperature": {"-40.1", "80.1"}, "humidity": {"-1", "100"}},
		Faults: []string{"crc"},
	})
}
