// Package setting reads what people write about simulated devices: numbers with a range, switches, addresses and the names of
// faults. It has one wording for each mistake, so that all devices answer alike.
//
// It refuses NaN, infinities and whatever lies outside the range that the caller names; it knows no device.
package setting

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/pal-terminal/pal/board/sim/device"
)

// Float reads a number from lo to hi, both included.
func Float(key, value string, lo, hi float64) (float64, error) {
	v, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
	if err != nil || math.IsNaN(v) || v < lo || v > hi {
		return 0, fmt.Errorf("%s: %q is no number from %v to %v", named(key), value, lo, hi)
	}
	return v, nil
}

// Int reads a whole number from lo to hi, both included, in decimal or, with 0x or 0b before it, another base.
func Int(key, value string, lo, hi int) (int, error) {
	v, err := strconv.ParseInt(strings.TrimSpace(value), 0, 64)
	if err != nil || v < int64(lo) || v > int64(hi) {
		return 0, fmt.Errorf("%s: %q is no whole number from %d to %d", named(key), value, lo, hi)
	}
	return int(v), nil
}

// Bool reads a switch: true, on and 1, or false, off and 0.
func Bool(key, value string) (bool, error) {
	switch strings.ToLower(strings.TrimSpace(value)) {
	case "1", "on", "true":
		return true, nil
	case "0", "off", "false":
		return false, nil
	}
	return false, fmt.Errorf("%s: %q is neither on nor off", named(key), value)
}

func named(key string) string {
	if key == "" {
		return "value"
	}
	return key
}

// Unknown is the error for a key that is none of those a device has.
func Unknown(key string, known ...string) error {
	return fmt.Errorf("%q is nothing that can be set here (%s)", key, strings.Join(known, ", "))
}

// Start returns the starting value of a board file, which must be from lo to hi, or otherwise when it names none.
func Start(o device.Options, lo, hi, otherwise int) (int, error) {
	if o.Value == nil {
		return otherwise, nil
	}
	if *o.Value < lo || *o.Value > hi {
		return 0, fmt.Errorf("value: %d is outside %d to %d", *o.Value, lo, hi)
	}
	return *o.Value, nil
}

// Address returns the I2C address of a device: the first of allowed when o names none.
func Address(o device.Options, allowed ...uint16) (uint16, error) {
	if o.Addr == -1 {
		return allowed[0], nil
	}
	for _, a := range allowed {
		if int(a) == o.Addr {
			return a, nil
		}
	}
	names := make([]string, len(allowed))
	for i, a := range allowed {
		names[i] = fmt.Sprintf("0x%02X", a)
	}
	return 0, fmt.Errorf("addr: 0x%02X is not an address of this part (%s)", o.Addr, strings.Join(names, ", "))
}

// Apply gives a new device the settings of the board file that are quantities. Those in taken have been read by the device itself.
// They go in the order of their names, so that the same file gives the same device.
func Apply(d device.Device, values map[string]string, taken ...string) error {
	keys := make([]string, 0, len(values))
	for k := range values {
		if !slices.Contains(taken, k) {
			keys = append(keys, k)
		}
	}
	slices.Sort(keys)
	for _, k := range keys {
		if err := d.Set(k, values[k]); err != nil {
			return err
		}
	}
	return nil
}

// Faults are the faults that a device can have. It is to be embedded: it gives a device its method Fault.
type Faults struct {
	kinds []string
	on    []bool
}

// NewFaults returns the faults of these kinds, all of them off.
func NewFaults(kinds ...string) Faults { return Faults{kinds: kinds, on: make([]bool, len(kinds))} }

// Fault starts a fault, or ends all of them with "off".
func (f *Faults) Fault(kind string) error {
	if kind == "off" {
		clear(f.on)
		return nil
	}
	i := slices.Index(f.kinds, kind)
	if i < 0 {
		return fmt.Errorf("%q is no fault of this device (%s, off)", kind, strings.Join(f.kinds, ", "))
	}
	f.on[i] = true
	return nil
}

// Has tells whether a fault is on.
func (f *Faults) Has(kind string) bool {
	i := slices.Index(f.kinds, kind)
	return i >= 0 && f.on[i]
}

// Active returns the faults that are on, for a device's state.
func (f *Faults) Active() []string {
	var active []string
	for i, on := range f.on {
		if on {
			active = append(active, f.kinds[i])
		}
	}
	return active
}
