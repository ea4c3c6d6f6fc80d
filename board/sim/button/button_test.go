package button_test

import (
	"testing"

	"github.com/pal-terminal/pal/board/sim/button"
	"github.com/pal-terminal/pal/board/sim/devicetest"
)

func TestContract(t *testing.T) {
	devicetest.Contract(t, devicetest.Spec{
		New:  button.New,
		Good: map[string][]string{"bounce": {"0", "5", "100"}}, Bad: map[string][]string{"bounce": {"-1", "101", "1.5"}},
	})
}
