package bus

import (
	"context"
	"errors"
	"fmt"

	"github.com/pal-terminal/pal/board"
	"github.com/pal-terminal/pal/hw"
	"github.com/pal-terminal/pal/pin"
)

// Rules a refusal of the gate can name, beside those of package pin.
const (
	RuleUnknownBus = "unknown bus" // the board has no bus of that number
	RuleLines      = "bus lines"   // the lines named are not the lines of that bus
	RuleClosed     = "bus closed"  // nobody has opened it, or it was closed
)

// Error numbers, as MicroPython has them.
const (
	eio        = 5
	eacces     = 13
	ebusy      = 16
	enodev     = 19
	einval     = 22
	eopnotsupp = 95
	etimedout  = 110
)

// Protocol codes of refusals.
const (
	codeDenied      = "denied"
	codeConflict    = "conflict"
	codeNotFound    = "not_found"
	codeBadRequest  = "bad_request"
	codeUnavailable = "unavailable"
)

var (
	errLate  = errors.New("it did not end in time")
	errStuck = errors.New("its driver does not answer")
	errShut  = errors.New("the gate is closed: nothing was begun")
)

func refuse(errno int, code, rule, resource, format string, args ...any) *pin.Refusal {
	return &pin.Refusal{Errno: errno, Code: code, Rule: rule, Resource: resource, Message: fmt.Sprintf(format, args...)}
}

// bad refuses a call that makes no sense.
func bad(resource, format string, args ...any) *pin.Refusal {
	return refuse(einval, codeBadRequest, pin.RuleArgument, resource, format, args...)
}

func shutting(resource string) *pin.Refusal {
	return refuse(eio, codeUnavailable, pin.RuleClosed, resource, "the guard is shutting down")
}

// wireReply makes of an error what a call answers: a refusal stays one, the rest is what went wrong on the wire.
func wireReply(err error) (hw.Reply, error) {
	if r, ok := errors.AsType[*pin.Refusal](err); ok {
		return hw.Reply{}, r
	}
	errno := int32(eio)
	switch {
	case errors.Is(err, board.ErrNoDevice):
		errno = enodev
	case errors.Is(err, board.ErrUnsupported):
		errno = eopnotsupp
	case errors.Is(err, board.ErrHeld), errors.Is(err, errLate), errors.Is(err, errStuck),
		errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		errno = etimedout
	}
	return hw.Reply{Errno: errno, Text: err.Error()}, nil
}
