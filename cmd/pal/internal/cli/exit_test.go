package cli

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/pal-terminal/pal/protocol"
	"github.com/pal-terminal/pal/transport"
)

func TestExitCode(t *testing.T) {
	for code, want := range map[protocol.Code]int{
		protocol.CodePythonError:        1,
		protocol.CodeBadJSON:            2,
		protocol.CodeBadRequest:         2,
		protocol.CodeUnsupportedVersion: 2,
		protocol.CodeTooLarge:           2,
		protocol.CodeBusy:               3,
		protocol.CodeFull:               3,
		protocol.CodeUnavailable:        3,
		protocol.CodeStorage:            3,
		protocol.CodeInternal:           3,
		protocol.CodeVMRestarted:        3,
		protocol.CodeWaitingForClock:    3,
		protocol.CodeDeadline:           4,
		protocol.CodeDenied:             5,
		protocol.CodeApprovalNeeded:     5,
		protocol.CodeUnauthorized:       5,
		protocol.CodeEstopped:           5,
		protocol.CodeConflict:           5,
		protocol.CodeExpired:            5,
		protocol.CodeIDReused:           5,
		protocol.CodeNotFound:           6,
		protocol.CodeInterrupted:        130,
		"a_code_of_the_future":          3,
	} {
		err := fmt.Errorf("exec: %w", &protocol.Error{Code: code, Message: "m"})
		if got := ExitCode(err); got != want {
			t.Errorf("exitCode(%s): got %d, want %d", code, got, want)
		}
		result := &protocol.Result{Error: true, Code: code}
		if got := ExitCode(Quiet(ResultError(result))); got != want {
			t.Errorf("exitCode of a result with %s: got %d, want %d", code, got, want)
		}
	}
	for _, c := range []struct {
		err  error
		want int
	}{
		{nil, 0},
		{ResultError(&protocol.Result{}), 0},
		{Quiet(nil), 0},
		{ResultError(&protocol.Result{Error: true, Code: protocol.CodeNotFound}), 6},
		{ResultError(&protocol.Result{Error: true, Code: protocol.CodeNotFound, Refusal: 1}), 5}, // of the guard to a program
		{Usagef("no"), 2},
		{&FailedError{Message: "lint"}, 1},
		{fmt.Errorf("dial: %w", transport.ErrUnauthorized), 5},
		{fmt.Errorf("dial: %w", transport.ErrForbidden), 5},
		{fmt.Errorf("dial: %w", transport.ErrBusy), 3},
		{fmt.Errorf("read: %w", transport.ErrClosed), 3},
		{fmt.Errorf("wait: %w", context.Canceled), 130},
		{errors.New("anything else"), 3},
	} {
		if got := ExitCode(c.err); got != c.want {
			t.Errorf("exitCode(%v): got %d, want %d", c.err, got, c.want)
		}
	}
}

func TestOneLine(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{
		{nil, ""},
		{Quiet(errors.New("told")), ""},
		{errors.Join(errors.New("a"), errors.New("b")), "a; b"},
		{fmt.Errorf("wait: %w", context.Canceled), "interrupted"},
	} {
		if got := OneLine(c.err); got != c.want {
			t.Errorf("oneLine(%v): got %q, want %q", c.err, got, c.want)
		}
	}
}
