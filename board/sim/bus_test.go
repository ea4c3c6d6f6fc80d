package sim

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pal-terminal/pal/board"
	boardload "github.com/pal-terminal/pal/board/load"
	"github.com/pal-terminal/pal/hw"
)

// busAt returns the index of a bus of bench-sim.
func (r rig) busAt(name string) int {
	i := slices.IndexFunc(r.d.Buses, func(b board.Bus) bool { return b.Name() == name })
	if i < 0 {
		r.t.Fatalf("no bus %s", name)
	}
	return i
}

func (r rig) open(name string, hz int64) int {
	r.t.Helper()
	i := r.busAt(name)
	if err := r.b.OpenBus(i, board.BusSettings{Hz: hz, Bits: 8, Parity: -1, Stop: 1}); err != nil {
		r.t.Fatal(err)
	}
	return i
}

func TestI2C(t *testing.T) {
	inBubble(t, func(r rig) {
		ctx := r.t.Context()
		if _, err := r.b.I2C(ctx, r.busAt("i2c0"), 0x38, 0, nil, nil); err == nil {
			t.Error("a bus that is not open: got no error")
		}
		i := r.open("i2c0", 400_000)
		r.same("lines of an open bus", []int{r.get("SDA"), r.get("SCL")}, []int{1, 1})
		answers := func(addr uint16) bool {
			_, err := r.b.I2C(ctx, i, addr, 0, nil, nil)
			if err != nil && !errors.Is(err, board.ErrNoDevice) {
				t.Errorf("0x%02x: %v", addr, err)
			}
			return err == nil
		}
		var found []uint16
		for addr := uint16(8); addr < 0x78; addr++ {
			if answers(addr) {
				found = append(found, addr)
			}
		}
		var want []uint16
		for _, u := range r.b.units {
			if u.i2c != nil && u.bus.Name() == "i2c0" {
				want = append(want, u.i2c.Addresses()...)
			}
		}
		slices.Sort(want)
		r.same("scan", found, want)

		r.sim("set", "BH1750", "100")
		if n, err := r.b.I2C(ctx, i, 0x23, 0, []byte{0x10}, nil); n != 1 || err != nil {
			t.Errorf("write: got %d, %v want 1", n, err)
		}
		pass(200 * time.Millisecond)
		lux := make([]byte, 2)
		if _, err := r.b.I2C(ctx, i, 0x23, 0, nil, lux); err != nil {
			t.Error(err)
		}
		r.same("100 lx", lux, []byte{0, 120}) // 1.2 counts for each lux

		if err := r.b.CloseBus(i); err != nil {
			t.Error(err)
		}
		if _, err := r.b.I2C(ctx, i, 0x38, 0, nil, nil); err == nil {
			t.Error("a bus that was closed: got no error")
		}
	})
}

func TestI2CInPieces(t *testing.T) {
	_, b := opened(t, "bench-sim")
	if err := b.OpenBus(0, board.BusSettings{Hz: 400_000}); err != nil {
		t.Fatal(err)
	}
	send := func(flags int64, p ...byte) {
		t.Helper()
		if n, err := b.I2C(t.Context(), 0, 0x3C, flags, p, nil); n != len(p) || err != nil {
			t.Fatalf("got %d, %v", n, err)
		}
	}
	send(0, 0x00, 0x8D, 0x14, 0x20, 0x00, 0xA1, 0xC8, 0xAF) // pump, horizontal, the usual way round, on
	// One transaction in three pieces: control byte, then pixels, as writevto sends it.
	send(hw.I2CNoStop, 0x40)
	send(hw.I2CNoStart|hw.I2CNoStop, 0xFF)
	send(hw.I2CNoStart, 0x81)
	p, err := b.Sim("text", "SSD1306", "")
	if err != nil {
		t.Fatal(err)
	}
	// Left column all on, the second on at its ends: in braille, two rows of one character.
	lines := strings.SplitN(p.(Picture).Text, "\n", 3)
	if got, want := lines[0][:3]+lines[1][:3], "⡏⣇"; got != want {
		t.Errorf("top left corner: got %s want %s", got, want)
	}
	m, err := b.Sim("image", "SSD1306", "")
	if pic := m.(Picture); err != nil || pic.Width != 128 || pic.Height != 64 || !strings.HasPrefix(pic.PNG, "iVBOR") {
		t.Errorf("image: got %+v, %v", pic, err)
	}
}

