package client

import (
	"bytes"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pal-terminal/pal/limits"
	"github.com/pal-terminal/pal/protocol"
)

// Other is an answer of a type that this version does not know.
type Other struct {
	protocol.Header
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
	}{protocol.Version, id, typ, meta}
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
			return nil, &protocol.Error{Code: protocol.CodeInternal, Message: fmt.Sprintf("encode %q: %T is no body of a request", typ, body)}
		}
		if len(fields) > len("{}") {
			out = append(append(out[:len(out)-1], ','), fields[1:]...)
		}
	}
	if len(out) > limits.MessageBytes {
		return nil, &protocol.Error{Code: protocol.CodeTooLarge, Message: fmt.Sprintf("the message is longer than %d bytes", limits.MessageBytes)}
	}
	return out, nil
}

func requestTextError(typ string, err error) *protocol.Error {
	return &protocol.Error{Code: protocol.CodeBadRequest, Message: fmt.Sprintf("encode %q: %v", typ, err)}
}

// answers makes an empty answer for each type.
var answers = map[string]func() protocol.Answer{
	protocol.AnswerResult:   func() protocol.Answer { return new(protocol.Result) },
	protocol.AnswerWelcome:  func() protocol.Answer { return new(protocol.Welcome) },
	protocol.AnswerAck:      func() protocol.Answer { return new(protocol.Ack) },
	protocol.AnswerPong:     func() protocol.Answer { return new(protocol.Pong) },
	protocol.AnswerOutput:   func() protocol.Answer { return new(protocol.Output) },
	protocol.AnswerEvent:    func() protocol.Answer { return new(protocol.Event) },
	protocol.AnswerPins:     func() protocol.Answer { return new(protocol.Pins) },
	protocol.AnswerStatus:   func() protocol.Answer { return new(protocol.Status) },
	protocol.AnswerDescribe: func() protocol.Answer { return new(protocol.Describe) },
	protocol.AnswerToken:    func() protocol.Answer { return new(protocol.Tokens) },
	protocol.AnswerSim:      func() protocol.Answer { return new(protocol.SimAnswer) },
	protocol.AnswerConn:     func() protocol.Answer { return new(protocol.Conns) },
	protocol.AnswerFS:       func() protocol.Answer { return new(protocol.FSAnswer) },
	protocol.AnswerBoard:    func() protocol.Answer { return new(protocol.BoardAnswer) },

	protocol.AnswerTask:       func() protocol.Answer { return new(protocol.TaskAnswer) },
	protocol.AnswerTasks:      func() protocol.Answer { return new(protocol.Tasks) },
	protocol.AnswerTaskResult: func() protocol.Answer { return new(protocol.TaskResults) },
	protocol.AnswerLease:      func() protocol.Answer { return new(protocol.Leases) },
	protocol.AnswerApproval:   func() protocol.Answer { return new(protocol.Approvals) },
	protocol.AnswerAudit:      func() protocol.Answer { return new(protocol.AuditAnswer) },
	protocol.AnswerSafeMode:   func() protocol.Answer { return new(protocol.SafeModeAnswer) },
}

// DecodeAnswer decodes a message of a terminal into a pointer to the struct of its type, [*Other] for a type that is not
// known. Unknown fields are ignored, so that a terminal may be newer than its client; text that two readers could read
// differently is an error as it is in requests. msg is not kept.
func DecodeAnswer(msg []byte) (protocol.Answer, error) {
	if err := protocol.CheckText(msg, limits.JSONDepth); err != nil {
		return nil, fmt.Errorf("decode answer: %w", err)
	}
	var head protocol.Header
	if err := json.Unmarshal(msg, &head); err != nil {
		return nil, fmt.Errorf("decode answer: %w", err)
	}
	if head.Version != "" && head.Version != protocol.Version { // the seed's short forms have none
		return nil, fmt.Errorf("decode answer: version %q is not spoken here", head.Version)
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
