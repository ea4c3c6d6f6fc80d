package adc_test

import (
	"testing"

	"github.com/pal-terminal/pal/board/sim/adc"
	"github.com/pal-terminal/pal/board/sim/devicetest"
)

func TestContract(t *testing.T) {
	devicetest.Contract(t, devicetest.Spec{
		New:  adc.New,
		Good: map[string][]string{"": {"0", "4095", "0V", "3.3V"}}, Bad: map[string][]string{"": {"-1", "4096", "3.4V", "1.5 V"}},
	})
}
