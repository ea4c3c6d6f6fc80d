package transport_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pal-terminal/pal/limits"
	"github.com/pal-terminal/pal/transport"
	"github.com/pal-terminal/pal/transport/transporttest"
)

func TestPipeContract(t *testing.T) {
	transporttest.Run(t, func(t *testing.T) (a, b transport.Conn) {
		a, b = transport.Pipe()
		t.Cleanup(func() {
			_ = a.Close("")
			_ = b.Close("")
		})
		return a, b
	})
}

// TestPipeWriteTimeout: a peer that takes nothing is not waited for longer than the limit, and the connection is over then.
func TestPipeWriteTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := transport.Pipe()
		start := time.Now()
		for range limits.PipeQueue {
			if err := a.Write(t.Context(), []byte("x")); err != nil {
				t.Fatalf("Write with room: %v", err)
			}
		}
		if took := time.Since(start); took != 0 {
			t.Errorf("Write with room took %v, want no time", took)
		}
		if err := a.Write(t.Context(), []byte("x")); !errors.Is(err, transport.ErrClosed) {
			t.Errorf("Write to a stalled peer: got error %v, want %v", err, transport.ErrClosed)
		}
		if took := time.Since(start); took != limits.ConnWriteTimeout {
			t.Errorf("Write to a stalled peer took %v, want %v", took, limits.ConnWriteTimeout)
		}
		for range limits.PipeQueue { // what was taken still arrives
			if _, err := b.Read(t.Context()); err != nil {
				t.Fatalf("Read of what was sent before: %v", err)
			}
		}
		if _, err := b.Read(t.Context()); !errors.Is(err, transport.ErrClosed) {
			t.Errorf("Read after the timeout: got error %v, want %v", err, transport.ErrClosed)
		}
	})
}

// TestPipeStaysAfterCancel: unlike a socket, a pipe survives a context that ends.
func TestPipeStaysAfterCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := transport.Pipe()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := a.Read(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Read: got error %v, want %v", err, context.DeadlineExceeded)
		}
		if err := b.Write(t.Context(), []byte("later")); err != nil {
			t.Fatalf("Write: %v", err)
		}
		if got, err := a.Read(t.Context()); err != nil || string(got) != "later" {
			t.Errorf("Read: got %q and error %v, want %q", got, err, "later")
		}
	})
}
