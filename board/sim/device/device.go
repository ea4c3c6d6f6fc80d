// Package device is what the simulated bench and its devices know of each other. Each device is a small package of its own that
// imports this one and models one part after its public data sheet, register by register.
//
// # Model
//
// A device is built by a [New] function, hangs on lines, on an I2C or SPI bus or on a UART, and implements the interfaces
// of what it hangs on. The bench calls a device from one goroutine at a time, with its own lock held; a device therefore has no
// locks and no goroutines, must not wait, and reaches the bench only through its [World]. Time is the bench's clock: a device
// that needs some asks for a call later ([World.At]), and may as well compute what it is from Now when it is looked at. The same
// calls at the same times give the same answers.
//
// # What it refuses
//
// A device does not know programs, pins' numbers, owners or rules.
package device

import (
	"image"
	"math/rand/v2"
	"time"
)

// World is the bench as a device sees it. Its methods may be called from the device's own methods and from functions given to
// At, nowhere else.
type World interface {
	Now() time.Time
	// At has f called when the bench's clock has reached t, in the order of t; soon, if it has. stop undoes that. Of what a device has asked
	// for and not had yet, no more than limits.SimEvents are kept: further ones are forgotten. A loss of power forgets all.
	At(t time.Time, f func()) (stop func())
	// Force gives the device's line i (of Options.Lines) a level from outside: 0, 1, or -1 to let it go. The device is not told of the
	// change by Drive: it made it.
	Force(i, level int)
	// Level returns the level on the device's line i.
	Level(i int) int
	// Rand is the device's own, seeded from the bench's seed.
	Rand() *rand.Rand
	// Send brings bytes to the UART that the device hangs on, as received by the board.
	Send(p []byte)
	// Baud is the bit rate that the program opened the UART with, 0 while it is closed: a device of another rate makes noise of it.
	Baud() int64
}

// Options are what a board file says of a device.
type Options struct {
	Name   string
	Lines  []string          // roles of the device's lines, in order, for a device of several ("trig", "echo"); one empty for one line
	Addr   int               // I2C address, -1 for the usual one
	Value  *int              // starting value, nil for none
	Values map[string]string // further settings of the board file, such as "pixels": "16"
}

// New builds a device. An error names the option that is wrong.
type New func(w World, o Options) (Device, error)

// Device is what every device does.
type Device interface {
	// Reset puts it into the state after power-up; what its lines are driven to stays as it was told. The bench calls it first of all.
	Reset()
	// State is what a bench shows, to be written as JSON.
	State() any
	// Set changes a quantity that the device measures or a thing a person would do to it ("temperature", "23.5"). A device of one
	// quantity takes the empty key for it.
	Set(key, value string) error
	// Fault starts ("crc", "slow", …) or with "off" ends faults. The bench itself does nack, held, stretch, disconnect and brownout and
	// never asks the device for them.
	Fault(kind string) error
}

// I2C is a device on an I2C bus. The bench calls Start with its address matched, then Write or Read byte by byte, then Stop, or
// Start again.
type I2C interface {
	Device
	Addresses() []uint16
	// Start answers whether the device acknowledges its address.
	Start(read bool) (ack bool)
	Write(b byte) (ack bool)
	Read() byte
	Stop()
}

// Bulk is an I2C device that takes many bytes in one call, as Write would one by one: acked counts those that were acknowledged.
type Bulk interface {
	I2C
	WriteAll(p []byte) (acked int)
}

// SPI is a device on an SPI bus, mode 0 and most significant bit first. The bench calls Select with its chip select line, which is
// active low, and Transfer while it is selected. rx, when not nil, is as long as tx; what the device does not drive is 0xFF.
type SPI interface {
	Device
	Select(on bool)
	Transfer(tx, rx []byte)
}

// UART is a device at the other end of a UART.
type UART interface {
	Device
	// Receive takes bytes that the board sent.
	Receive(p []byte)
}

// Follower is a device that follows lines: Drive tells that line i has a new level.
type Follower interface {
	Device
	Drive(i, level int)
}

// PWMFollower is a Follower that is told of PWM: freq in Hz, 0 when it ended, and duty of 65,535.
type PWMFollower interface {
	Device
	PWM(i int, freq int64, duty int)
}

// Bits is a device that takes a timed bit stream, such as a light strip. ns is as hw.OpBitstream has it.
type Bits interface {
	Device
	Bitstream(ns [4]uint32, data []byte)
}

// DHT is a sensor of that protocol. ok is false when it does not answer.
type DHT interface {
	Device
	Frame() (frame [5]byte, ok bool)
}

// OneWire is a device on a one-wire line. The bench joins several on one line: they all hear, and a 0 of one wins.
type OneWire interface {
	Device
	ResetPulse() (present bool)
	WriteBit(bit int)
	ReadBit() int
}

// Pulser is a device that answers on a line with a pulse whose width the bench can tell without waiting for it: the width of the pulse of
// level that is on the line i or comes within timeout, in the device's own time; ok is false when none comes.
type Pulser interface {
	Device
	Pulse(i, level int, timeout time.Duration) (width time.Duration, ok bool)
}

// Analog is a device that gives a line a voltage: 12-bit counts, 0 to 4,095.
type Analog interface {
	Device
	Raw(i int) int
}

// Picture is a device that can be seen: a display or a light strip.
type Picture interface {
	Device
	Image() image.Image
}
