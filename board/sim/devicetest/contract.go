package devicetest

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/pal-terminal/pal/board/sim/device"
)

// Spec says what a device takes.
type Spec struct {
	New     device.New
	Options device.Options      // Addr 0 stands for the usual address, -1
	Good    map[string][]string // keys of Set, each with values it takes
	Bad     map[string][]string // and with values it refuses, besides those that no quantity takes
	Faults  []string
}

func (s Spec) options() device.Options {
	o := s.Options
	if o.Addr == 0 {
		o.Addr = -1
	}
	return o
}

func (s Spec) build(t testing.TB, w *World) device.Device {
	t.Helper()
	d, err := s.New(w, s.options())
	if err != nil {
		t.Fatalf("New: %v", err)
	}
	return d
}

// Contract tests what all devices have in common.
func Contract(t *testing.T, s Spec) {
	t.Helper()
	t.Run("settings", func(t *testing.T) { settings(t, s) })
	t.Run("faults", func(t *testing.T) { faults(t, s) })
	t.Run("options", func(t *testing.T) { options(t, s) })
	t.Run("repeatable", func(t *testing.T) {
		r := rand.New(rand.NewPCG(3, 4)) //nolint:gosec // repeatable
		for range 50 {
			tape := make([]byte, 600)
			for i := range tape {
				tape[i] = byte(r.Uint32())
			}
			first, second := play(t, s, tape), play(t, s, tape)
			if !bytes.Equal(first, second) {
				t.Fatalf("the same calls at the same times gave % X and % X", first, second)
			}
		}
	})
}

// Fuzz adds a fuzz target's body: whatever goes over the wire, and whenever, the device answers and its state can be written.
func Fuzz(f *testing.F, s Spec) {
	f.Helper()
	f.Add([]byte{0, 1, 0x40, 2, 2, 3, 4, 9, 200, 5, 0})
	f.Fuzz(func(t *testing.T, tape []byte) { play(t, s, tape) })
}

func settings(t *testing.T, s Spec) {
	d := s.build(t, NewWorld())
	for key, values := range s.Good {
		for _, v := range values {
			if err := d.Set(key, v); err != nil {
				t.Errorf("Set(%q, %q): %v", key, v, err)
			}
		}
		before := state(t, d)
		for _, v := range append([]string{"", "NaN", "+Inf", "-Inf", "1e99", "eleven", "\x00"}, s.Bad[key]...) {
			if err := d.Set(key, v); err == nil {
				t.Errorf("Set(%q, %q): got no error", key, v)
			}
		}
		if after := state(t, d); !bytes.Equal(before, after) {
			t.Errorf("%s: refused values changed the state from %s to %s", key, before, after)
		}
	}
	for _, key := range []string{"no_such", "\x00"} {
		if err := d.Set(key, "1"); err == nil {
			t.Errorf("Set(%q): got no error", key)
		}
	}
}

func faults(t *testing.T, s Spec) {
	d := s.build(t, NewWorld())
	for _, kind := range s.Faults {
		healthy := state(t, d)
		if err := d.Fault(kind); err != nil {
			t.Errorf("Fault(%q): %v", kind, err)
		}
		if broken := state(t, d); bytes.Equal(healthy, broken) {
			t.Errorf("fault %s does not show in the state %s", kind, broken)
		}
		if err := d.Fault("off"); err != nil {
			t.Errorf("Fault(off): %v", err)
		}
		if after := state(t, d); !bytes.Equal(healthy, after) {
			t.Errorf("after fault %s: got state %s, want %s", kind, after, healthy)
		}
	}
	for _, kind := range []string{"", "no_such"} {
		if err := d.Fault(kind); err == nil {
			t.Errorf("Fault(%q): got no error", kind)
		}
	}
}

func options(t *testing.T, s Spec) {
	w := NewWorld()
	o := s.options()
	o.Values = map[string]string{"no_such": "1"}
	if _, err := s.New(w, o); err == nil {
		t.Error("New with an unknown value: got no error")
	}
	d, ok := s.build(t, w).(device.I2C)
	if !ok {
		return
	}
	usual := d.Addresses()
	if len(usual) == 0 {
		t.Fatal("got no address")
	}
	for addr := range 0x400 {
		o = s.options()
		o.Addr = addr
		built, err := s.New(NewWorld(), o)
		if err != nil {
			continue
		}
		got := built.(device.I2C).Addresses()
		if addr < 0x08 || addr > 0x77 || len(got) != 1 || got[0] != uint16(addr) {
			t.Errorf("New at address %#x: got %#x, want an error or that address, from 0x08 to 0x77", addr, got)
		}
	}
}

func state(t testing.TB, d device.Device) []byte {
	t.Helper()
	b, err := json.Marshal(d.State())
	if err != nil {
		t.Fatalf("state: %v", err)
	}
	return b
}

// play makes calls of bytes, in the order that the device's bench would, and returns all that came back.
func play(t testing.TB, s Spec, tape []byte) []byte {
	t.Helper()
	w := NewWorld()
	d := s.build(t, w)
	var got []byte
	for len(tape) > 0 {
		op := tape[0]
		tape = tape[1:]
		n := min(int(op>>3), len(tape))
		switch op & 7 {
		case 0:
			pauses := []time.Duration{0, time.Microsecond, time.Millisecond, 80 * time.Millisecond, time.Second, time.Hour}
			w.Advance(pauses[n%len(pauses)])
		case 1:
			if n == 0 && op>>3 == 0 {
				d.Reset()
			}
		case 2:
			if len(s.Faults) > 0 && n > 20 {
				if err := d.Fault(append(s.Faults, "off")[n%(len(s.Faults)+1)]); err != nil {
					t.Fatal(err)
				}
			}
		default:
			got = append(got, talk(d, op&7, tape[:n])...)
			tape = tape[n:]
		}
	}
	if p, ok := d.(device.Picture); ok && p.Image().Bounds().Empty() {
		t.Error("got an empty picture")
	}
	return append(append(got, w.Sent()...), state(t, d)...)
}

func talk(d device.Device, op byte, p []byte) (got []byte) {
	switch d := d.(type) {
	case device.I2C:
		if op >= 4 {
			ack := d.Start(false)
			for i := 0; ack && i < len(p); i++ {
				ack = d.Write(p[i])
			}
		}
		if op <= 5 && d.Start(true) {
			for range len(p) + 1 {
				got = append(got, d.Read())
			}
		}
		d.Stop()
	case device.SPI:
		got = make([]byte, len(p))
		d.Select(true)
		d.Transfer(p[:len(p)/2], got[:len(p)/2])
		d.Transfer(p[len(p)/2:], got[len(p)/2:])
		if op == 7 {
			d.Transfer(p, nil)
		}
		d.Select(false)
	case device.UART:
		d.Receive(p)
	}
	return got
}
