// Package at24c32 simulates an I2C EEPROM of 4,096 bytes, Atmel's AT24C32, which boards with a clock chip tend to carry (data sheet
// 0336, AT24C32/64).
//
// # Model
//
// A write begins with a word address of two bytes, of which twelve bits count (section "Device addressing"). Up to 32 bytes follow; the
// lower five bits of the address count up and wrap in their page, so that more bytes overwrite the first ones ("Page write"). STOP
// starts a write cycle of 5 ms, in which the part does not acknowledge its address ("Acknowledge polling"); without STOP, as in the
// dummy write before a random read, nothing is written. Reads go on from the address counter and wrap at the end of the array
// ("Sequential read"). The counter and the array keep while the part has power, the array also without it.
//
// # What it refuses
//
// Addresses during a write cycle. Not modelled: the write protect pin, but for the fault protected.
package at24c32

import (
	"time"

	"github.com/pal-terminal/pal/board/sim/device"
	"github.com/pal-terminal/pal/board/sim/setting"
)

const (
	size      = 4096
	page      = 32
	cycle     = 5 * time.Millisecond
	slowCycle = 20 * time.Millisecond // the longest of the family, at 1.8 V
)

// Memory is the part. It implements device.I2C.
type Memory struct {
	setting.Faults
	w     device.World
	addr  uint16
	array [size]byte
	at    int       // address counter
	until time.Time // of a write cycle

	head   int // bytes of the word address that have come
	buffer [page]byte
	given  [page]bool
	dirty  bool
	cycles uint64
}

// State is what `pal sim show` prints.
type State struct {
	Busy    bool     `json:"busy"`
	Address int      `json:"address"` // address counter
	Cycles  uint64   `json:"cycles"`  // write cycles since the device was made
	Used    int      `json:"used"`    // bytes that are not erased
	Faults  []string `json:"faults,omitempty"`
}

// New builds an erased memory. It has nothing to set. Faults: slow (write cycles of 20 ms), protected (acknowledges writes and keeps
// its contents), worn (the lowest bit of what is written stays 1).
func New(w device.World, o device.Options) (device.Device, error) {
	addr, err := setting.Address(o, 0x50, 0x51, 0x52, 0x53, 0x54, 0x55, 0x56, 0x57)
	if err != nil {
		return nil, err
	}
	m := &Memory{Faults: setting.NewFaults("slow", "protected", "worn"), w: w, addr: addr}
	for i := range m.array {
		m.array[i] = 0xFF
	}
	if err := setting.Apply(m, o.Values); err != nil {
		return nil, err
	}
	return m, nil
}

// Reset is a power-up: the counter is lost, the array is not.
func (m *Memory) Reset() {
	m.at, m.until = 0, time.Time{}
	m.begin()
}

// Load writes data at off as a programmer would before the chip is mounted, without pages, cycles or wear. It reports how much fitted.
func (m *Memory) Load(off int, data []byte) int {
	if off < 0 || off >= len(m.array) {
		return 0
	}
	return copy(m.array[off:], data)
}

// Addresses returns the one address.
func (m *Memory) Addresses() []uint16 { return []uint16{m.addr} }

func (m *Memory) begin() {
	m.head, m.dirty, m.given = 0, false, [page]bool{}
}

// Start answers unless a write cycle is under way.
func (m *Memory) Start(bool) bool {
	m.begin()
	return !m.busy()
}

func (m *Memory) busy() bool { return m.w.Now().Before(m.until) }

// Write takes the word address and then data.
func (m *Memory) Write(b byte) bool {
	if m.head < 2 {
		m.head++
		m.at = (m.at<<8 | int(b)) % size
		return true
	}
	i := m.at % page
	m.buffer[i], m.given[i], m.dirty = b, true, true
	m.at = m.at - i + (i+1)%page
	return true
}

// Read gives the byte at the counter.
func (m *Memory) Read() byte {
	b := m.array[m.at]
	m.at = (m.at + 1) % size
	return b
}

// Stop starts a write cycle if data have come.
func (m *Memory) Stop() {
	if !m.dirty {
		return
	}
	m.dirty = false
	if m.Has("protected") {
		return
	}
	base := m.at - m.at%page
	for i, ok := range m.given {
		if !ok {
			continue
		}
		b := m.buffer[i]
		if m.Has("worn") {
			b |= 1
		}
		m.array[base+i] = b
	}
	m.cycles++
	m.until = m.w.Now().Add(cycle)
	if m.Has("slow") {
		m.until = m.w.Now().Add(slowCycle)
	}
}

// Set refuses: nothing about a memory is measured.
func (m *Memory) Set(key, _ string) error { return setting.Unknown(key, "nothing") }

// State returns what to show.
func (m *Memory) State() any {
	s := State{Busy: m.busy(), Address: m.at, Cycles: m.cycles, Faults: m.Active()}
	for _, b := range m.array {
		if b != 0xFF {
			s.Used++
		}
	}
	return s
}
