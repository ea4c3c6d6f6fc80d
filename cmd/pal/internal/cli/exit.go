package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/pal-terminal/pal/protocol"
	"github.com/pal-terminal/pal/transport"
)

// Exit codes. Scripts rely on them.
const (
	ExitOK          = 0
	ExitFailed      = 1 // a Python exception, or a check that failed
	ExitUsage       = 2 // the command or the message was wrong
	ExitUnavailable = 3 // the terminal could not be reached or could not do it now
	ExitDeadline    = 4 // it took too long
	ExitRefused     = 5 // the guard or the door said no
	ExitNotFound    = 6
	ExitInterrupted = 130
)

// usageError is a wrong command line.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

// Usage makes a wrong command line of an error.
func Usage(err error) error { return &usageError{err} }

// Usagef is an error of the command line.
func Usagef(format string, args ...any) error { return Usage(fmt.Errorf(format, args...)) }

// FailedError is a check that ran and did not pass.
type FailedError struct{ Message string }

func (e *FailedError) Error() string { return e.Message }

// silent is an error whose words have been printed already; only its exit code is left to give.
type silent struct{ err error }

func (e *silent) Error() string { return e.err.Error() }
func (e *silent) Unwrap() error { return e.err }

// Quiet marks an error as told already: only its exit code is left to give.
func Quiet(err error) error {
	if err == nil {
		return nil
	}
	return &silent{err}
}

// IsQuiet reports whether an error has been told.
func IsQuiet(err error) bool {
	var told *silent
	return errors.As(err, &told)
}

// ResultError is the error of a result, nil for one that went well.
func ResultError(r *protocol.Result) error {
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

// ExitCode is the one place that turns an error into an exit code.
func ExitCode(err error) int {
	var (
		refusal *protocol.Error
		wrong   *usageError
		failed  *FailedError
		guard   *guardError
	)
	switch {
	case err == nil:
		return ExitOK
	case errors.As(err, &wrong):
		return ExitUsage
	case errors.As(err, &failed):
		return ExitFailed
	case errors.As(err, &guard):
		return ExitRefused
	case errors.As(err, &refusal):
		return codeExit(refusal.Code)
	case errors.Is(err, transport.ErrUnauthorized), errors.Is(err, transport.ErrForbidden):
		return ExitRefused
	case errors.Is(err, context.Canceled):
		return ExitInterrupted
	default: // whatever else goes wrong is between here and the terminal, or this machine's own trouble
		return ExitUnavailable
	}
}

// IsUsage reports whether an error is about the command line, in words of our own.
func IsUsage(err error) bool {
	_, wrong := errors.AsType[*usageError](err)
	return wrong
}

// codeExit returns the exit code of a protocol code.
func codeExit(code protocol.Code) int {
	switch code {
	case protocol.CodePythonError:
		return ExitFailed
	case protocol.CodeBadJSON, protocol.CodeBadRequest, protocol.CodeUnsupportedVersion, protocol.CodeTooLarge:
		return ExitUsage
	case protocol.CodeDeadline:
		return ExitDeadline
	case protocol.CodeDenied, protocol.CodeApprovalNeeded, protocol.CodeUnauthorized, protocol.CodeEstopped,
		protocol.CodeConflict, protocol.CodeExpired, protocol.CodeIDReused:
		return ExitRefused
	case protocol.CodeNotFound:
		return ExitNotFound
	case protocol.CodeInterrupted:
		return ExitInterrupted
	case protocol.CodeBusy, protocol.CodeFull, protocol.CodeUnavailable, protocol.CodeStorage, protocol.CodeInternal,
		protocol.CodeVMRestarted, protocol.CodeWaitingForClock:
		return ExitUnavailable
	default: // a terminal newer than this program
		return ExitUnavailable
	}
}
