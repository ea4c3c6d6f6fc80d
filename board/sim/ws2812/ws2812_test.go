package ws2812_test

import (
	"testing"

	"github.com/pal-terminal/pal/board/sim/devicetest"
	"github.com/pal-terminal/pal/board/sim/ws2812"
)

func TestContract(t *testing.T) {
	devicetest.Contract(t, devicetest.Spec{
		New: ws2812.New,
	})
}
