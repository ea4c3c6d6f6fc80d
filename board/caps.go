package board

import (
	"math/bits"
	"strings"
)

// Caps is the set of things a pin can do.
type Caps uint16

// What a pin can do.
const (
	CapIn Caps = 1 << iota
	CapOut
	CapOpenDrain
	CapADC
	CapPWM
	CapCount     // pulse counting by the guard
	CapEncoder   // quadrature counting by the guard
	CapI2C       // line of an I2C bus
	CapSPI       // line of an SPI bus
	CapUART      // line of a UART
	CapOneWire   // one-wire protocols
	CapBitstream // timed bit streams, such as WS2812
)

var capWords = []string{"in", "out", "open_drain", "adc", "pwm", "count", "encoder", "i2c", "spi", "uart", "onewire", "bitstream"}

// Has reports whether all of want is in the set.
func (c Caps) Has(want Caps) bool { return c&want == want }

// Any reports whether anything of want is in the set.
func (c Caps) Any(want Caps) bool { return c&want != 0 }

// Words returns the words of the board file, in a fixed order.
func (c Caps) Words() []string {
	words := make([]string, 0, bits.OnesCount16(uint16(c)))
	for i, w := range capWords {
		if c&(1<<i) != 0 {
			words = append(words, w)
		}
	}
	return words
}

// String returns the words joined by commas.
func (c Caps) String() string { return strings.Join(c.Words(), ",") }
