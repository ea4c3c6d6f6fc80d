// Package ds18b20 simulates the one-wire thermometer DS18B20 after its data sheet (Maxim, 19-7487 rev 6): ROM commands (read, match, skip,
// search, alarm search), function commands (convert, read, write, copy and recall the scratchpad, power supply), the scratchpad
// with its CRC, resolution of 9 to 12 bits and the alarm flag. It has a supply of its own: no parasitic power.
//
// After a command that it does not know it is silent until the next reset pulse, as the part is.
package ds18b20

import (
	"encoding/hex"
	"fmt"
	"hash/fnv"
	"math"
	"time"

	"github.com/pal-terminal/pal/board/sim/device"
	"github.com/pal-terminal/pal/board/sim/setting"
)

// ROM commands and function commands (table "DS18B20 function command set" and section "ROM commands").
const (
	searchROM      = 0xF0
	readROM        = 0x33
	matchROM       = 0x55
	skipROM        = 0xCC
	alarmSearch    = 0xEC
	convertT       = 0x44
	writeScratch   = 0x4E
	readScratch    = 0xBE
	copyScratch    = 0x48
	recallE2       = 0xB8
	readSupply     = 0xB4
	family         = 0x28
	copyTime       = 10 * time.Millisecond // table "AC electrical characteristics: NV memory", t_wr
	coldest        = -55
	hottest        = 125
	longestConvert = 750 * time.Millisecond // of 12 bits; each bit less halves it (table 2)
)

// phase is what the next bits mean.
type phase uint8

const (
	silent phase = iota
	romCommand
	matching
	searching
	function
	sending
	writing
	busy
)

// Thermometer is a DS18B20.
type Thermometer struct {
	setting.Faults
	w           device.World
	temperature float64
	rom         [8]byte
	scratch     [9]byte // bytes 2 to 4 are TH, TL and configuration; the last one, the CRC, is made when it is read
	eeprom      [3]byte

	phase    phase
	in       byte // bits so far, the first one lowest
	bits     int  // how many
	out      []byte
	step     int // of a search: 0 the bit, 1 its complement, 2 the direction
	ready    time.Time
	pending  bool // a conversion is under way
	alarm    bool
	converts int
}

// State is what `pal sim show` prints.
type State struct {
	Temperature float64  `json:"temperature"` // °C
	ROM         string   `json:"rom"`         // in the order of the wire, family first
	Resolution  int      `json:"resolution"`  // bits
	Alarm       bool     `json:"alarm"`
	Conversions int      `json:"conversions"`
	Faults      []string `json:"faults,omitempty"`
}

// New returns a thermometer. "rom" is its code of 16 hexadecimal digits, with the CRC or with 14 without; without it, one is made of the
// name.
func New(w device.World, o device.Options) (device.Device, error) {
	d := &Thermometer{w: w, temperature: 21.0625, eeprom: [3]byte{0x4B, 0x46, 0x7F}, Faults: setting.NewFaults("crc", "slow")}
	h := fnv.New64a()
	_, _ = h.Write([]byte(o.Name)) // never fails
	copy(d.rom[:], append([]byte{family}, h.Sum(nil)[:6]...))
	if text, ok := o.Values["rom"]; ok {
		code, err := hex.DecodeString(text)
		if err != nil || len(code) < 7 || len(code) > 8 || code[0] != family || len(code) == 8 && code[7] != crc(code[:7]) {
			return nil, fmt.Errorf("rom: %q is no code of this part: %02x, 12 hexadecimal digits, and the CRC or nothing", text, family)
		}
		copy(d.rom[:], code)
	}
	d.rom[7] = crc(d.rom[:7])
	return d, setting.Apply(d, o.Values, "rom")
}

// crc is the CRC-8 of x⁸+x⁵+x⁴+1, least significant bit first and starting from 0 (section "CRC generation").
func crc(p []byte) byte {
	var c byte
	for _, v := range p {
		c ^= v
		for range 8 {
			low := c&1 != 0
			c >>= 1
			if low {
				c ^= 0x8C
			}
		}
	}
	return c
}

// Reset is power-up: 85 °C in the scratchpad (figure 4, "power-on reset value"), the rest from the EEPROM.
func (d *Thermometer) Reset() {
	d.scratch = [9]byte{0x50, 0x05, 0, 0, 0, 0xFF, 0x0C, 0x10}
	copy(d.scratch[2:5], d.eeprom[:])
	d.phase, d.pending, d.alarm = silent, false, false
}

// ResetPulse implements device.OneWire.
func (d *Thermometer) ResetPulse() bool {
	d.phase, d.in, d.bits = romCommand, 0, 0
	return true
}

