package buzzer_test

import (
	"testing"

	"github.com/pal-terminal/pal/board/sim/buzzer"
	"github.com/pal-terminal/pal/board/sim/devicetest"
)

func TestContract(t *testing.T) {
	devicetest.Contract(t, devicetest.Spec{
		New: buzzer.New,
	})
}
