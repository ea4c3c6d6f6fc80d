package sim

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// The faults of the bench. A device has others of its own: crc, slow and so on.
//
//	nack          it answers to no I2C address
//	held          it holds the I2C data line down until the bus is recovered
//	held:forever  the same, and recovering does not help
//	stretch       it holds the I2C clock down when it is spoken to: transfers end only when they are given up
//	disconnect    it is not there: lines, buses and measurements without it
//	brownout      its supply fails for a moment; with "board" that of every device
//	clock:±TIME   with "board": all devices' clocks jump, such as clock:1h or clock:-90s
//	off           ends all of these, and the device's own

// fault starts or ends a fault of one device.
func (b *Board) fault(t target, kind string) error {
	u := t.u
	if u == nil {
		return errors.New("there is no device: a line can be stuck")
	}
	bare, forever := strings.CutSuffix(kind, ":forever")
	if forever && bare != "held" {
		return fmt.Errorf("%q is no fault", kind)
	}
	switch bare {
	case "nack", "held", "stretch":
		if u.i2c == nil {
			return fmt.Errorf("%s is for devices on I2C", bare)
		}
	}
	switch bare {
	case "off":
		return b.mend(u)
	case "nack":
		u.nack = true
	case "stretch":
		u.stretch = true
	case "held":
		u.bus.holder, u.bus.forever = u, forever
		sda := &b.lines[u.bus.Pins["sda"]]
		sda.held = true
		b.settle(sda)
	case "disconnect":
		u.gone = true
		u.let()
	case "brownout":
		u.power()
	default:
		return u.dev.Fault(kind)
	}
	return nil
}

// mend ends a device's faults. One that was disconnected starts anew.
func (b *Board) mend(u *unit) error {
	was := u.gone
	u.gone, u.nack, u.stretch = false, false, false
	if u.bus != nil && u.bus.holder == u {
		b.release(u.bus)
	}
	if was {
		u.power()
		u.eachTap(func(ln *line, _ *tap) { b.settle(ln) })
	}
	return u.dev.Fault("off")
}

// release ends the holding of a bus.
func (b *Board) release(bu *bus) {
	if bu.holder == nil {
		return
	}
	bu.holder = nil
	sda := &b.lines[bu.Pins["sda"]]
	sda.held = false
	b.settle(sda)
}

// faults lists the bench's faults of a device.
func (u *unit) faults() []string {
	var list []string
	held := u.bus != nil && u.bus.holder == u
	for _, f := range []struct {
		on   bool
		name string
	}{{u.nack, "nack"}, {held, "held"}, {u.stretch, "stretch"}, {u.gone, "disconnect"}} {
		if f.on {
			list = append(list, f.name)
		}
	}
	return list
}

// longestJump bounds how far the clocks of the bench jump in all.
const longestJump = 100 * 365 * 24 * time.Hour

// boardFault is a fault of the whole bench.
func (b *Board) boardFault(kind string) error {
	jump, clock := strings.CutPrefix(kind, "clock:")
	switch {
	case kind == "brownout":
		for _, u := range b.units {
			if !u.gone {
				u.power()
			}
		}
		return nil
	case kind == "off":
		b.skew = 0
		var errs []error
		for _, u := range b.units {
			errs = append(errs, b.mend(u))
		}
		for i := range b.lines {
			b.lines[i].stuck = -1
			b.tellPWM(&b.lines[i])
			b.settle(&b.lines[i])
		}
		return errors.Join(errs...)
	case clock:
		d, err := time.ParseDuration(jump)
		if err != nil || (b.skew+d).Abs() > longestJump {
			return fmt.Errorf("fault board: %q is no jump such as clock:1h or clock:-90s", kind)
		}
		b.skew += d
		return nil
	}
	return fmt.Errorf("fault board: %q is not brownout, clock:TIME or off", kind)
}
