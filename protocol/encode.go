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

// Types of answers. One that answers a request of its own name is called after it.
const (
	AnswerResult   = "result"
	AnswerWelcome  = "welcome"
	AnswerAck      = "ack"
	AnswerPong     = "pong"
	AnswerOutput   = "output"
	AnswerEvent    = "event"
	AnswerPins     = TypePins
	AnswerStatus   = TypeStatus
	AnswerDescribe = TypeDescribe
	AnswerToken    = TypeToken
	AnswerSim      = TypeSim
	AnswerConn     = TypeConn
	AnswerBoard    = TypeBoard
	AnswerFS       = TypeFS

	AnswerTask       = "task"
	AnswerTasks      = "tasks"
	AnswerTaskResult = TypeTaskResult
	AnswerLease      = TypeLease
	AnswerApproval   = TypeApproval
	AnswerAudit      = TypeAudit
	AnswerSafeMode   = TypeSafeMode
)

// Answer is a message of the terminal: every struct of this package that starts with a [Header].
type Answer interface {
	// Head returns the header.
	Head() Header
}

// Head returns the header itself.
func (h Header) Head() Header { return h }

// NewHeader returns the header of an answer of type typ to the request with the id; nil when the request had none.
func NewHeader(id *string, typ string) Header {
	return Header{Version: Version, ID: id, Type: typ}
}

// Refuse returns the result that tells a client of err. An [*Error] anywhere in err's chain keeps all it says; any other
// error is internal.
func Refuse(id *string, err error) Result {
	res := Result{Header: NewHeader(id, AnswerResult), Error: true}
	e, ok := errors.AsType[*Error](err)
	if !ok {
		message := "no reason was given"
		if err != nil {
			message = err.Error()
		}
		e = &Error{Code: CodeInternal, Message: message}
	}
	kept, _ := Cut([]byte(e.Message), limits.ReasonBytes)
	res.Code, res.Retryable, res.Message = e.Code, e.Code.Retryable(), string(kept)
	res.Resource, res.Rule, res.Holder, res.Nearest, res.ApprovalID = e.Resource, e.Rule, e.Holder, e.Nearest, e.ApprovalID
	return res
}

// Readdress returns a stored answer as the answer to another request: the same message with that request's id.
func Readdress(stored []byte, id *string) ([]byte, error) {
	var m struct {
		Header
		Rest jsontext.Value `json:",embed"`
	}
	if err := json.Unmarshal(stored, &m, encoding); err != nil {
		return nil, fmt.Errorf("read stored answer: %w", err)
	}
	m.ID = id
	return json.Marshal(m, encoding)
}

// encoding is how answers are written: the same value always gives the same bytes, and what is not UTF-8 becomes U+FFFD
// rather than costing the client its answer. Raw values (meta) keep their strings as they were written.
var encoding = json.JoinOptions(
	json.Deterministic(true),
	jsontext.AllowInvalidUTF8(true),
	jsontext.PreserveRawStrings(true),
)

// Encode returns the bytes of an answer, an [Answer] or a pointer to one: one line, valid UTF-8, at most
// limits.MessageBytes. Lists are never null. A [Result] that would be longer loses the ends of its longest texts, and says
// so as it does for output over max_output; another answer that is longer, or holds a raw value that is not JSON, is an
// error: too_large or internal, for [Refuse].
func Encode(answer any) ([]byte, error) {
	switch a := answer.(type) {
	case Result:
		return encodeResult(a)
	case *Result:
		return encodeResult(*a)
	case Event:
		return encodeEvent(a)
	case *Event:
		return encodeEvent(*a)
	case Answer:
		return encode(a)
	default:
		return nil, &Error{Code: CodeInternal, Message: fmt.Sprintf("%T is no answer", answer)}
	}
}

func encode(answer Answer) ([]byte, error) {
	out, err := json.Marshal(answer, encoding)
	if err != nil {
		return nil, &Error{Code: CodeInternal, Message: "encode the answer: " + err.Error()}
	}
	if len(out) > limits.MessageBytes {
		return nil, tooLarge("the answer", limits.MessageBytes)
	}
	return out, nil
}

// encodeEvent writes an event, whose data is always an object.
func encodeEvent(e Event) ([]byte, error) {
	switch {
	case len(e.Data) == 0:
		e.Data = jsontext.Value("{}")
	case e.Data.Kind() != '{':
		return nil, &Error{Code: CodeInternal, Message: "encode the answer: the data of an event must be an object"}
	}
	return encode(e)
}

// encodeResult writes a result. Escapes and replacement characters can make output that was within its bounds longer than a
// message: a client must get an answer even then.
func encodeResult(r Result) ([]byte, error) {
	const leastWorthCutting = 1 << 10
	if r.Exception != nil {
		own := *r.Exception // the caller's stays as it is
		r.Exception = &own
	}
	for {
		out, err := encode(r)
		if e, ok := errors.AsType[*Error](err); !ok || e.Code != CodeTooLarge {
			return out, err
		}
		longest := &r.Stdout
		for _, text := range r.texts() {
			if len(*text) > len(*longest) {
				longest = text
			}
		}
		if len(*longest) < leastWorthCutting {
			return nil, err
		}
		kept, dropped := Cut([]byte(*longest), len(*longest)/2)
		*longest, r.Truncated, r.DroppedBytes = string(kept), true, r.DroppedBytes+dropped
	}
}

// texts returns the parts of a result whose length the guest decides.
func (r *Result) texts() []*string {
	all := []*string{&r.Stdout, &r.Stderr}
	if r.Exception != nil {
		all = append(all, &r.Exception.Message, &r.Exception.Traceback)
	}
	return all
}

// GuestValue checks JSON that came out of a guest and is to travel inside an answer: one value in UTF-8, at most limit bytes,
// no duplicate keys, nested less deep than a message may be. It returns a compact copy.
func GuestValue(raw []byte, limit int) (jsontext.Value, error) {
	if len(raw) > limit {
		return nil, tooLarge("the value", limit)
	}
	if err := CheckText(raw, limits.JSONDepth-1); err != nil {
		return nil, &Error{Code: CodeBadJSON, Message: err.Error()}
	}
	v := jsontext.Value(bytes.Clone(raw))
	if err := v.Compact(); err != nil {
		return nil, &Error{Code: CodeBadJSON, Message: err.Error()}
	}
	return v, nil
}

// EventData makes event data of what a guest pushed: nothing and null become an empty object, an object is itself, and any
// other value stands under "value". The rules of [GuestValue] hold, with limits.EventDataBytes.
func EventData(raw []byte) (jsontext.Value, error) {
	if len(raw) == 0 {
		return jsontext.Value("{}"), nil
	}
	v, err := GuestValue(raw, limits.EventDataBytes)
	if err != nil {
		return nil, err
	}
	switch v.Kind() {
	case 'n':
		return jsontext.Value("{}"), nil
	case '{':
		return v, nil
	default:
		return jsontext.Value(`{"value":` + string(v) + `}`), nil
	}
}

// CheckText refuses what is not one JSON value in UTF-8 without duplicate keys, nested at most depth deep. It does not
// recurse, which readers after it do.
func CheckText(text []byte, depth int) error {
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
