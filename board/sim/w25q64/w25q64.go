// Package w25q64 simulates a serial NOR flash of 8 MiB, Winbond's W25Q64 (W25Q64JV data sheet, revision J), on standard SPI.
//
// # Model
//
// A chip select frames an instruction (tables 8.1.2 and 8.1.3): opcode, 24-bit address, dummy bytes, data. Reads stream for as long as
// the chip is selected and wrap at the end of the array; address bit 23 does not exist and is ignored. Programs and erases need the
// write enable latch, which they clear when they end, start when the chip select rises after whole bytes, and take the typical times of
// section 9.6 on the bench's clock. A program takes bits from 1 to 0 only, within its page of 256 bytes: more data than fits
// wraps to the page's beginning and overwrites what came first (section 8.2.13). While the chip is busy it hears nothing but
// reads of its status registers and a reset (66, 99); in power-down, nothing but AB (section 8.2.21).
//
// The array keeps its contents without power: Reset leaves them. Blocks of 64 KiB exist in memory once something was programmed.
//
// # What it refuses
//
// As the part does, by not doing it: writes without the latch, to protected ranges (table 7.1.16) or cut short. What it does not drive is
// 0xFF. Not modelled: dual and quad transfers, security registers, SFDP, individual block locks, volatile status writes, suspend, and
// waiting times below 50 µs (power-down, release, reset), which no program over a simulated bus could keep or miss.
package w25q64

import (
	"time"

	"github.com/pal-terminal/pal/board/sim/device"
	"github.com/pal-terminal/pal/board/sim/setting"
)

// Geometry of the array.
const (
	Size    = 8 << 20
	page    = 256
	sector  = 4 << 10
	half    = 32 << 10
	block   = 64 << 10
	blocks  = Size / block
	address = Size - 1 // mask
)

// Identification: section 8.1.1 and the instructions 9F, 90, AB.
const (
	manufacturer = 0xEF
	deviceID     = 0x16
	jedecHigh    = 0x40
	jedecLow     = 0x17
)

// Bits of the status registers 1 and 2: section 7.1.
const (
	busy = 1 << 0
	wel  = 1 << 1
	tb   = 1 << 5
	sec  = 1 << 6
	cmp  = 1 << 6 // register 2
)

// duration is a typical and a longest time of section 9.6.
type duration struct{ typical, longest time.Duration }

var (
	programTime = duration{400 * time.Microsecond, 3 * time.Millisecond}
	sectorTime  = duration{45 * time.Millisecond, 400 * time.Millisecond}
	halfTime    = duration{120 * time.Millisecond, 1600 * time.Millisecond}
	blockTime   = duration{150 * time.Millisecond, 2000 * time.Millisecond}
	chipTime    = duration{20 * time.Second, 100 * time.Second}
	statusTime  = duration{10 * time.Millisecond, 15 * time.Millisecond}
)

// Flash is the chip. It implements device.SPI.
type Flash struct {
	setting.Faults
	w      device.World
	array  [blocks]*[block]byte // nil: erased
	unique [8]byte
	status [3]byte // registers, without BUSY and WEL; kept without power

	latch     bool
	until     time.Time // of the operation under way
	working   bool
	down      bool
	resetting bool // 66 came last

	frame
	programs, erases, reads uint64
}

// State is what `pal sim show` prints.
type State struct {
	Busy         bool     `json:"busy"`
	WriteEnabled bool     `json:"write_enabled"`
	PowerDown    bool     `json:"power_down"`
	Status       [3]int   `json:"status"`      // registers 1 to 3
	Programs     uint64   `json:"programs"`    // page programs since the device was made
	Erases       uint64   `json:"erases"`      // of whatever size
	Read         uint64   `json:"read"`        // bytes
	UsedBlocks   int      `json:"used_blocks"` // of 64 KiB that were programmed since they were erased
	Faults       []string `json:"faults,omitempty"`
}

// New builds an erased chip with a unique ID from the bench's seed. It has nothing to set. Faults: slow (the longest times of the data
// sheet instead of the typical ones), stuck (busy for ever once it is) and worn (an erase leaves the lowest bit of each sector's
// first byte at 0).
func New(w device.World, o device.Options) (device.Device, error) {
	f := &Flash{Faults: setting.NewFaults("slow", "stuck", "worn"), w: w}
	for key := range o.Values {
		return nil, setting.Unknown(key, "nothing")
	}
	for i := range f.unique {
		f.unique[i] = byte(w.Rand().Uint32())
	}
	f.status[2] = 0x60 // the driver strength of delivery
	f.Reset()
	return f, nil
}

// Reset is a loss of power, after which the chip stands by (section 6.1).
func (f *Flash) Reset() {
	f.latch, f.working, f.down, f.resetting = false, false, false, false
	f.frame = frame{}
}

