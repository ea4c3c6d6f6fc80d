// Package ws carries PAL messages over WebSocket: one text frame, one message.
//
// # Model
//
// [Handler] takes HTTP requests on one path. Before it upgrades, it checks where the request comes from ([Origins]) and asks
// Options.Admit, so a stranger costs an HTTP answer and nothing more. After the upgrade it hands the live connection to
// Options.Accept on the request's own goroutine. [Dial] is the client's side. [Limit] and [NewServer] bound the sockets of
// those who have not said who they are.
//
// # What it refuses
//
// A browser page of another origin, and a name that an attacker made point here (DNS rebinding). Tokens anywhere but in the
// Authorization header: addresses end up in logs. Binary messages and invalid UTF-8 (transport.ErrNotText), messages over
// limits.MessageBytes (transport.ErrTooLarge): both are skipped and the connection stays up. Compression is never agreed:
// it costs memory for each connection and mixes secrets with guest text. Pings are answered and never needed.
package ws

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/coder/websocket"

	"github.com/pal-terminal/pal/limits"
	"github.com/pal-terminal/pal/transport"
)

// firstRead is what a message's buffer starts with: most messages fit and cost one read.
const firstRead = 2 << 10

// conn is one WebSocket as a transport.Conn.
type conn struct {
	ws   *websocket.Conn
	raw  net.Conn // the socket under ws, to end what ws would wait for
	info transport.Info

	writeTimeout time.Duration

	once    sync.Once
	closing atomic.Bool // nothing more goes in or out
}

func newConn(ws *websocket.Conn, raw net.Conn, info transport.Info) *conn {
	ws.SetReadLimit(-1) // the library's limit would end the connection; read has its own
	return &conn{ws: ws, raw: raw, info: info, writeTimeout: limits.ConnWriteTimeout}
}

func (c *conn) Info() transport.Info { return c.info }

func (c *conn) Read(ctx context.Context) ([]byte, error) {
	if c.closing.Load() {
		return nil, transport.ErrClosed
	}
	kind, r, err := c.ws.Reader(ctx)
	if err != nil {
		return nil, c.ended(ctx, err)
	}
	message, whole, err := readMessage(r)
	switch {
	case err != nil:
		return nil, c.ended(ctx, err)
	case c.closing.Load():
		return nil, transport.ErrClosed
	case !whole:
		return nil, c.drain(ctx, r)
	case kind != websocket.MessageText || !utf8.Valid(message):
		return nil, transport.ErrNotText
	}
	return message, nil
}

// readMessage reads r to its end, or says that more than limits.MessageBytes came.
func readMessage(r io.Reader) (message []byte, whole bool, err error) {
	message = make([]byte, 0, firstRead)
	for {
		if len(message) == cap(message) {
			grown := make([]byte, len(message), min(2*cap(message), limits.MessageBytes+1))
			copy(grown, message)
			message = grown
		}
		n, err := r.Read(message[len(message):cap(message)])
		message = message[:len(message)+n]
		switch {
		case len(message) > limits.MessageBytes:
			return nil, false, nil
		case errors.Is(err, io.EOF):
			return message, true, nil
		case err != nil:
			return nil, false, err
		}
	}
}

// drain skips the rest of an oversized message, so that the next one can be read. Somebody who sends without end is cut off.
func (c *conn) drain(ctx context.Context, r io.Reader) error {
	buf := make([]byte, firstRead)
	for skipped := limits.MessageBytes; skipped <= limits.MessageDrainBytes; {
		n, err := r.Read(buf)
		skipped += n
		if errors.Is(err, io.EOF) {
			return transport.ErrTooLarge
		}
		if err != nil {
			return c.ended(ctx, err)
		}
	}
	c.cut() // no goodbye, which would have to read on to find the answer
	return transport.ClosedBy("the peer sent a message without end")
}

func (c *conn) Write(ctx context.Context, message []byte) error {
	if c.closing.Load() {
		return transport.ErrClosed
	}
	patient, cancel := context.WithTimeout(ctx, c.writeTimeout)
	defer cancel()
	err := c.ws.Write(patient, websocket.MessageText, message)
	if err == nil {
		return nil
	}
	switch {
	case ctx.Err() != nil:
		c.cut()
		return ctx.Err()
	case patient.Err() != nil:
		c.cut()
		return fmt.Errorf("%w: the peer took nothing for %v", transport.ErrClosed, c.writeTimeout)
	case errors.Is(err, net.ErrClosed):
		return transport.ErrClosed
	}
	// Not cut: what the peer sent before it left can still be read.
	return fmt.Errorf("%w: %w", transport.ErrClosed, err)
}

// ended turns the library's reading error into the contract's and makes sure that nothing of the connection is left.
func (c *conn) ended(ctx context.Context, err error) error {
	c.cut()
	var said websocket.CloseError
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &said):
		return transport.ClosedBy(said.Reason)
	case errors.Is(err, io.EOF), errors.Is(err, net.ErrClosed):
		return transport.ErrClosed
	default:
		return fmt.Errorf("%w: %w", transport.ErrClosed, err)
	}
}

func (c *conn) Close(reason string) error {
	// It says goodbye and waits for the answer. Closing the socket in the end is what unblocks a Read or Write of a peer that
	// no longer answers, and the library's own waits, which are longer.
	c.once.Do(func() {
		c.closing.Store(true)
		patience := time.AfterFunc(limits.ConnCloseTimeout, func() { _ = c.raw.Close() })
		defer patience.Stop()
		// Errors only say that the peer was gone already, which is what was asked for.
		_ = c.ws.Close(websocket.StatusNormalClosure, cutReason(reason))
		_ = c.raw.Close()
	})
	return nil
}

// cut ends the connection without a word. It waits for a goodbye that is under way.
func (c *conn) cut() {
	c.once.Do(func() {
		c.closing.Store(true)
		_ = c.raw.Close()
		_ = c.ws.CloseNow()
	})
}

// cutReason makes reason fit a close frame: 123 bytes of valid UTF-8.
func cutReason(reason string) string {
	const most = 123
	if len(reason) <= most {
		return reason
	}
	end := most
	for end > 0 && !utf8.RuneStart(reason[end]) {
		end--
	}
	return reason[:end]
}
