package transport

import (
	"bytes"
	"context"
	"fmt"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/pal-terminal/pal/limits"
)

// Pipe returns the two ends of a connection in memory. It is made of channels and timers only, so it works in a bubble of
// testing/synctest, and holds at most limits.PipeQueue messages each way.
func Pipe() (Conn, Conn) {
	there, back := make(chan []byte, limits.PipeQueue), make(chan []byte, limits.PipeQueue)
	a := &pipeEnd{in: back, out: there, closed: make(chan struct{})}
	b := &pipeEnd{in: there, out: back, closed: make(chan struct{})}
	a.peer, b.peer = b, a
	return a, b
}

// pipeEnd is one end of a Pipe. The message channels are never closed: the closed channels say that an end is gone.
type pipeEnd struct {
	in   <-chan []byte
	out  chan<- []byte
	peer *pipeEnd

	once   sync.Once
	closed chan struct{} // closed by Close of this end
	reason string        // written before closed is closed
}

func (p *pipeEnd) Read(ctx context.Context) ([]byte, error) {
	if p.isClosed() {
		return nil, ErrClosed
	}
	select {
	case message := <-p.in:
		return p.take(message)
	case <-p.closed:
		return nil, ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-p.peer.closed:
	}
	select {
	case message := <-p.in: // sent before the peer closed
		return p.take(message)
	default:
		return nil, ClosedBy(p.peer.reason)
	}
}

func (p *pipeEnd) take(message []byte) ([]byte, error) {
	switch {
	case p.isClosed():
		return nil, ErrClosed
	case len(message) > limits.MessageBytes:
		return nil, ErrTooLarge
	case !utf8.Valid(message):
		return nil, ErrNotText
	}
	return message, nil
}

func (p *pipeEnd) Write(ctx context.Context, message []byte) error {
	switch {
	case p.isClosed():
		return ErrClosed
	case p.peer.isClosed():
		return ClosedBy(p.peer.reason)
	case ctx.Err() != nil:
		return ctx.Err()
	}
	message = bytes.Clone(message)
	select {
	case p.out <- message:
		return nil
	default:
	}
	patience := time.NewTimer(limits.ConnWriteTimeout)
	defer patience.Stop()
	select {
	case p.out <- message:
		return nil
	case <-p.closed:
		return ErrClosed
	case <-p.peer.closed:
		return ClosedBy(p.peer.reason)
	case <-ctx.Done():
		return ctx.Err()
	case <-patience.C:
		p.shut("the other end takes nothing")
		return fmt.Errorf("%w: the peer took nothing for %v", ErrClosed, limits.ConnWriteTimeout)
	}
}

func (p *pipeEnd) Close(reason string) error {
	p.shut(reason)
	return nil
}

func (p *pipeEnd) shut(reason string) {
	p.once.Do(func() {
		p.reason = reason
		close(p.closed)
	})
}

func (p *pipeEnd) isClosed() bool {
	select {
	case <-p.closed:
		return true
	default:
		return false
	}
}

func (p *pipeEnd) Info() Info { return Info{Transport: "pipe", Remote: "pipe"} }

// ClosedBy returns ErrClosed with the reason that the peer gave, if it gave one. For implementations of Conn.
func ClosedBy(reason string) error {
	if reason == "" {
		return ErrClosed
	}
	return fmt.Errorf("%w: %s", ErrClosed, reason)
}
