package load

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"unicode/utf8"

	"github.com/pal-terminal/pal/board"
	"github.com/pal-terminal/pal/limits"
)

// validate checks the description as a whole and turns references into indices.
func (dec *decoder) validate() {
	dec.names()
	for i := range dec.d.Pins {
		dec.checkPin(&dec.d.Pins[i], &dec.refs[i])
	}
	for i := range dec.d.Pins {
		dec.resolveRules(i)
	}
	used := map[int]string{}
	for i := range dec.d.Buses {
		dec.checkBus(&dec.d.Buses[i], dec.bus[i], used)
	}
	for i := range dec.d.Devices {
		dec.checkDevice(&dec.d.Devices[i], dec.devs[i])
	}
}

// names reports pins whose names clash.
func (dec *decoder) names() {
	for _, c := range dec.d.Index() {
		why := "%q already means the pin on line %d"
		if c.Alike {
			why = "%q is too much like a name of the pin on line %d"
		}
		dec.addf(dec.d.Pins[c.Pin].At, why, c.Name, dec.d.Pins[c.With].At.Line)
	}
}

// checkPin checks what a pin says about itself.
func (dec *decoder) checkPin(p *board.Pin, refs *pinRefs) {
	if p.Owner == board.OwnerSystem {
		for _, key := range sortedKeys(refs.keys) {
			dec.addf(refs.keys[key], "%s: a system pin is never used, so it has no %q", p.Label(), key)
		}
		return
	}
	if p.Can == 0 {
		dec.addf(p.At, "%s: \"can\" is missing or empty", p.Label())
		return
	}
	out := p.Output()
	switch {
	case out && p.Strapping:
		dec.addf(p.At, "%s: the chip reads this pin at reset (strapping), so it cannot be an output", p.Label())
	case out && p.Safe < 0 && refs.keys["safe"] == board.Pos{}:
		dec.addf(p.At, "%s: an output needs a safe level (safe: low or safe: high)", p.Label())
	case p.Against(p.Pull):
		dec.addf(refs.keys["pull"], "%s: this bias pulls the output away from its safe level", p.Label())
	case p.Safe == 0 && p.LetGo():
		dec.addf(refs.keys["safe"], "%s: a shared or open drain line is inert when it is let go (safe: high); low would hold it down",
			p.Label())
	}
	only := func(ok bool, why string, keys ...string) {
		for _, key := range keys {
			if at, there := refs.keys[key]; there && !ok {
				dec.addf(at, "%s: %q is for %s", p.Label(), key, why)
			}
		}
	}
	only(out, "outputs", "safe", "max_on", "min_off", "max_rate", "interlock", "requires", "trip", "lease_required",
		"on_disconnect", "danger")
	only(p.Can.Has(board.CapADC), "analogue inputs", "scale", "unit")
	only(p.Can.Any(board.CapIn|board.CapOpenDrain|board.CapCount|board.CapEncoder), "inputs and open drain outputs", "pull")
}

// find returns the index of the pin a reference means, or -1 after reporting why there is none.
func (dec *decoder) find(r ref, who, what string) int {
	if r.name == "" {
		return -1 // absent or already a problem
	}
	i, ok := dec.d.Lookup(r.name)
	if !ok {
		dec.addf(r.at, "%s: %s names %q, which is no pin of this board", who, what, r.name)
		return -1
	}
	return i
}

// resolveRules turns the rules' names into indices and makes interlocks symmetric: "never together" has no direction, so
// one of the two lines is enough.
func (dec *decoder) resolveRules(i int) {
	p, refs := &dec.d.Pins[i], &dec.refs[i]
	for _, r := range refs.interlock {
		j := dec.find(r, p.Label(), "interlock")
		switch {
		case j < 0:
		case j == i:
			dec.addf(r.at, "%s: interlock with itself", p.Label())
		case !dec.d.Pins[j].Output():
			dec.addf(r.at, "%s: interlock with %s, which is no output", p.Label(), dec.d.Pins[j].Label())
		default:
			dec.d.Pins[i].Interlock = insert(dec.d.Pins[i].Interlock, j)
			dec.d.Pins[j].Interlock = insert(dec.d.Pins[j].Interlock, i)
		}
	}
	if p.Requires != nil {
		if j := dec.find(refs.requires, p.Label(), "requires"); j >= 0 {
			p.Requires.Pin = j
			dec.checkWatched(refs.requires, p, "requires", &dec.d.Pins[j], board.CapIn)
		}
	}
	if p.Trip != nil {
		if j := dec.find(refs.adc, p.Label(), "trip"); j >= 0 {
			p.Trip.ADC = j
			dec.checkWatched(refs.adc, p, "trip", &dec.d.Pins[j], board.CapADC)
		}
	}
}

