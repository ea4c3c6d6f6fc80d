package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/pal-terminal/pal/protocol"
	"github.com/pal-terminal/pal/transport"
)

// Exit codes. Scripts rely on them.
const (
	exitOK          = 0
	exitFailed      = 1 // a Python exception, or a check that failed
	exitUsage       = 2 // the command or the message was wrong
	exitUnavailable = 3 // the terminal could not be reached or could not do it now
	exitDeadline    = 4 // it took too long
	exitRefused     = 5 // the guard or the door said no
	exitNotFound    = 6
	exitInterrupted = 130
)

// usageError is a wrong command line.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

func usage(err error) error { return &usageError{err} }

func usagef(format string, args ...any) error { return usage(fmt.Errorf(format, args...)) }

// failedError is a check that ran and did not pass.
type failedError struct{ message string }

func (e *failedError) Error() string { return e.message }

// silent is an error whose words have been printed already; only its exit code is left to give.
type silent struct{ err error }

func (e *silent) Error() string { return e.err.Error() }
func (e *silent) Unwrap() error { return e.err }

// resultError is the error of a result, nil for one that went well.
func resultError(r *protocol.Result) error {
	if !r.Error {
		return nil
	}
	err := &protocol.Error{Code: r.Code, Message: r.Message, Resource: r.Resource, Rule: r.Rule, Holder: r.Holder, Nearest: r.Nearest}
	if r.Refusal != 0 {
		return &guardError{err}
	}
	return err
}

// guardError is a refusal of the guard that a program did not catch. Whatever its code, the exec was refused.
type guardError struct{ err *protocol.Error }

func (e *guardError) Error() string { return e.err.Error() }
func (e *guardError) Unwrap() error { return e.err }

// exitCode is the one place that turns an error into an exit code.
func exitCode(err error) int {
	var (
		refusal *protocol.Error
		wrong   *usageError
		failed  *failedError
		guard   *guardError
	)
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &wrong):
		return exitUsage
	case errors.As(err, &failed):
		return exitFailed
	case errors.As(err, &guard):
		return exitRefused
	case errors.As(err, &refusal):
		return codeExit(refusal.Code)
	case errors.Is(err, transport.ErrUnauthorized), errors.Is(err, transport.ErrForbidden):
		return exitRefused
	case errors.Is(err, context.Canceled):
		return exitInterrupted
	default: // whatever else goes wrong is between here and the terminal, or this machine's own trouble
		return exitUnavailable
	}
}

// codeExit returns the exit code of a protocol code.
func codeExit(code protocol.Code) int {
	switch code {
	case protocol.CodePythonError:
		return exitFailed
	case protocol.CodeBadJSON, protocol.CodeBadRequest, protocol.CodeUnsupportedVersion, protocol.CodeTooLarge:
		return exitUsage
	case protocol.CodeDeadline:
		return exitDeadline
	case protocol.CodeDenied, protocol.CodeApprovalNeeded, protocol.CodeUnauthorized, protocol.CodeEstopped,
		protocol.CodeConflict, protocol.CodeExpired, protocol.CodeIDReused:
		return exitRefused
	case protocol.CodeNotFound:
		return exitNotFound
	case protocol.CodeInterrupted:
		return exitInterrupted
	case protocol.CodeBusy, protocol.CodeFull, protocol.CodeUnavailable, protocol.CodeStorage, protocol.CodeInternal,
		protocol.CodeVMRestarted, protocol.CodeWaitingForClock:
		return exitUnavailable
	default: // a terminal newer than this program
		return exitUnavailable
	}
}
