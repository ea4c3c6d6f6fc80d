package protocol

import (
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// valueError says, after the name of a field, what its value must be.
type valueError struct{ must string }

func (e *valueError) Error() string { return e.must }

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
			return &valueError{"must be a name or a whole number, not " + quote(tok.String())}
		}
		*p = PinName(strconv.FormatUint(n, 10))
		return nil
	case 'n':
		return nil // absent; whether it may be is the message's business
	default:
		return &valueError{"must be a name or a whole number"}
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
	switch kind, text := tok.Kind(), tok.String(); {
	case kind == 'f', kind == '0' && text == "0":
		*l = 0
	case kind == 't', kind == '0' && text == "1":
		*l = 1
	case kind == 'n': // absent; whether it may be is the message's business
	default:
		return &valueError{"must be 0, 1, true or false"}
	}
	return nil
}
