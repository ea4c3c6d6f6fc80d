package sim

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/pal-terminal/pal/board"
	"github.com/pal-terminal/pal/board/sim/device"
	"github.com/pal-terminal/pal/limits"
)

// unit is a device on the bench. It is the device's World. Everything of it is guarded by Board.mu.
type unit struct {
	b     *Board
	spec  board.Device
	kind  kind
	seed  uint64
	pins  []int    // indices of its lines
	roles []string // of them
	bus   *bus     // nil for a device on lines alone

	dev    device.Device
	analog device.Analog // dev, when it is that, and so on
	i2c    device.I2C
	bulk   device.Bulk
	spi    device.SPI
	uart   device.UART
	addrs  []uint16
	rng    *rand.Rand

	pending  int  // events on the agenda
	selected bool // SPI
	gone     bool // fault: disconnected
	nack     bool // fault: answers to no address
	stretch  bool // fault: holds the clock down whenever it is spoken to
}

// wire builds one device and puts it on its lines and its bus.
func (b *Board) wire(i int, spec board.Device) error {
	u := &unit{b: b, spec: spec, seed: b.o.Seed + uint64(i)}
	var ok bool
	if u.kind, ok = kinds[spec.Type]; !ok {
		return fmt.Errorf("unknown type (known: %s)", strings.Join(kindNames(), " "))
	}
	if spec.Value != nil && !u.kind.value {
		return errors.New("it has no value")
	}
	if u.spec.Name == "" {
		u.spec.Name = strings.ToUpper(spec.Type)
	}
	if err := u.place(); err != nil {
		return err
	}
	if at, ok := b.d.Lookup(u.spec.Name); ok && !slices.Contains(u.pins, at) {
		return fmt.Errorf("its name %s is another pin's", u.spec.Name)
	}
	for _, other := range b.units {
		if other.spec.Name == u.spec.Name {
			return fmt.Errorf("its name %s is another device's", u.spec.Name)
		}
	}
	if err := u.build(); err != nil {
		return err
	}
	for role, pin := range u.pins {
		ln := &b.lines[pin]
		if len(ln.taps) > 0 && (!u.kind.shared || !ln.taps[0].u.kind.shared) {
			return fmt.Errorf("%s has a device already", b.d.Pins[pin].Label())
		}
		ln.taps = append(ln.taps, tap{u: u, role: role, level: -1})
	}
	if u.bus != nil {
		if err := u.bus.add(u); err != nil {
			return err
		}
	}
	u.connect()
	b.units = append(b.units, u)
	return nil
}

// place finds the device's lines and bus.
func (u *unit) place() error {
	given := u.spec.Pins
	if u.spec.Pin >= 0 {
		if len(u.kind.roles) != 1 {
			return fmt.Errorf("it has several lines: pins: {%s: …}", strings.Join(u.kind.roles, ": …, "))
		}
		given = map[string]int{u.kind.roles[0]: u.spec.Pin}
	}
	if u.kind.on == "" && u.spec.Bus != "" {
		return errors.New("it hangs on lines, not on a bus")
	}
	if u.kind.on != "" {
		for i := range u.b.buses {
			if u.b.buses[i].Name() == u.spec.Bus && u.b.buses[i].Kind == u.kind.on {
				u.bus = &u.b.buses[i]
			}
		}
		if u.bus == nil {
			return fmt.Errorf("it hangs on a bus of the kind %s", u.kind.on)
		}
		if cs, ok := u.bus.Pins["cs"]; ok && len(given) == 0 && slices.Contains(u.kind.roles, "cs") {
			given = map[string]int{"cs": cs}
		}
	}
	for i, role := range slices.Concat(u.kind.roles, u.kind.maybe) {
		pin, ok := given[role]
		if !ok && i < len(u.kind.roles) {
			return fmt.Errorf("its line %q is missing", role)
		}
		if ok {
			u.pins, u.roles = append(u.pins, pin), append(u.roles, role)
		}
	}
	if len(given) > len(u.pins) {
		return fmt.Errorf("it has the lines %q and no others", slices.Concat(u.kind.roles, u.kind.maybe))
	}
	return nil
}