// Load programs data at off as a maker's programmer would before the chip is mounted: what was there is replaced, without any rule or
// time. It reports how much fitted.
func (f *Flash) Load(off int, data []byte) int {
	n := 0
	for n < len(data) && off+n >= 0 && off+n < Size {
		at := off + n
		n += copy(f.block(at)[at%block:], data[n:])
	}
	return n
}

// block returns the block of an address, to be written to.
func (f *Flash) block(at int) *[block]byte {
	b := f.array[at/block]
	if b == nil {
		b = new([block]byte)
		for i := range b {
			b[i] = 0xFF
		}
		f.array[at/block] = b
	}
	return b
}

// copyOut fills p from an address on and returns the address after it.
func (f *Flash) copyOut(at int, p []byte) int {
	f.reads += uint64(len(p))
	for len(p) > 0 {
		n := min(block-at%block, len(p))
		if b := f.array[at/block]; b != nil {
			copy(p[:n], b[at%block:])
		} else {
			for i := range p[:n] {
				p[i] = 0xFF
			}
		}
		p = p[n:]
		at = (at + n) & address
	}
	return at
}

// idle tells whether no operation is under way, having ended one whose time is up.
func (f *Flash) idle() bool {
	if f.working && !f.Has("stuck") && !f.w.Now().Before(f.until) {
		f.working, f.latch = false, false
	}
	return !f.working
}

func (f *Flash) work(d duration) {
	f.working = true
	f.until = f.w.Now().Add(d.typical)
	if f.Has("slow") {
		f.until = f.w.Now().Add(d.longest)
	}
}

// register returns a status register as it reads now.
func (f *Flash) register(i int) byte {
	v := f.status[i]
	if i != 0 {
		return v
	}
	if !f.idle() {
		v |= busy
	}
	if f.latch {
		v |= wel
	}
	return v
}

// protected returns the range that BP2 to BP0, TB, SEC and CMP protect: tables 7.1.16 (CMP = 0) and 7.1.17 (CMP = 1).
func (f *Flash) protected(from, to int) bool {
	bp := int(f.status[0] >> 2 & 7)
	size := 0
	switch {
	case bp == 7:
		size = Size
	case bp == 0:
	case f.status[0]&sec != 0:
		size = sector << min(bp-1, 3)
	default:
		size = 2 * block << (bp - 1)
	}
	low, high := Size-size, Size
	if f.status[0]&tb != 0 {
		low, high = 0, size
	}
	if f.status[1]&cmp != 0 {
		if low == 0 {
			low, high = high, Size
		} else {
			low, high = 0, low
		}
	}
	return from < high && to > low
}

// program is instruction 02 when the chip select rises.
func (f *Flash) program(at int, data *[page]byte, given *[page]bool) {
	base := at &^ (page - 1)
	if f.protected(base, base+page) {
		return
	}
	b := f.block(base)[base%block:]
	for i, ok := range given {
		if ok {
			b[i] &= data[i]
		}
	}
	f.programs++
	f.work(programTime)
}

// erase erases the size bytes around an address.
func (f *Flash) erase(at, size int, d duration) {
	from := at &^ (size - 1)
	if f.protected(from, from+size) {
		return
	}
	for a := from; a < from+size; a += sector {
		if size >= block && a%block == 0 {
			f.array[a/block] = nil
		}
		if b := f.array[a/block]; b != nil {
			for i := range sector {
				b[a%block+i] = 0xFF
			}
		}
		if f.Has("worn") {
			f.block(a)[a%block] = 0xFE
		}
	}
	f.erases++
	f.work(d)
}

// writeStatus is instruction 01, 31 or 11. Bits that a program cannot write stay.
func (f *Flash) writeStatus(first int, values []byte) {
	writable := [3]byte{0xFC, 0x7B, 0x64} // section 7.1; LB bits can be set only
	for i, v := range values {
		r := first + i
		if r > 2 {
			break
		}
		keep := f.status[r] &^ writable[r]
		if r == 1 {
			v |= f.status[1] & 0x38
		}
		f.status[r] = keep | v&writable[r]
	}
	f.work(statusTime)
}

// Set refuses: nothing about a memory is measured.
func (f *Flash) Set(key, _ string) error {
	return setting.Unknown(key, "nothing")
}

// State returns what to show.
func (f *Flash) State() any {
	s := State{
		Busy: !f.idle(), WriteEnabled: f.latch, PowerDown: f.down, Status: [3]int{int(f.register(0)), int(f.register(1)), int(f.register(2))},
		Programs: f.programs, Erases: f.erases, Read: f.reads, Faults: f.Active(),
	}
	for _, b := range f.array {
		if b != nil {
			s.UsedBlocks++
		}
	}
	return s
}
