package protocol

import (
	"fmt"
	"math"
	"slices"
	"time"
	"unicode"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pal-terminal/pal/limits"
)

// bodies says how each type of request is decoded. A type that is neither here nor in later is not part of the protocol.
var bodies = map[string]func(msg []byte, present fields) (jsontext.Value, any, error){
	TypeHello:       decodeBody[Hello],
	TypeExec:        decodeBody[Exec],
	TypeInterrupt:   decodeBody[Target],
	TypeFetch:       decodeBody[Target],
	TypeResultQuery: decodeBody[Target],
	TypeDescribe:    decodeBare,
	TypeStatus:      decodeBody[StatusQuery],
	TypePins:        decodeBare,
	TypePinRead:     decodeBody[PinRead],
	TypePinSet:      decodeBody[PinSet],
	TypeSubscribe:   decodeBody[Subscribe],
	TypeUnsubscribe: decodeBody[Subscribe],
	TypeStop:        decodeBody[Stop],
	TypeEstopClear:  decodeBody[EstopClear],
	TypeToken:       decodeBody[Token],
	TypeSim:         decodeBody[Sim],
	TypeConn:        decodeBody[Conn],
	TypeBoard:       decodeBody[Board],
	TypePing:        decodeBare,
	TypeReset:       decodeBody[Reset],
	TypeTool:        decodeBody[Tool],
	TypeWatch:       decodeBody[Watch],
	TypeUnwatch:     decodeBody[Watch],
	TypeFS:          decodeBody[FS],

	TypeRegister:     decodeBody[Register],
	TypeCancel:       decodeBody[TaskRef],
	TypePause:        decodeBody[TaskRef],
	TypeResume:       decodeBody[TaskRef],
	TypeTrigger:      decodeBody[TaskRef],
	TypeTaskResult:   decodeBody[TaskRef],
	TypeList:         decodeBare,
	TypeLease:        decodeBody[Lease],
	TypeLeaseRelease: decodeBody[LeaseRelease],
	TypeApproval:     decodeBody[Approval],
	TypeAudit:        decodeBody[Audit],
	TypeSafeMode:     decodeBody[SafeMode],
}

// later are the types that belong to the protocol and not yet to the product.
var later = []string{
	"forward", "node", "trace", "policy", "device", "lua",
}

func (h *Hello) check(fields) *Error {
	return first(
		name("client", h.Client, limits.NameBytes),
		length("token", h.Token, limits.CredentialBytes),
		name("terminal", h.Terminal, limits.NameBytes),
		list("frames", h.Frames, limits.NameBytes),
	)
}

func (e *Exec) check(present fields) *Error {
	if e.Tool != nil {
		return &Error{Code: CodeBadRequest, Message: `an exec calls no tool: send type "tool" for that`}
	}
	return first(
		required(present, "code"),
		length("code", e.Code, limits.CodeBytes),
		milliseconds("timeout_ms", e.TimeoutMS),
		name("session", e.Session, limits.SessionNameBytes),
		e.checkMaxOutput(),
		name("approval_id", e.ApprovalID, limits.NameBytes),
		milliseconds("ttl_ms", e.TTLMS),
	)
}

func (e *Exec) checkMaxOutput() *Error {
	if e.MaxOutput == nil || *e.MaxOutput >= 1 && *e.MaxOutput <= limits.OutputMax {
		return nil
	}
	return &Error{Code: CodeBadRequest, Message: fmt.Sprintf("max_output must be from 1 to %d", limits.OutputMax)}
}

func (t *Target) check(present fields) *Error {
	return first(required(present, "target"), filled("target", t.Target), length("target", t.Target, limits.IDBytes))
}

func (s *StatusQuery) check(fields) *Error {
	if s.TaskID == nil {
		return nil
	}
	return name("task_id", *s.TaskID, limits.NameBytes)
}

func (p *PinRead) check(present fields) *Error {
	return word(present, "pin", string(p.Pin), limits.NameBytes)
}

func (p *PinSet) check(present fields) *Error {
	return first(word(present, "pin", string(p.Pin), limits.NameBytes), required(present, "value"))
}

func (s *Subscribe) check(fields) *Error {
	return list("events", s.Events, limits.EventNameBytes)
}

