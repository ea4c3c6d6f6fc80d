// Package ds3231 simulates the real-time clock DS3231, after Maxim's data sheet 19-5170, revision 10.
//
// # Model
//
// The nineteen registers of figure 1, with a pointer that wraps from 0x12 to 0. Time and date are kept as the registers have them, in
// BCD, with 12 or 24 hours, a weekday that counts for itself and the century bit, and advance with the bench's clock; a burst is of one
// moment (section "Clock and calendar"). Writing the seconds begins a whole second. Two alarms compare at each second (table 2) and set
// their flags, which a program can only clear; with INTCN and an enable bit they pull INT, the device's line where the board gives it
// one. Temperature (10 bits, 0.25 °C) is converted at power-up, every 64 s, and when CONV is set, in 125 ms of BSY. OSF tells that the
// oscillator has stopped.
//
// A battery keeps it going without power: Reset changes nothing but the pointer. A new device has the bench's time, in UTC, as if
// somebody had set it; with the value battery=none it begins at each power-up as table "power-up" has it: 1 January 2000, a Sunday to it,
// OSF set.
//
// # What it refuses
//
// Writes to read-only bits change nothing. Values that are no date (31 February, BCD digits above 9) are kept as written and roll over to
// a real date at the next second; the data sheet calls that undefined. Not modelled: the square wave and 32 kHz outputs, aging, and EOSC,
// which matters only on the battery.
package ds3231

import (
	"fmt"
	"time"

	"github.com/pal-terminal/pal/board/sim/device"
	"github.com/pal-terminal/pal/board/sim/setting"
)

// Registers: figure 1.
const (
	regSeconds = iota
	regMinutes
	regHours
	regDay
	regDate
	regMonth
	regYear
	regAlarm1
	regAlarm2  = 0x0B
	regControl = 0x0E
	regStatus  = 0x0F
	regAging   = 0x10
	regTemp    = 0x11
	registers  = 0x13
)

// Bits of control and status.
const (
	conv       = 0x20
	intcn      = 0x04
	alarmBits  = 0x03 // A2IE and A1IE, A2F and A1F
	osf        = 0x80
	en32kHz    = 0x08
	bsy        = 0x04
	conversion = 125 * time.Millisecond
	interval   = 64 * time.Second
)

// mask has the bits of each register that exist for a write.
var mask = [registers]byte{
	0x7F, 0x7F, 0x7F, 0x07, 0x3F, 0x9F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, en32kHz, 0xFF, 0, 0,
}

// Clock is the part. It implements device.I2C.
type Clock struct {
	setting.Faults
	w         device.World
	addr      uint16
	wired     bool // INT has a line
	battery   bool
	celsius   float64
	converted time.Time // when the temperature was last taken
	due       time.Time // end of a conversion, zero when none is under way

	reg    [registers]byte
	second time.Time // when the second that reg shows began
	at     int
	named  bool
	latch  [7]byte // time of the read under way
	cancel func()
}

// State is what `pal sim show` prints.
type State struct {
	Time        string   `json:"time"` // as the registers have it
	Weekday     int      `json:"weekday"`
	TwelveHour  bool     `json:"twelve_hour"`
	Stopped     bool     `json:"stopped"` // OSF: the time is not to be trusted
	Temperature float64  `json:"temperature"`
	Alarm1      bool     `json:"alarm1"` // flags
	Alarm2      bool     `json:"alarm2"`
	Interrupt   bool     `json:"interrupt"`
	Faults      []string `json:"faults,omitempty"`
}

// New builds a clock. Value: battery ok or none. Settings: temperature (-40 to 85 °C), time (2026-01-15T12:00:00Z, years 2000 to 2199).
// Faults: stopped (the oscillator), battery (the next power-up is as without one).
func New(w device.World, o device.Options) (device.Device, error) {
	addr, err := setting.Address(o, 0x68)
	if err != nil {
		return nil, err
	}
	c := &Clock{Faults: setting.NewFaults("stopped", "battery"), w: w, addr: addr, wired: len(o.Lines) > 0, battery: true, celsius: 25}
	switch b := o.Values["battery"]; b {
	case "", "ok":
	case "none":
		c.battery = false
	default:
		return nil, fmt.Errorf("battery: %q is neither ok nor none", b)
	}
	c.initial()
	c.adjust(w.Now().UTC())
	c.reg[regStatus] &^= osf
	if err := setting.Apply(c, o.Values, "battery"); err != nil {
		return nil, err
	}
	return c, nil
}

// initial is the state after the first power-up.
func (c *Clock) initial() {
	c.reg = [registers]byte{regDay: 1, regDate: 1, regMonth: 1, regControl: 0x1C, regStatus: osf | en32kHz}
	c.second, c.due = c.w.Now(), time.Time{}
	c.takeTemperature(c.w.Now())
}

// Reset is a power-up.
func (c *Clock) Reset() {
	c.settle()
	c.at, c.named = 0, false
	if !c.battery || c.Has("battery") {
		c.initial()
	}
	c.follow()
}

// Addresses returns the one address.
func (c *Clock) Addresses() []uint16 { return []uint16{c.addr} }

// Start begins a write, whose first byte names a register, or a read, which is of one moment.
func (c *Clock) Start(read bool) bool {
	c.settle()
	c.named = false
	if read {
		c.snapshot()
	}
	return true
}

func (c *Clock) snapshot() { copy(c.latch[:], c.reg[:]) }