// WriteBit implements device.OneWire.
func (d *Thermometer) WriteBit(bit int) {
	switch d.phase {
	case searching:
		if d.step != 2 {
			d.phase = silent // the master is out of step
			return
		}
		if d.romBit() != bit {
			d.phase = silent // the search goes another way
			return
		}
		d.step = 0
		if d.bits++; d.bits == 64 {
			d.to(function)
		}
	case matching:
		if d.romBit() != bit {
			d.phase = silent
			return
		}
		if d.bits++; d.bits == 64 {
			d.to(function)
		}
	case romCommand, function, writing:
		d.in |= byte(bit) << (d.bits & 7)
		if d.bits++; d.bits&7 == 0 {
			in := d.in
			d.in = 0
			d.byte(in)
		}
	case silent, sending, busy:
	}
}

// to begins a phase.
func (d *Thermometer) to(p phase) { d.phase, d.in, d.bits, d.step = p, 0, 0, 0 }

func (d *Thermometer) romBit() int { return int(d.rom[d.bits/8] >> (d.bits & 7) & 1) }

// byte takes a whole byte.
func (d *Thermometer) byte(in byte) {
	d.settle()
	switch d.phase {
	case romCommand:
		d.romCommand(in)
	case function:
		d.command(in)
	case writing:
		// TH, TL and configuration, of which only the resolution can be written (section "Configuration register").
		i := d.bits/8 - 1
		if i == 2 {
			in = in&0x60 | 0x1F
		}
		d.scratch[2+i] = in
		if i == 2 {
			d.phase = silent
		}
	case silent, matching, searching, sending, busy:
	}
}

func (d *Thermometer) romCommand(in byte) {
	switch {
	case in == skipROM:
		d.to(function)
	case in == matchROM:
		d.to(matching)
	case in == searchROM, in == alarmSearch && d.alarm:
		d.to(searching)
	case in == readROM:
		d.send(d.rom[:])
	default:
		d.phase = silent
	}
}

func (d *Thermometer) command(in byte) {
	switch in {
	case convertT:
		d.to(busy)
		d.pending, d.ready = true, d.w.Now().Add(d.convertTime())
		d.converts++
	case readScratch:
		d.scratch[8] = crc(d.scratch[:8])
		if d.Has("crc") {
			d.scratch[8] ^= 0xFF
		}
		d.send(d.scratch[:])
	case writeScratch:
		d.to(writing)
	case copyScratch:
		copy(d.eeprom[:], d.scratch[2:5])
		d.to(busy)
		d.ready = d.w.Now().Add(copyTime)
	case recallE2:
		copy(d.scratch[2:5], d.eeprom[:])
		d.to(busy)
		d.ready = d.w.Now()
	case readSupply:
		d.send([]byte{0xFF}) // a supply of its own answers 1
	default:
		d.phase = silent
	}
}

func (d *Thermometer) resolution() int { return 9 + int(d.scratch[4]>>5&3) }

func (d *Thermometer) convertTime() time.Duration {
	t := longestConvert >> (12 - d.resolution())
	if d.Has("slow") {
		t *= 4
	}
	return t
}

func (d *Thermometer) send(p []byte) {
	d.to(sending)
	d.out = append(d.out[:0], p...)
}

// settle ends a conversion whose time has come: the low bits that the resolution does not have are 0 (figure 2).
func (d *Thermometer) settle() {
	if !d.pending || d.w.Now().Before(d.ready) {
		return
	}
	d.pending = false
	raw := int16(math.Round(d.temperature*16)) &^ (1<<(12-d.resolution()) - 1)
	d.scratch[0], d.scratch[1] = byte(raw), byte(raw>>8)
	// The alarm compares whole degrees, TH and TL being signed (section "Operation: alarm signaling").
	whole := int8(raw >> 4)
	d.alarm = whole >= int8(d.scratch[2]) || whole <= int8(d.scratch[3])
}

// ReadBit implements device.OneWire.
func (d *Thermometer) ReadBit() int {
	d.settle()
	switch d.phase {
	case searching:
		if d.step == 2 {
			d.phase = silent
			return 1
		}
		d.step++
		return d.romBit() ^ (d.step - 1)
	case sending:
		if d.bits/8 >= len(d.out) {
			return 1
		}
		bit := int(d.out[d.bits/8] >> (d.bits & 7) & 1)
		d.bits++
		return bit
	case busy:
		if d.w.Now().Before(d.ready) {
			return 0
		}
		return 1
	case silent, romCommand, matching, function, writing:
	}
	return 1
}

// Set takes "temperature" in °C, which the empty key means too.
func (d *Thermometer) Set(key, value string) error {
	if key != "" && key != "temperature" {
		return setting.Unknown(key, "temperature")
	}
	v, err := setting.Float(key, value, coldest, hottest)
	if err == nil {
		d.temperature = v
	}
	return err
}

// State returns what to show.
func (d *Thermometer) State() any {
	d.settle()
	return State{
		Temperature: d.temperature, ROM: hex.EncodeToString(d.rom[:]), Resolution: d.resolution(), Alarm: d.alarm,
		Conversions: d.converts, Faults: d.Active(),
	}
}
