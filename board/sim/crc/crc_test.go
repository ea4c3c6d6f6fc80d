package crc_test

import (
	"testing"

	"github.com/pal-terminal/pal/board/sim/crc"
)

// The check values are published: Sensirion's example word, and for both the CRC of the digits 1 to 9 (known as CRC-8/NRSC-5 and
// CRC-16/MODBUS); the last two lines of Modbus are the example of its specification and the best-known request of all.
func TestPublishedValues(t *testing.T) {
	for _, tt := range []struct {
		in   string
		want byte
	}{{"\xBE\xEF", 0x92}, {"123456789", 0xF7}, {"\x00\x00", 0x81}, {"", 0xFF}} {
		if got := crc.Eight([]byte(tt.in)...); got != tt.want {
			t.Errorf("Eight(% X): got %#x, want %#x", tt.in, got, tt.want)
		}
	}
	for _, tt := range []struct {
		in   string
		want uint16
	}{{"123456789", 0x4B37}, {"\x02\x07", 0x1241}, {"\x01\x03\x00\x00\x00\x0A", 0xCDC5}} {
		if got := crc.Modbus([]byte(tt.in)); got != tt.want {
			t.Errorf("Modbus(% X): got %#x, want %#x", tt.in, got, tt.want)
		}
	}
}
