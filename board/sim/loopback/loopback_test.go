package loopback_test

import (
	"math/bits"
	"testing"

	"github.com/pal-terminal/pal/board/sim/device"
	"github.com/pal-terminal/pal/board/sim/devicetest"
	"github.com/pal-terminal/pal/board/sim/loopback"
)

var spec = devicetest.Spec{New: loopback.New, Faults: []string{"open", "noise"}}

func TestContract(t *testing.T) { devicetest.Contract(t, spec) }

func FuzzWire(f *testing.F) { devicetest.Fuzz(f, spec) }

func TestEcho(t *testing.T) {
	w := devicetest.NewWorld()
	w.BaudRate = 115_200
	d, err := loopback.New(w, device.Options{Addr: -1})
	if err != nil {
		t.Fatal(err)
	}
	devicetest.Run(t, w, d, "send 68 65 6C 6C 6F \n got 68 65 6C 6C 6F \n fault open \n send 00 \n got \n fault off \n send FF 00 \n got FF 00")
	if s := d.State().(loopback.State); s.Echoed != 7 {
		t.Errorf("got %d bytes echoed, want 7", s.Echoed)
	}
	devicetest.Run(t, w, d, "fault noise")
	d.(device.UART).Receive([]byte{0x55, 0x55})
	for i, b := range w.Sent() {
		if bits.OnesCount8(b^0x55) != 1 {
			t.Errorf("noise: byte %d is %#x, want one bit of 0x55 wrong", i, b)
		}
	}
}
