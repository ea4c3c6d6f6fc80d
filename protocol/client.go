package protocol

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pal-terminal/pal/limits"
)

// Other is an answer of a type that this version does not know.
type Other struct {
	Header
	Raw jsontext.Value `json:"-"` // the whole message
}

// EncodeRequest returns the bytes of a request: one line. id may be nil; body is a pointer to the struct of the type, or nil
// for a type without fields. A request that is longer than limits.MessageBytes is refused here with too_large, because the
// terminal could not tell whom to answer; text that is not UTF-8 with bad_request; a body that is no struct with internal.
func EncodeRequest(typ string, id *string, body any) ([]byte, error) {
	return encodeRequest(typ, id, nil, body)
}

func encodeRequest(typ string, id *string, meta jsontext.Value, body any) ([]byte, error) {
	head := struct {
		Version string         `json:"version"`
		ID      *string        `json:"id,omitzero"`
		Type    string         `json:"type"`
		Meta    jsontext.Value `json:"meta,omitzero"`
	}{Version, id, typ, meta}
	out, err := json.Marshal(head, jsontext.PreserveRawStrings(true))
	if err != nil {
		return nil, requestTextError(typ, err)
	}
	if body != nil {
		fields, err := json.Marshal(body)
		if err != nil {
			return nil, requestTextError(typ, err)
		}
		if fields[0] != '{' {
			return nil, &Error{Code: CodeInternal, Message: fmt.Sprintf("encode %s: %T is no body of a request", quote(typ), body)}
		}
		if len(fields) > len("{}") {
			out = append(append(out[:len(out)-1], ','), fields[1:]...)
		}
	}
	if len(out) > limits.MessageBytes {
		return nil, tooLarge("the message", limits.MessageBytes)
	}
	return out, nil
}

func requestTextError(typ string, err error) *Error {
	return &Error{Code: CodeBadRequest, Message: fmt.Sprintf("encode %s: %v", quote(typ), err)}
}

// answers makes an empty answer for each type.
var answers = map[string]func() Answer{
	AnswerResult:   func() Answer { return new(Result) },
	AnswerWelcome:  func() Answer { return new(Welcome) },
	AnswerAck:      func() Answer { return new(Ack) },
	AnswerPong:     func() Answer { return new(Pong) },
	AnswerOutput:   func() Answer { return new(Output) },
	AnswerEvent:    func() Answer { return new(Event) },
	AnswerPins:     func() Answer { return new(Pins) },
	AnswerStatus:   func() Answer { return new(Status) },
	AnswerDescribe: func() Answer { return new(Describe) },
	AnswerToken:    func() Answer { return new(Tokens) },
	AnswerSim:      func() Answer { return new(SimAnswer) },
	AnswerConn:     func() Answer { return new(Conns) },
	AnswerBoard:    func() Answer { return new(BoardAnswer) },
}

// DecodeAnswer decodes a message of a terminal into a pointer to the struct of its type, [*Other] for a type that is not
// known. Unknown fields are ignored, so that a terminal may be newer than its client; text that two readers could read
// differently is an error as it is in requests. msg is not kept.
func DecodeAnswer(msg []byte) (Answer, error) {
	if err := checkText(msg, limits.JSONDepth); err != nil {
		return nil, fmt.Errorf("decode answer: %w", err)
	}
	var head Header
	if err := json.Unmarshal(msg, &head); err != nil {
		return nil, fmt.Errorf("decode answer: %w", err)
	}
	if head.Version != "" && head.Version != Version { // the seed's short forms have none
		return nil, fmt.Errorf("decode answer: version %s is not spoken here", quote(head.Version))
	}
	fresh, ok := answers[head.Type]
	if !ok {
		return &Other{Header: head, Raw: bytes.Clone(msg)}, nil
	}
	answer := fresh()
	if err := json.Unmarshal(msg, answer); err != nil {
		return nil, fmt.Errorf("decode answer of type %s: %w", head.Type, err)
	}
	return answer, nil
}

// checkText refuses what is not one JSON value in UTF-8 without duplicate keys, nested at most depth deep. It does not
// recurse, which readers after it do.
func checkText(text []byte, depth int) error {
	dec := jsontext.NewDecoder(bytes.NewBuffer(text))
	for {
		_, n := dec.StackIndex(0)
		done := dec.StackDepth() == 0 && n == 1
		_, err := dec.ReadToken()
		switch {
		case done && errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return syntaxError(err)
		case done:
			return errors.New("more than one JSON value")
		case dec.StackDepth() > depth:
			return fmt.Errorf("nested deeper than %d", depth)
		}
	}
}