// checkWatched checks the input that a rule of p watches. It may not be an output as well: a program could then drive the
// very level that is to hold it back.
func (dec *decoder) checkWatched(r ref, p *board.Pin, rule string, input *board.Pin, need board.Caps) {
	switch {
	case !input.Can.Has(need):
		dec.addf(r.at, "%s: %s needs a pin that can [%s], which %s cannot", p.Label(), rule, need, input.Label())
	case input.Output():
		dec.addf(r.at, "%s: %s needs a pin that is only an input, but %s can be driven", p.Label(), rule, input.Label())
	}
}

func insert(list []int, v int) []int {
	at, found := slices.BinarySearch(list, v)
	if found {
		return list
	}
	return slices.Insert(list, at, v)
}

// checkBus resolves a bus's lines. used remembers the bus of each pin.
func (dec *decoder) checkBus(b *board.Bus, refs map[string]*ref, used map[int]string) {
	roles := busRoles[b.Kind]
	need := map[string]board.Caps{"i2c": board.CapI2C, "spi": board.CapSPI, "uart": board.CapUART}[b.Kind]
	for _, other := range dec.d.Buses {
		if other.Name() == b.Name() && other.At != b.At {
			dec.addf(b.At, "%s stands twice", b.Name())
			break
		}
	}
	for _, role := range sortedKeys(roles) {
		if _, ok := refs[role]; !ok && roles[role] {
			dec.addf(b.At, "%s: %q is missing", b.Name(), role)
		}
	}
	for _, role := range sortedKeys(refs) {
		r := refs[role]
		if _, ok := roles[role]; !ok {
			dec.addf(r.at, "%s has no line %q", b.Name(), role)
			continue
		}
		i := dec.find(*r, b.Name(), role)
		if i < 0 {
			continue
		}
		b.Pins[role] = i
		p := &dec.d.Pins[i]
		if by, ok := used[i]; ok {
			dec.addf(r.at, "%s: %s is already a line of %s", b.Name(), p.Label(), by)
		}
		used[i] = b.Name()
		switch {
		case (p.Owner == board.OwnerSystem) != (b.Owner == board.OwnerSystem):
			dec.addf(r.at, "%s is owned by %s but its line %s by %s", b.Name(), b.Owner, p.Label(), p.Owner)
		case p.Owner != board.OwnerSystem && role != "cs" && !p.Can.Has(need):
			dec.addf(r.at, "%s: %s cannot be a line of it (can: [%s] is missing)", b.Name(), p.Label(), b.Kind)
		}
	}
}

func (dec *decoder) checkDevice(dev *board.Device, refs deviceRefs) {
	if dec.d.Driver.Kind != "sim" {
		dec.addf(dev.At, "devices are for the simulated board (drivers: {kind: sim})")
	}
	pin, pins, bus := refs.pin.at != board.Pos{}, len(refs.pins) > 0, refs.bus.at != board.Pos{}
	if pin == (pins || bus) {
		dec.addf(dev.At, "device %s hangs on a pin (pin: …), or on several (pins: …), a bus (bus: …) or both", dev.Type)
		return
	}
	if refs.bus.name != "" && !slices.ContainsFunc(dec.d.Buses, func(b board.Bus) bool { return b.Name() == refs.bus.name }) {
		dec.addf(refs.bus.at, "device %s hangs on %q, which is no bus of this board", dev.Type, refs.bus.name)
	}
	dev.Pin = dec.findWired(refs.pin, dev)
	if dev.Pin >= 0 && dev.Name == "" {
		dev.Name = dec.d.Pins[dev.Pin].Label()
	}
	for _, role := range sortedKeys(refs.pins) {
		if dev.Pins == nil {
			dev.Pins = map[string]int{}
		}
		dev.Pins[role] = dec.findWired(*refs.pins[role], dev)
	}
}

// findWired returns the index of a pin that a device hangs on, or -1.
func (dec *decoder) findWired(r ref, dev *board.Device) int {
	i := dec.find(r, "device "+dev.Type, "pin")
	if i >= 0 && dec.d.Pins[i].Owner == board.OwnerSystem {
		dec.addf(r.at, "device %s hangs on %s, a system pin", dev.Type, dec.d.Pins[i].Label())
	}
	return i
}

// checkSource holds board.py to what a machine can be given.
func checkSource(src []byte) error {
	switch {
	case len(src) > limits.CodeBytes:
		return fmt.Errorf("has more than %d bytes", limits.CodeBytes)
	case !utf8.Valid(src):
		return errors.New("is not UTF-8")
	case bytes.IndexByte(src, 0) >= 0:
		return errors.New("has a NUL byte")
	}
	return nil
}

// readBounded reads a file of at most most bytes; of a longer one it returns one byte more than that.
func readBounded(root *os.Root, name string, most int64) ([]byte, error) {
	f, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // opened for reading only
	return io.ReadAll(io.LimitReader(f, most+1))
}