// Write takes the pointer and then values.
func (c *Clock) Write(b byte) bool {
	if !c.named {
		c.at, c.named = int(b)%registers, true
		return true
	}
	r := c.at
	c.at = (c.at + 1) % registers
	old := c.reg[r]
	c.reg[r] = old&^mask[r] | b&mask[r]
	switch r {
	case regSeconds:
		c.second = c.w.Now()
	case regControl:
		if b&conv != 0 && c.due.IsZero() {
			c.due = c.w.Now().Add(conversion)
		}
		if !c.due.IsZero() {
			c.reg[r] |= conv // until it is done
		}
	case regStatus:
		c.reg[r] &^= (osf | alarmBits) &^ b // 0 clears, 1 leaves
	}
	c.follow()
	return true
}

// Read gives the register and goes on to the next.
func (c *Clock) Read() byte {
	r := c.at
	c.at = (c.at + 1) % registers
	if c.at == 0 {
		defer c.snapshot() // a wrap takes the time anew
	}
	switch {
	case r < len(c.latch):
		return c.latch[r]
	case r == regStatus && !c.due.IsZero():
		return c.reg[r] | bsy
	}
	return c.reg[r]
}

// Stop ends a transaction.
func (c *Clock) Stop() {}

// settle lets the clock run up to now.
func (c *Clock) settle() {
	now := c.w.Now()
	if !c.due.IsZero() && !now.Before(c.due) {
		c.takeTemperature(c.due)
		c.due = time.Time{}
		c.reg[regControl] &^= conv
	}
	if n := now.Sub(c.converted) / interval; n > 0 {
		c.takeTemperature(c.converted.Add(n * interval))
	}
	if c.Has("stopped") {
		c.second = now
		return
	}
	n := now.Sub(c.second) / time.Second
	if n <= 0 {
		return
	}
	c.second = c.second.Add(n * time.Second)
	from := c.civil()
	to := from.Add(n * time.Second)
	for i, alarm := range [2]int{regAlarm1, regAlarm2} {
		if next, ok := c.next(alarm, from); ok && !next.After(to) {
			c.reg[regStatus] |= 1 << i
		}
	}
	c.store(from, to)
}

// takeTemperature ends a conversion.
func (c *Clock) takeTemperature(at time.Time) {
	c.converted = at
	quarters := round(c.celsius * 4)
	c.reg[regTemp], c.reg[regTemp+1] = byte(quarters>>2), byte(quarters<<6)
}

// follow drives INT and asks to be called at the next alarm, if there is a line to drive.
func (c *Clock) follow() {
	if !c.wired {
		return
	}
	if c.interrupt() {
		c.w.Force(0, 0)
	} else {
		c.w.Force(0, -1)
	}
	if c.cancel != nil {
		c.cancel()
		c.cancel = nil
	}
	if c.reg[regControl]&alarmBits == 0 || c.Has("stopped") {
		return
	}
	now := c.civil()
	var first time.Time
	for _, alarm := range [2]int{regAlarm1, regAlarm2} {
		if next, ok := c.next(alarm, now); ok && (first.IsZero() || next.Before(first)) {
			first = next
		}
	}
	if !first.IsZero() {
		c.cancel = c.w.At(c.second.Add(first.Sub(now)), func() {
			c.settle()
			c.follow()
		})
	}
}

// interrupt tells whether the alarms pull INT.
func (c *Clock) interrupt() bool {
	return c.reg[regControl]&intcn != 0 && c.reg[regControl]&c.reg[regStatus]&alarmBits != 0
}

// Set changes the temperature or sets the clock, as a person with a programmer would.
func (c *Clock) Set(key, value string) error {
	c.settle()
	switch key {
	case "temperature":
		v, err := setting.Float(key, value, -40, 85)
		if err == nil {
			c.celsius = v
		}
		return err
	case "time":
		t, err := time.Parse(time.RFC3339, value)
		if err != nil || t.UTC().Year() < 2000 || t.UTC().Year() > 2199 {
			return fmt.Errorf("time: %q is no time such as 2026-01-15T12:00:00Z from 2000 to 2199", value)
		}
		c.adjust(t.UTC())
		c.follow()
		return nil
	}
	return setting.Unknown(key, "temperature", "time")
}

// adjust sets time, date and weekday, Monday being 1, and keeps 12 or 24 hours.
func (c *Clock) adjust(t time.Time) {
	c.second = c.w.Now().Add(-time.Duration(t.Nanosecond()))
	c.store(t, t)
	c.reg[regDay] = byte((t.Weekday()+6)%7 + 1)
	c.reg[regStatus] &^= osf
}

// Fault starts or ends faults.
func (c *Clock) Fault(kind string) error {
	c.settle()
	err := c.Faults.Fault(kind)
	if c.Has("stopped") {
		c.reg[regStatus] |= osf
	}
	c.follow()
	return err
}

// State returns what to show.
func (c *Clock) State() any {
	c.settle()
	return State{
		Time: c.civil().Format("2006-01-02T15:04:05"), Weekday: int(c.reg[regDay]), TwelveHour: c.reg[regHours]&twelve != 0,
		Stopped: c.reg[regStatus]&osf != 0, Temperature: c.celsius, Alarm1: c.reg[regStatus]&1 != 0, Alarm2: c.reg[regStatus]&2 != 0,
		Interrupt: c.interrupt(), Faults: c.Active(),
	}
}