// build makes the device anew, as it comes from the shop.
func (u *unit) build() error {
	u.rng = rand.New(rand.NewPCG(u.seed, u.seed)) //nolint:gosec // what is random here is to be repeatable
	dev, err := u.kind.make(u, device.Options{
		Name: u.spec.Name, Lines: slices.Clone(u.roles), Addr: u.spec.Addr, Value: u.spec.Value, Values: u.spec.Values,
	})
	if err != nil {
		return err
	}
	u.dev = dev
	u.analog, _ = dev.(device.Analog)
	u.i2c, _ = dev.(device.I2C)
	u.bulk, _ = dev.(device.Bulk)
	u.spi, _ = dev.(device.SPI)
	u.uart, _ = dev.(device.UART)
	u.gone, u.nack, u.stretch = false, false, false
	if u.i2c != nil {
		u.addrs = u.i2c.Addresses()
	}
	return nil
}

// connect gives the lines to the device that build made.
func (u *unit) connect() {
	u.eachTap(func(ln *line, t *tap) {
		t.follow = nil
		if f, ok := u.dev.(device.Follower); ok {
			t.follow = f
		}
		if u.spi != nil {
			t.follow = chipSelect{u}
		}
		if u.analog != nil {
			ln.analog = t
		}
	})
}

func (u *unit) eachTap(do func(ln *line, t *tap)) {
	for _, pin := range u.pins {
		ln := &u.b.lines[pin]
		for i := range ln.taps {
			if ln.taps[i].u == u {
				do(ln, &ln.taps[i])
			}
		}
	}
}

// chipSelect makes a device on SPI follow its line, which is active low.
type chipSelect struct{ u *unit }

func (c chipSelect) Drive(_, level int) {
	c.u.selected = level == 0
	c.u.spi.Select(level == 0)
}

// power takes the device's supply away and gives it back: it is told its lines, then starts. Callers hold mu.
func (u *unit) power() {
	u.let()
	u.eachTap(func(ln *line, t *tap) {
		if t.follow != nil {
			t.follow.Drive(t.role, u.b.level(ln))
			u.b.tellTap(ln, t)
		}
	})
	u.let()
	u.dev.Reset()
}

// let makes the device let its lines go and forget what it was going to do.
func (u *unit) let() {
	for _, e := range slices.Clone(u.b.agenda) {
		if e.u == u {
			u.b.drop(e)
		}
	}
	u.pending = 0
	u.eachTap(func(ln *line, t *tap) {
		t.level = -1
		ln.redrive()
		u.b.settle(ln)
	})
}

// redrive joins what the devices on a line do to it: who pulls it low wins.
func (ln *line) redrive() {
	ln.driven = -1
	for i := range ln.taps {
		t := &ln.taps[i]
		if t.level >= 0 && !t.u.gone && (ln.driven < 0 || t.level == 0) {
			ln.driven = t.level
		}
	}
}

// Now implements device.World.
func (u *unit) Now() time.Time { return u.b.now().Add(u.b.skew) }

// At implements device.World.
func (u *unit) At(t time.Time, f func()) (stop func()) {
	if u.pending >= limits.SimEvents {
		return func() {}
	}
	u.pending++
	e := u.b.schedule(t.Add(-u.b.skew), u, f)
	return func() {
		if e.index >= 0 {
			u.b.drop(e)
			u.pending--
		}
	}
}

// Force implements device.World.
func (u *unit) Force(i, level int) {
	ln := &u.b.lines[u.pins[i]]
	was := u.b.forcing
	u.b.forcing = u
	for j := range ln.taps {
		if t := &ln.taps[j]; t.u == u && t.role == i {
			t.level = level
		}
	}
	ln.redrive()
	u.b.settle(ln)
	u.b.forcing = was
}

// Level implements device.World.
func (u *unit) Level(i int) int { return u.b.level(&u.b.lines[u.pins[i]]) }

// Rand implements device.World.
func (u *unit) Rand() *rand.Rand { return u.rng }

// Send implements device.World.
func (u *unit) Send(p []byte) {
	if u.bus != nil && u.bus.open && !u.gone {
		u.send(p)
	}
}

// Baud implements device.World.
func (u *unit) Baud() int64 {
	if u.bus == nil || !u.bus.open {
		return 0
	}
	return u.bus.set.Hz
}