// check cuts a reason that is too long: a stop is not refused for what stands beside it.
func (s *Stop) check(fields) *Error {
	kept, _ := Cut([]byte(s.Reason), limits.ReasonBytes)
	s.Reason = string(kept)
	return nil
}

func (e *EstopClear) check(fields) *Error {
	return length("reason", e.Reason, limits.ReasonBytes)
}

func (t *Token) check(present fields) *Error {
	return first(
		op(present, t.Op, "create", "ls", "revoke"),
		name("name", t.Name, limits.NameBytes),
		name("class", t.Class, limits.NameBytes),
		list("scopes", t.Scopes, limits.NameBytes),
		milliseconds("ttl_ms", t.TTLMS),
	)
}

func (s *Sim) check(present fields) *Error {
	value := name("value", s.Value, limits.SimNameBytes)
	if s.Op == "scenario" || s.Op == "load" { // a text of many lines; bytes in base64
		value = length("value", s.Value, limits.SimScenarioBytes)
	}
	return first(op(present, s.Op), name("name", s.Name, limits.SimNameBytes), value)
}

func (c *Conn) check(present fields) *Error { return op(present, c.Op, "ls", "kick") }

func (b *Board) check(present fields) *Error {
	err := first(op(present, b.Op, "show", "source", "apply"), length("source", b.Source, limits.BoardFileBytes), length("confirm", b.Confirm, limits.NameBytes))
	if err == nil && b.Op == "apply" {
		err = first(required(present, "source"), required(present, "confirm"))
	}
	return err
}

func (r *Reset) check(fields) *Error {
	return name("session", r.Session, limits.SessionNameBytes)
}

// first returns the first error of a body's fields, in the order of the fields.
func first(errs ...*Error) *Error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// required refuses a message without the field.
func required(present fields, field string) *Error {
	if present.has(field) {
		return nil
	}
	return &Error{Code: CodeBadRequest, Message: field + " is required"}
}

// filled refuses an empty text.
func filled(field, value string) *Error {
	if value != "" {
		return nil
	}
	return &Error{Code: CodeBadRequest, Message: field + " must not be empty"}
}

// length bounds a text.
func length(field, value string, limit int) *Error {
	if len(value) <= limit {
		return nil
	}
	return tooLarge(field, limit)
}

// name bounds a word that people will see in tables and logs: no control or format characters, which could rewrite what a
// person reads on a terminal.
func name(field, value string, limit int) *Error {
	for _, r := range value {
		if !unicode.IsGraphic(r) {
			return &Error{Code: CodeBadRequest, Message: fmt.Sprintf("%s must not contain the character %U", field, r)}
		}
	}
	return length(field, value, limit)
}

// list bounds a list of names, none of them empty.
func list(field string, values []string, limit int) *Error {
	if len(values) > limits.ListItems {
		return &Error{Code: CodeTooLarge, Message: fmt.Sprintf("%s has more than %d items", field, limits.ListItems)}
	}
	for _, v := range values {
		if err := first(filled("an item of "+field, v), name(field, v, limit)); err != nil {
			return err
		}
	}
	return nil
}

// longestMS is the longest time in milliseconds that a time.Duration holds, 292 years: so that nobody's arithmetic overflows.
const longestMS = math.MaxInt64 / int64(time.Millisecond)

// milliseconds refuses a duration of no time and one that cannot be expressed. How long it may be otherwise is for whoever
// runs the request to say.
func milliseconds(field string, value *int64) *Error {
	switch {
	case value != nil && *value < 1:
		return &Error{Code: CodeBadRequest, Message: field + " must be 1 or more"}
	case value != nil && *value > longestMS:
		return &Error{Code: CodeBadRequest, Message: field + " is longer than any clock counts"}
	default:
		return nil
	}
}

// word requires a name that is not empty. Which pin or operation it is, others decide.
func word(present fields, field, value string, limit int) *Error {
	return first(required(present, field), filled(field, value), name(field, value, limit))
}

// op requires an operation, one of known when there are any.
func op(present fields, value string, known ...string) *Error {
	if err := word(present, "op", value, limits.NameBytes); err != nil {
		return err
	}
	if len(known) == 0 || slices.Contains(known, value) {
		return nil
	}
	return &Error{Code: CodeBadRequest, Message: "unknown op " + quote(value), Nearest: known}
}
