package protocol

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pal-terminal/pal/limits"
)

// Decode decodes one message of a client.
//
// The error is always an [*Error]: bad_json when the bytes are not one strict JSON object, unsupported_version, too_large
// when the message or something in it is longer than its bound, bad_request for the rest. The request is never nil: also
// with an error it carries the id, where the message had exactly one usable id, and the type as far as it is known, so that
// the refusal can echo them. With an error nothing else in it is set.
//
// msg is not kept: Meta is a copy.
func Decode(msg []byte) (*Request, error) {
	if len(msg) > limits.MessageBytes {
		return &Request{Version: Version}, tooLarge("the message", limits.MessageBytes)
	}
	s := scanMessage(msg)
	req := &Request{Version: Version, ID: s.id, Type: s.typeName()}
	if s.problem != nil {
		return req, s.problem
	}
	if s.present.has("version") && s.version != Version {
		return req, &Error{
			Code: CodeUnsupportedVersion, Nearest: []string{Version},
			Message: fmt.Sprintf("version %s is not spoken here, %q is", quote(s.version), Version),
		}
	}
	decode, ok := bodies[req.Type]
	if !ok && slices.Contains(later, req.Type) {
		decode, ok = decodeUnavailable, true
	}
	if !ok {
		return req, &Error{Code: CodeBadRequest, Message: "unknown type " + quote(s.typ)}
	}
	meta, body, err := decode(msg, s.present)
	if err != nil {
		return req, err
	}
	if len(meta) > limits.MetaBytes {
		return req, tooLarge("meta", limits.MetaBytes)
	}
	req.Meta, req.Body, req.Hash = meta, body, sha256.Sum256(msg)
	if req.Type == TypeResultQuery {
		req.Type = TypeFetch
	}
	return req, nil
}

// typeName fills in the type of the seed's short forms: a message without one registers a task when it has a brief, and
// executes otherwise.
func (s *scan) typeName() string {
	switch {
	case len(s.typ) > limits.NameBytes:
		return "" // none that there is
	case s.present.has("type"):
		return s.typ
	case s.present.has("brief"):
		return TypeRegister
	default:
		return TypeExec
	}
}

// envelope is what every request has around the fields of its type.
type envelope struct {
	Version *string        `json:"version"`
	ID      *string        `json:"id"`
	Type    *string        `json:"type"`
	Meta    jsontext.Value `json:"meta"`
}

// wire is a whole request: the codec's view of a message of one type.
type wire[T any] struct {
	envelope
	Body T `json:",embed"`
}

// checker is a body with rules of its own. present holds the fields that were sent and not null.
type checker interface {
	check(present fields) *Error
}

// strict decodes requests. Duplicate names, invalid UTF-8 and names in another case are refused by default.
var strict = json.RejectUnknownMembers(true)

// decodeBody decodes a message whose type has the body T.
func decodeBody[T any](msg []byte, present fields) (jsontext.Value, any, error) {
	var w wire[T]
	if err := json.Unmarshal(msg, &w, strict); err != nil {
		return nil, nil, requestError(err)
	}
	if c, ok := any(&w.Body).(checker); ok {
		if err := c.check(present); err != nil {
			return nil, nil, err
		}
	}
	return w.meta(), &w.Body, nil
}

// decodeBare decodes a message whose type has no fields.
func decodeBare(msg []byte, _ fields) (jsontext.Value, any, error) {
	var w wire[struct{}]
	if err := json.Unmarshal(msg, &w, strict); err != nil {
		return nil, nil, requestError(err)
	}
	return w.meta(), nil, nil
}

// decodeUnavailable decodes the envelope of a message whose type is not in the product yet. What else it carries is
// unknown here and therefore not judged.
func decodeUnavailable(msg []byte, _ fields) (jsontext.Value, any, error) {
	var w wire[struct{}]
	if err := json.Unmarshal(msg, &w); err != nil {
		return nil, nil, requestError(err)
	}
	return w.meta(), &Unavailable{}, nil
}

// meta returns the message's meta, nil when it had none or null.
func (e *envelope) meta() jsontext.Value {
	if e.Meta.Kind() != '{' {
		return nil
	}
	return e.Meta
}

// requestError words an error of the JSON decoder for the sender.
func requestError(err error) *Error {
	sem, ok := errors.AsType[*json.SemanticError](err)
	if !ok {
		return &Error{Code: CodeBadJSON, Message: syntaxError(err).Error()}
	}
	at := sem.JSONPointer
	for at.Parent() != "" && strings.Trim(at.LastToken(), "0123456789") == "" {
		at = at.Parent() // an item of a list: name the list
	}
	field := at.LastToken()
	if errors.Is(sem.Err, json.ErrUnknownName) {
		return &Error{Code: CodeBadRequest, Message: "unknown field " + quote(field)}
	}
	if own, ok := errors.AsType[*valueError](sem.Err); ok {
		return &Error{Code: CodeBadRequest, Message: field + " " + own.Error()}
	}
	return &Error{Code: CodeBadRequest, Message: quote(field) + " must be " + typeWord(sem.GoType)}
}

// typeWord names a Go type the way a sender knows it.
func typeWord(t reflect.Type) string {
	if t == nil {
		return "another value"
	}
	if t == reflect.TypeFor[[]byte]() {
		return "base64 text"
	}
	switch t.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Float64:
		return "a number"
	case reflect.Bool:
		return "a boolean"
	case reflect.Int64:
		return "a whole number"
	case reflect.Uint64:
		return "a whole number of 0 or more"
	case reflect.Slice:
		return "a list"
	case reflect.Pointer:
		return typeWord(t.Elem())
	default:
		return "an object"
	}
}

// tooLarge refuses what is longer than limit bytes.
func tooLarge(what string, limit int) *Error {
	return &Error{Code: CodeTooLarge, Message: fmt.Sprintf("%s is longer than %d bytes", what, limit)}
}
