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

// Info says what a carrier knows of the other end.
type Info struct {
	Transport  string // "ws", "pipe", …
	Remote     string // address, for people
	Credential string // bearer token from the carrier, empty when there was none
	Client     string // client name from the carrier, if any
}

// Conn carries messages. Read is called by one goroutine at a time, Write by one at a time; both may run together, and Close
// may be called from anywhere, more than once.
type Conn interface {
	// Read returns the next message of at most limits.MessageBytes. After ErrTooLarge and ErrNotText it can be called again.
	Read(ctx context.Context) ([]byte, error)
	// Write sends one message and returns when the carrier took it.
	Write(ctx context.Context, message []byte) error
	// Close ends the connection; reason reaches the peer where the carrier can say it.
	Close(reason string) error
	// Info is constant for the life of the connection.
	Info() Info
}
