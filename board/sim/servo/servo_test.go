package servo_test

import (
	"testing"

	"github.com/pal-terminal/pal/board/sim/devicetest"
	"github.com/pal-terminal/pal/board/sim/servo"
)

func TestContract(t *testing.T) {
	devicetest.Contract(t, devicetest.Spec{
		New: servo.New,
	})
}
