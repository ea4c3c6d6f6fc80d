package sim

import (
	"bytes"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pal-terminal/pal/board"
	"github.com/pal-terminal/pal/board/sim/device"
	"github.com/pal-terminal/pal/board/sim/setting"
)

// echo is a device on a UART of 9,600 bits a second that says everything again, 10 ms later.
type echo struct {
	setting.Faults
	w device.World
}

func newEcho(w device.World, _ device.Options) (device.Device, error) { return &echo{w: w}, nil }

func (e *echo) Reset()                  {}
func (e *echo) State() any              { return nil }
func (e *echo) Set(key, _ string) error { return setting.Unknown(key) }
func (e *echo) Receive(p []byte) {
	if e.w.Baud() != 9600 {
		p = []byte("?")
	}
	p = bytes.Clone(p)
	e.w.At(e.w.Now().Add(10*time.Millisecond), func() { e.w.Send(p) })
}

// withEcho puts an echo on the UART of bench-sim, whatever its board file has there.
func (r rig) withEcho(baud int64) int {
	r.t.Helper()
	i := r.busAt("uart1")
	r.b.buses[i].units = nil
	u := &unit{b: r.b, kind: kind{make: newEcho, on: "uart"}, spec: board.Device{Name: "ECHO", Type: "echo", Pin: -1, Bus: "uart1"}}
	for _, err := range []error{u.place(), u.build(), u.bus.add(u)} {
		if err != nil {
			r.t.Fatal(err)
		}
	}
	r.b.units = append(r.b.units, u)
	r.open("uart1", baud)
	return i
}

func TestUART(t *testing.T) {
	inBubble(t, func(r rig) {
		i := r.withEcho(9600)
		came := 0
		if err := r.b.UARTNotify(i, func() { came++ }); err != nil {
			t.Fatal(err)
		}
		read := func(most int) string {
			p := make([]byte, most)
			n, err := r.b.UARTRead(i, p)
			if err != nil {
				t.Fatal(err)
			}
			return string(p[:n])
		}
		write := func(text string) {
			if n, err := r.b.UARTWrite(i, []byte(text)); n != len(text) || err != nil {
				t.Fatalf("UARTWrite: got %d, %v", n, err)
			}
		}
		write("hello")
		r.same("at once", read(10), "")
		pass(10 * time.Millisecond)
		synctest.Wait()
		n, err := r.b.UARTAny(i)
		r.same("bytes that have come", n, 5)
		r.same("error", err, nil)
		r.same("in pieces", []string{read(2), read(10), read(10)}, []string{"he", "llo", ""})
		r.b.mu.Lock()
		r.same("notices", came, 1)
		r.b.mu.Unlock()

		r.sim("stuck", "RX", "0")
		write("lost")
		pass(time.Second)
		r.sim("stuck", "RX", "off")
		r.same("on a line that is stuck", read(10), "")

		r.sim("fault", "ECHO", "disconnect")
		write("lost")
		pass(time.Second)
		r.sim("fault", "ECHO", "off")
		r.same("without a device", read(10), "")

		for range 100 {
			write(string(make([]byte, 64)))
		}
		pass(time.Second)
		e := r.sim("show", "ECHO", "")
		r.same("a flood", *e.UART, Traffic{Baud: 9600, Sent: 6413, Waiting: 4096, Overruns: 2304})

		r.open("uart1", 115_200)
		r.same("kept over new settings", len(read(5000)), 4096)
		write("hello")
		pass(time.Second)
		r.same("at another rate", read(10), "?")
		if err := r.b.CloseBus(i); err != nil {
			t.Error(err)
		}
		if _, err := r.b.UARTWrite(i, []byte("x")); err == nil {
			t.Error("write to a closed UART: got no error")
		}
	})
}

// With real timing a byte of 8N1 takes ten bits each way.
func TestUARTRealTiming(t *testing.T) {
	inBubble(t, func(r rig) {
		timed := *r.d
		timed.Driver.Real = true
		r.b.d = &timed
		i := r.withEcho(9600)
		if _, err := r.b.UARTWrite(i, make([]byte, 96)); err != nil {
			t.Fatal(err)
		}
		waiting := func() int {
			n, err := r.b.UARTAny(i)
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
		pass(209 * time.Millisecond) // 100 ms there, 10 ms of thought, 100 ms back
		r.same("before", waiting(), 0)
		pass(time.Millisecond)
		r.same("after", waiting(), 96)
	})
}

// Whatever hangs on the UART can be changed for another device, and comes back with a reset.
func TestUARTDevices(t *testing.T) {
	inBubble(t, func(r rig) {
		i := r.open("uart1", 9600)
		talk := func(text string, wait time.Duration) string {
			t.Helper()
			if _, err := r.b.UARTWrite(i, []byte(text)); err != nil {
				t.Fatal(err)
			}
			pass(wait)
			p := make([]byte, 4096)
			n, err := r.b.UARTRead(i, p)
			if err != nil {
				t.Fatal(err)
			}
			return string(p[:n])
		}
		r.same("loopback", talk("hello", 0), "hello")
		r.same("type", r.sim("set", "UART", "device=gps").Type, "gps")
		if got := talk("", 3*time.Second); !bytes.Contains([]byte(got), []byte("$GPGGA,")) && !bytes.Contains([]byte(got), []byte("$GNGGA,")) {
			t.Errorf("gps: got %q", got)
		}
		r.sim("set", "UART", "device=mhz19")
		if got := talk("\xFF\x01\x86\x00\x00\x00\x00\x00\x79", time.Second); len(got) != 9 || got[:2] != "\xFF\x86" {
			t.Errorf("mhz19: got % X", got)
		}
		r.sim("set", "UART", "device=modbus")
		if got := talk("\x01\x03\x00\x00\x00\x01\x84\x0A", time.Second); len(got) != 7 || got[:3] != "\x01\x03\x02" {
			t.Errorf("modbus: got % X", got)
		}
		for _, bad := range []string{"device=led", "device=", "device=warp"} {
			if _, err := r.b.Sim("set", "UART", bad); err == nil {
				t.Errorf("set UART %s: got no error", bad)
			}
		}
		if _, err := r.b.Sim("reset", "", ""); err != nil {
			t.Fatal(err)
		}
		r.same("after reset", talk("again", 0), "again")
	})
}
