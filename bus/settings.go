package bus

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/pal-terminal/pal/board"
	"github.com/pal-terminal/pal/limits"
)

// roles are the lines that a bus takes for itself, in the order people name them.
var roles = map[string][]string{
	"i2c":  {"sda", "scl"},
	"spi":  {"sck", "mosi", "miso"},
	"uart": {"tx", "rx"},
}

// settings is what a program asked of a bus.
type settings struct {
	board.BusSettings
	timeout time.Duration     // I2C: what devices may stretch the clock in addition
	lines   map[string]string // role to pin, as the program wrote it
}

// defaults are MicroPython's.
func defaults(kind string) settings {
	s := settings{lines: map[string]string{}, BusSettings: board.BusSettings{Hz: 400_000, Bits: 8, Parity: -1, Stop: 1}}
	switch kind {
	case "spi":
		s.Hz = 1_000_000
	case "uart":
		s.Hz = 9600
	}
	return s
}

// field is one setting with its bounds.
type field struct {
	least, most int64
	set         func(int64)
}

// fields are the settings of a kind of bus, by MicroPython's names.
func (s *settings) fields(kind string) map[string]field {
	whole := func(p *int) func(int64) { return func(v int64) { *p = int(v) } }
	hz := func(v int64) { s.Hz = v }
	ignored := func(int64) {}
	switch kind {
	case "i2c":
		return map[string]field{
			"freq":    {1, limits.I2CHz, hz},
			"timeout": {0, limits.BusTransferTime.Microseconds(), func(v int64) { s.timeout = time.Duration(v) * time.Microsecond }},
		}
	case "spi":
		return map[string]field{
			"baudrate": {1, limits.SPIHz, hz}, "polarity": {0, 1, whole(&s.Polarity)}, "phase": {0, 1, whole(&s.Phase)},
			"bits": {8, 8, whole(&s.Bits)}, "firstbit": {0, 1, func(v int64) { s.LSBFirst = v == 1 }},
		}
	}
	return map[string]field{
		"baudrate": {1, limits.UARTBaud, hz}, "bits": {7, 8, whole(&s.Bits)}, "parity": {0, 1, whole(&s.Parity)}, "stop": {1, 2, whole(&s.Stop)},
		// The driver's buffers have the size they have.
		"txbuf": {0, math.MaxInt32, ignored}, "rxbuf": {0, math.MaxInt32, ignored}, "invert": {0, 0, ignored}, "flow": {0, 0, ignored},
	}
}

// parseSettings reads a JSON object: for I2C freq and timeout (µs), for SPI baudrate, polarity, phase, bits and firstbit, for a UART
// baudrate, bits, parity (null for none), stop, rxbuf, txbuf, invert and flow, and for all the names of lines. Whole numbers only;
// each key once; nothing else. Empty data is the defaults.
func parseSettings(kind string, data []byte) (settings, error) {
	s := defaults(kind)
	switch {
	case len(data) == 0:
		return s, nil
	case len(data) > limits.BusSettingsBytes:
		return s, fmt.Errorf("settings are longer than %d bytes", limits.BusSettingsBytes)
	case !utf8.Valid(data):
		return s, errors.New("settings are not UTF-8")
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	if tok, err := dec.Token(); err != nil || tok != json.Delim('{') {
		return s, errors.New("settings are no JSON object")
	}
	known, seen := s.fields(kind), map[string]bool{}
	for dec.More() {
		key, err := dec.Token()
		name, _ := key.(string)
		value, broken := dec.Token()
		if err != nil || broken != nil {
			return s, errors.New("settings are no JSON object")
		}
		if seen[name] {
			return s, fmt.Errorf("%q stands twice", name)
		}
		seen[name] = true
		if err := s.put(known, name, value); err != nil {
			return s, err
		}
	}
	if _, err := dec.Token(); err != nil {
		return s, errors.New("settings are no JSON object")
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return s, errors.New("something follows the settings")
	}
	return s, nil
}

// put takes in one setting.
func (s *settings) put(known map[string]field, name string, value json.Token) error {
	f, ok := known[name]
	if !ok {
		line, isText := value.(string)
		if !isText || !isRole(name) || len(line) > limits.NameBytes {
			return fmt.Errorf("%.64q is no setting of this bus, or has no such value", name)
		}
		s.lines[name] = line
		return nil
	}
	if value == nil && name == "parity" {
		s.Parity = -1
		return nil
	}
	number, ok := value.(json.Number)
	if !ok {
		return fmt.Errorf("%s must be a whole number", name)
	}
	v, err := strconv.ParseInt(number.String(), 10, 64)
	if err != nil || v < f.least || v > f.most {
		return fmt.Errorf("%s must be a whole number of %d to %d, got %.32s", name, f.least, f.most, number)
	}
	f.set(v)
	return nil
}

// isRole reports whether some bus has lines of that name; which ones a bus has, its description says.
func isRole(name string) bool {
	return slices.Contains([]string{"sda", "scl", "sck", "mosi", "miso", "cs", "tx", "rx", "rts", "cts"}, name)
}
