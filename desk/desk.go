// Package desk answers what is asked of one neighbour alone: the pin table's states, tokens, the simulated world, leases, approvals, the audit
// log. It puts their words into the protocol's.
//
// # Model
//
// Each function takes the neighbour and the request and returns the answer. Who may ask was decided by the door, but for what only the
// neighbour can know: who may approve.
//
// It refuses nothing by itself and moves no output.
package desk

import (
	"errors"
	"time"

	"github.com/pal-terminal/pal/board"
	"github.com/pal-terminal/pal/flash"
	"github.com/pal-terminal/pal/hw"
	"github.com/pal-terminal/pal/identity"
	"github.com/pal-terminal/pal/lease"
	"github.com/pal-terminal/pal/limits"
	"github.com/pal-terminal/pal/pin"
	"github.com/pal-terminal/pal/protocol"
)

// Refusal turns a refusal of the pin table into the protocol's.
func Refusal(err error) error {
	r, ok := errors.AsType[*pin.Refusal](err)
	if !ok {
		return err
	}
	return &protocol.Error{
		Code: protocol.Code(r.Code), Message: r.Message, Rule: r.Rule, Resource: r.Resource, Holder: r.Holder, Nearest: r.Nearest,
		ApprovalID: r.Approval,
	}
}

// Limits are those that a client should know.
func Limits(b *board.Description) map[string]int64 {
	return map[string]int64{
		"max_exec_ms": b.MaxExec.Milliseconds(), "timeout_ms": min(limits.ExecTimeoutDefault, b.MaxExec).Milliseconds(),
		"code_bytes": limits.CodeBytes, "message_bytes": limits.MessageBytes, "output_bytes": limits.OutputDefault,
		"max_output_bytes": limits.OutputMax, "waiting": limits.RequestsPerTerminal, "sessions": limits.SessionsPerActor,
		"json_depth": limits.JSONDepth, "event_ring": limits.EventRing,
	}
}

// Pins are the rows of the pin table, with who has claimed them.
func Pins(t *pin.Table, claims *lease.Book) []protocol.PinState {
	snap := t.Snapshot()
	list := make([]protocol.PinState, 0, len(snap))
	for _, s := range snap {
		list = append(list, pinState(claims, s))
	}
	return list
}

func pinState(claims *lease.Book, s pin.State) protocol.PinState {
	p := protocol.PinState{
		Pin: s.ID, Name: s.Name, Owner: s.Owner, Can: s.Can, Mode: s.Mode.String(), Danger: s.Danger, Rules: s.Rules,
		Driver: s.LastDriver, Tripped: s.Tripped, Fault: s.Fault, Note: s.Note,
		FreqHz: s.Freq, DutyU16: s.Duty,
	}
	if held, _, holder, _ := claims.Holder(pin.Caller{}, s.Handle); held {
		p.Lease = holder
	}
	if s.Level >= 0 {
		p.Level = &s.Level
	}
	if s.Safe >= 0 {
		p.Safe = &s.Safe
	}
	if s.Value != nil {
		p.Value, p.Unit = s.Value, s.Unit
	}
	return p
}

// Actor describes an identity without its secret.
func Actor(a identity.Actor) protocol.ActorInfo {
	info := protocol.ActorInfo{Name: a.Name, Class: string(a.Class), Scopes: []string{}, Ask: a.Ask}
	for _, s := range a.Scopes {
		info.Scopes = append(info.Scopes, string(s))
	}
	return info
}

func tokenInfo(i identity.Info) protocol.ActorInfo {
	info := Actor(i.Actor())
	info.CreatedMS = i.Created.UnixMilli()
	if !i.Expires.IsZero() {
		info.ExpiresMS = i.Expires.UnixMilli()
	}
	return info
}

// tokenError says in the protocol's words why a token could not be made or ended.
func tokenError(err error) error {
	code := protocol.CodeStorage
	switch {
	case errors.Is(err, identity.ErrInvalid):
		code = protocol.CodeBadRequest
	case errors.Is(err, identity.ErrExists):
		code = protocol.CodeConflict
	case errors.Is(err, identity.ErrNotFound):
		code = protocol.CodeNotFound
	case errors.Is(err, identity.ErrFull):
		code = protocol.CodeFull
	}
	return &protocol.Error{Code: code, Message: err.Error()}
}

// Exception is an exception of a program as text.
func Exception(e *hw.Exception) *protocol.Exception {
	return &protocol.Exception{
		Class: protocol.Text([]byte(e.Class)), Message: protocol.Text([]byte(e.Message)), Line: e.Line, Traceback: protocol.Text([]byte(e.Traceback)),
	}
}

// Effect is a drive as a client sees it, its time counted from start.
func Effect(e pin.Effect, start time.Time) protocol.Effect {
	return protocol.Effect{
		Pin: e.Pin, Name: e.Name, From: e.From, To: e.To, AtUS: e.At.Sub(start).Microseconds(), ReadBack: e.ReadBack, Cause: e.Cause,
		FreqHz: e.Freq, DutyU16: e.Duty,
	}
}

// Rights says what the code of a caller may do with outputs.
func Rights(c pin.Caller) flash.Rights {
	switch {
	case !c.Drive:
		return flash.Reading
	case c.Ask:
		return flash.Asking
	default:
		return flash.Full
	}
}

// Clean makes text of what a guest said, of at most limit of its bytes.
func Clean(text string, limit int) string {
	kept, _ := protocol.Cut([]byte(text), limit)
	return protocol.Text(kept)
}