func TestI2CFaults(t *testing.T) {
	inBubble(t, func(r rig) {
		i := r.open("i2c0", 400_000)
		probe := func(addr uint16) error {
			_, err := r.b.I2C(r.t.Context(), i, addr, 0, nil, nil)
			return err
		}
		is := func(what string, got, want error) {
			t.Helper()
			if !errors.Is(got, want) || want == nil && got != nil {
				t.Errorf("%s: got %v want %v", what, got, want)
			}
		}
		for _, kind := range []string{"nack", "disconnect"} {
			r.same(kind, r.sim("fault", "AHT20", kind).Faults, []string{kind})
			is(kind, probe(0x38), board.ErrNoDevice)
			is("another's "+kind, probe(0x23), nil)
			r.sim("fault", "AHT20", "off")
			is("mended "+kind, probe(0x38), nil)
		}
		r.sim("fault", "AHT20", "held")
		r.same("data line held", r.get("SDA"), 0)
		is("held", probe(0x23), board.ErrHeld)
		is("recover", r.b.Recover(i), nil)
		is("recovered", probe(0x38), nil)

		r.sim("fault", "AHT20", "held:forever")
		is("recover in vain", r.b.Recover(i), board.ErrHeld)
		is("still held", probe(0x23), board.ErrHeld)
		r.sim("fault", "AHT20", "off")
		is("let go", probe(0x23), nil)

		r.sim("stuck", "SCL", "0")
		is("clock stuck", probe(0x23), board.ErrHeld)
		r.sim("stuck", "SCL", "off")

		r.sim("fault", "AHT20", "stretch")
		ctx, cancel := context.WithTimeout(r.t.Context(), 50*time.Millisecond)
		defer cancel()
		began := time.Now()
		_, err := r.b.I2C(ctx, i, 0x38, 0, nil, nil)
		is("stretched", err, context.DeadlineExceeded)
		r.same("time of it", time.Since(began), 50*time.Millisecond)
		is("another device meanwhile", probe(0x23), nil)
	})
}

func TestSPI(t *testing.T) {
	inBubble(t, func(r rig) {
		ctx := r.t.Context()
		i := r.open("spi1", 10_000_000)
		r.out("CS", 1)
		id := func() []byte {
			t.Helper()
			rx := make([]byte, 4)
			if err := r.b.SPI(ctx, i, []byte{0x9F, 0, 0, 0}, rx); err != nil {
				t.Fatal(err)
			}
			return rx[1:]
		}
		none := []byte{0xFF, 0xFF, 0xFF}
		r.same("not selected", id(), none)
		selected := func() []byte {
			r.set("CS", 0)
			defer r.set("CS", 1)
			return id()
		}
		jedec := []byte{0xEF, 0x40, 0x17} // W25Q64: table "Manufacturer and Device Identification"
		r.same("selected", selected(), jedec)
		r.sim("stuck", "MISO", "0")
		r.same("data line stuck", selected(), []byte{0, 0, 0})
		r.sim("stuck", "MISO", "off")
		r.sim("stuck", "CS", "1")
		r.same("select line stuck", selected(), none)
		r.sim("stuck", "CS", "off")
		r.sim("fault", "W25Q64", "disconnect")
		r.same("disconnected", selected(), none)
		r.sim("fault", "W25Q64", "off")
		r.same("mended", selected(), jedec)
		for _, mode := range []struct {
			polarity, phase int
			lsb, right      bool
		}{{0, 0, false, true}, {1, 1, false, true}, {0, 1, false, false}, {1, 0, false, false}, {0, 0, true, false}} {
			err := r.b.OpenBus(i, board.BusSettings{Hz: 1, Bits: 8, Polarity: mode.polarity, Phase: mode.phase, LSBFirst: mode.lsb})
			if err != nil {
				t.Fatal(err)
			}
			if got := slices.Equal(selected(), jedec); got != mode.right {
				t.Errorf("mode %+v: got the id %v want %v", mode, got, mode.right)
			}
		}
		if err := r.b.OpenBus(i, board.BusSettings{Hz: 1, Bits: 16}); !errors.Is(err, board.ErrUnsupported) {
			t.Errorf("words of 16 bits: got %v want ErrUnsupported", err)
		}
	})
}

func TestRealTiming(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, err := boardload.Bytes("x.yaml", []byte(`board: x
pins:
  - {id: 6, name: SDA, owner: agent, can: [open_drain, i2c], safe: high, pull: up}
  - {id: 7, name: SCL, owner: agent, can: [open_drain, i2c], safe: high, pull: up}
  - {id: 9, name: W, owner: agent, can: [open_drain, onewire], safe: high, pull: up}
buses:
  - {i2c: 0, sda: SDA, scl: SCL, owner: agent}
drivers: {kind: sim, timing: real, seed: 7}
devices:
  - {type: ssd1306, bus: i2c0}
`), nil)
		if err != nil {
			t.Fatal(err)
		}
		b, err := New(d, Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer b.Close()
		if b.Immediate() || d.Driver.Seed != 7 {
			t.Errorf("got immediate %v, seed %d want false, 7", b.Immediate(), d.Driver.Seed)
		}
		if err := b.OpenBus(0, board.BusSettings{Hz: 400_000}); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		for range 4 {
			if _, err := b.I2C(t.Context(), 0, 0x3C, 0, make([]byte, 1025), nil); err != nil {
				t.Fatal(err)
			}
		}
		// Nine clocks for each byte and the address, two for START and STOP.
		if got, want := time.Since(began), 4*(9*1026+2)*2500*time.Nanosecond; got != want {
			t.Errorf("four frames: got %v want %v", got, want)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		if _, err := b.I2C(ctx, 0, 0x3C, 0, make([]byte, 1025), nil); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("given up: got %v", err)
		}
	})
}
