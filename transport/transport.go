// Package transport is the seam between whatever carries PAL messages and whoever speaks PAL.
//
// # Model
//
// A [Conn] moves whole messages as bytes, in order, both ways, and knows who is at the other end as far as the carrier can
// tell. It never looks inside a message. Implementations live in sub-packages (ws, stream, …); [Pipe] is the in-memory one,
// which passes the same contract suite (transporttest) as the rest.
package transport

import (
	"context"
	"errors"
)

// Errors that every Conn returns.
var (
	// ErrClosed: the connection has ended, from either side.
	ErrClosed = errors.New("transport: connection closed")
	// ErrTooLarge: the peer sent a message over the limit. The message was skipped; the connection stays up.
	ErrTooLarge = errors.New("transport: message too large")
	// ErrNotText: the peer sent bytes that are not a text message; skipped, the connection stays up.
	ErrNotText = errors.New("transport: message is not text")
)

// Kinds of a refused connection: what a server's admission returns, and what a dialling client gets for it. Wrap them with
// the reason; it is shown to people on the other side, so it must hold no secret.
var (
	// ErrUnauthorized: no identity, or one that does not hold (HTTP 401).
	ErrUnauthorized = errors.New("unauthorized")
	// ErrForbidden: refused for where the request comes from (HTTP 403).
	ErrForbidden = errors.New("forbidden")
	// ErrBusy: every place is taken; the same attempt may succeed later (HTTP 503).
	ErrBusy = errors.New("busy")
)

// Info says what a carrier knows of the other end.
type Info struct {
	Transport  string // "ws", "pipe", …
	Remote     string // address, for people
	Credential string // bearer token from the carrier, empty when there was none
	Client     string // client name from the carrier, if any
}

// Conn carries messages. Read is called by one goroutine at a time, Write by one at a time; both may run together, and Close
// may be called from anywhere, more than once.
//
// A context that ends makes a waiting Read or Write return its error at once and may end the connection with it, since a
// carrier cannot take back half a message: a caller that gives up calls Close.
type Conn interface {
	// Read returns the next message of at most limits.MessageBytes, which the caller owns; it may be empty. After ErrTooLarge
	// and ErrNotText it can be called again. When the peer has closed, what it sent before comes first, then ErrClosed.
	Read(ctx context.Context) ([]byte, error)
	// Write sends one message and returns when the carrier took it; message may be reused then. A peer that takes nothing for
	// limits.ConnWriteTimeout ends the connection. Size is judged by the reader.
	Write(ctx context.Context, message []byte) error
	// Close ends the connection, both Read and Write, within limits.ConnCloseTimeout; reason reaches the peer's error where
	// the carrier can say it. It returns nil also when the connection had ended before.
	Close(reason string) error
	// Info is constant for the life of the connection.
	Info() Info
}
