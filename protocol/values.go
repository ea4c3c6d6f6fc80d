package protocol

import (
	"fmt"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// PinName is a pin as a client wrote it: a JSON string ("LED", "5") or a whole number (5). Which pin it is decides the guard.
type PinName string

// UnmarshalJSONFrom reads a string or a whole number.
func (p *PinName) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	tok, err := dec.ReadToken()
	if err != nil {
		return err
	}
	switch tok.Kind() {
	case '"':
		*p = PinName(tok.String())
		return nil
	case '0':
		n, err := strconv.ParseUint(tok.String(), 10, 32)
		if err != nil {
			return fmt.Errorf("pin must be a name or a whole number, not %s", tok.String())
		}
		*p = PinName(strconv.FormatUint(n, 10))
		return nil
	default:
		return fmt.Errorf("pin must be a name or a whole number")
	}
}

// Level is a digital level on the wire: 0, 1, false or true.
type Level int

// UnmarshalJSONFrom reads 0, 1, false or true.
func (l *Level) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	tok, err := dec.ReadToken()
	if err != nil {
		return err
	}
	switch tok.String() {
	case "0", "false":
		*l = 0
	case "1", "true":
		*l = 1
	default:
		return fmt.Errorf("value must be 0, 1, true or false")
	}
	if tok.Kind() == '"' {
		return fmt.Errorf("value must be 0, 1, true or false, not a string")
	}
	return nil
}
