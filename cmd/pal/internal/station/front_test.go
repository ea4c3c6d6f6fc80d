package station

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/pal-terminal/pal/limits"
	"github.com/pal-terminal/pal/protocol"
	"github.com/pal-terminal/pal/transport"
)

func TestCarrierError(t *testing.T) {
	for code, want := range map[protocol.Code]error{
		protocol.CodeUnauthorized: transport.ErrUnauthorized,
		protocol.CodeDenied:       transport.ErrForbidden,
		protocol.CodeBusy:         transport.ErrBusy,
		protocol.CodeUnavailable:  transport.ErrBusy,
	} {
		err := carrierError(&protocol.Error{Code: code, Message: "because"})
		if !errors.Is(err, want) || !strings.Contains(err.Error(), "because") {
			t.Errorf("carrierError(%s): got %v, want %v with the reason", code, err, want)
		}
	}
	if err := carrierError(nil); err != nil {
		t.Errorf("carrierError(nil): got %v", err)
	}
	other := errors.New("other")
	if err := carrierError(other); !errors.Is(err, other) {
		t.Errorf("carrierError(other): got %v", err)
	}
}

// What is wrong with one message must be a refusal of that message, and the next one must come through.
func TestLinkReadsOn(t *testing.T) {
	near, far := transport.Pipe()
	defer near.Close("done")
	l := link{far}
	for _, c := range []struct {
		message string
		want    protocol.Code
	}{
		{strings.Repeat("x", limits.MessageBytes+1), protocol.CodeTooLarge},
		{"\xff", protocol.CodeBadJSON},
		{"{}", ""},
	} {
		if err := near.Write(t.Context(), []byte(c.message)); err != nil {
			t.Fatal(err)
		}
		message, err := l.Read(t.Context())
		if c.want == "" {
			if err != nil || string(message) != c.message {
				t.Errorf("Read: got %q, %v, want %q", message, err, c.message)
			}
			continue
		}
		refusal, ok := errors.AsType[*protocol.Error](err)
		if !ok || refusal.Code != c.want {
			t.Errorf("Read: got %v, want a refusal with %s", err, c.want)
		}
	}
	near.Close("bye")
	if _, err := l.Read(context.Background()); !errors.Is(err, transport.ErrClosed) {
		t.Errorf("Read of a closed connection: got %v, want ErrClosed", err)
	}
}
