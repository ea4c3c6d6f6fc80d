// Package client speaks the PAL protocol from the side of whoever wants something of a terminal: the CLI, the dashboard, the
// agent bridges. None of them has another way in.
//
// # Model
//
// A [Client] owns one connection. Any number of goroutines ask at the same time; each request gets an id of its own and
// waits for the answer that echoes it. Events go to [Client.Subscribe], streamed output to [Client.ExecStream].
//
// A refusal of the terminal is a [*protocol.Error], except for exec, whose result says what ran and what it printed even when
// it ended badly. When the connection ends, everything that waits fails with the reason, and the client is over: it never
// reconnects behind its caller's back, because only the caller knows what may be asked twice.
package client

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pal-terminal/pal/limits"
	"github.com/pal-terminal/pal/protocol"
	"github.com/pal-terminal/pal/transport"
	"github.com/pal-terminal/pal/transport/ws"
)

// Target says where a terminal is and who is asking.
type Target struct {
	URL   string // ws://HOST:PORT/PATH or wss://…
	Token string // bearer token, empty for none
	Name  string // client name: the terminal remembers request ids under it across connections; empty for none
}

// Client is one connection to a terminal. Its methods may be called from many goroutines.
type Client struct {
	conn   transport.Conn
	prefix string // of this client's ids
	count  atomic.Uint64

	closing atomic.Bool     // Close was called
	life    context.Context // ends with Close
	end     context.CancelFunc
	writing chan struct{} // held by who writes: Conn takes one Write at a time
	done    chan struct{} // closed when the reader has stopped; err is set then
	pumps   sync.WaitGroup

	listing sync.Mutex // held while the terminal is told which events are wanted; taken before mu

	mu      sync.Mutex
	pending map[string]*call
	subs    map[*subscription]struct{}
	names   map[string]struct{} // event names that the terminal was asked for
	welcome *protocol.Welcome
	notice  *protocol.Error // last refusal that answered nothing of ours
	err     error
}

// call is a request that waits for its answer.
type call struct {
	answer chan protocol.Answer  // of size one
	output chan *protocol.Output // nil unless streamed output is wanted
	lost   int                   // bytes of output that did not fit, guarded by Client.mu
	// accepted runs in the reader, with Client.mu held, when an answer comes that is no refusal: before any later message.
	accepted func()
}

// Dial connects over WebSocket and introduces itself. Errors wrap transport.ErrUnauthorized, ErrForbidden or ErrBusy, or are a
// *protocol.Error when the terminal refused the hello.
func Dial(ctx context.Context, t Target) (*Client, error) {
	conn, err := ws.Dial(ctx, t.URL, t.Token, t.Name)
	if err != nil {
		return nil, err
	}
	c := New(conn)
	if _, err := c.Hello(ctx, protocol.Hello{Client: t.Name}); err != nil {
		_ = c.Close()
		return nil, err
	}
	return c, nil
}

// New returns a client on conn, which it owns from now on. It says nothing by itself: see [Client.Hello].
func New(conn transport.Conn) *Client {
	c := &Client{
		conn:    conn,
		prefix:  newPrefix(),
		writing: make(chan struct{}, 1),
		done:    make(chan struct{}),
		pending: make(map[string]*call),
		subs:    make(map[*subscription]struct{}),
		names:   make(map[string]struct{}),
	}
	c.life, c.end = context.WithCancel(context.Background())
	go c.read()
	return c
}

// newPrefix makes ids of two clients differ, also of clients with the same name.
func newPrefix() string {
	var random [6]byte
	_, _ = rand.Read(random[:]) // never fails
	return hex.EncodeToString(random[:]) + "-"
}

// Close ends the connection and waits until nothing of the client runs. Everything that waits fails. It may be called twice.
func (c *Client) Close() error {
	c.closing.Store(true)
	err := c.conn.Close("client is done")
	c.end()
	<-c.done
	c.mu.Lock()
	for s := range c.subs {
		c.dropLocked(s)
	}
	c.mu.Unlock()
	c.pumps.Wait()
	return err
}

// Done is closed when the connection has ended; Err says why.
func (c *Client) Done() <-chan struct{} { return c.done }

// Err returns nil while the connection lives, and then why it ended; it wraps transport.ErrClosed unless the terminal broke
// the protocol.
func (c *Client) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// Info describes the connection.
func (c *Client) Info() transport.Info { return c.conn.Info() }

// Do sends one request and returns its answer, a pointer to a struct of package protocol. body is a pointer to the struct of
// the type, or nil. A refused request is a *protocol.Error; the result of an exec is an answer in every case.
//
// When ctx ends, Do returns at once, except while the connection is taking the message, which lasts at most
// limits.ConnWriteTimeout: a message cannot be taken back half way. The request may then still be carried out.
func (c *Client) Do(ctx context.Context, typ string, body any) (protocol.Answer, error) {
	answer, err := c.ask(ctx, typ, body, &call{})
	if err != nil {
		return nil, err
	}
	if result, ok := answer.(*protocol.Result); ok && typ != protocol.TypeExec {
		if err := Refusal(result); err != nil {
			return nil, err
		}
	}
	return answer, nil
}

// ask sends a request and waits for its answer, whatever it says.
func (c *Client) ask(ctx context.Context, typ string, body any, waiting *call) (protocol.Answer, error) {
	id, err := c.send(ctx, typ, body, waiting)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", typ, err)
	}
	return c.wait(ctx, id, typ, waiting)
}

// wait waits for the answer to a request that was sent.
func (c *Client) wait(ctx context.Context, id, typ string, waiting *call) (protocol.Answer, error) {
	defer c.forget(id)
	select {
	case answer := <-waiting.answer:
		return answer, nil
	case <-c.done:
		return c.last(typ, waiting)
	case <-ctx.Done():
		return nil, fmt.Errorf("%s: waiting for the answer: %w", typ, ctx.Err())
	}
}

// last returns an answer that came just before the connection ended, or why it ended.
func (c *Client) last(typ string, waiting *call) (protocol.Answer, error) {
	select {
	case answer := <-waiting.answer:
		return answer, nil
	default:
		return nil, fmt.Errorf("%s: %w", typ, c.Err())
	}
}

// send registers waiting under a new id and writes the request.
func (c *Client) send(ctx context.Context, typ string, body any, waiting *call) (id string, err error) {
	id = c.prefix + strconv.FormatUint(c.count.Add(1), 10)
	waiting.answer = make(chan protocol.Answer, 1)
	message, err := EncodeRequest(typ, &id, body)
	if err != nil {
		return id, err
	}
	c.mu.Lock()
	if c.err != nil {
		defer c.mu.Unlock()
		return id, c.err
	}
	c.pending[id] = waiting
	c.mu.Unlock()
	if err := c.write(ctx, message); err != nil {
		c.forget(id)
		return id, err
	}
	return id, nil
}

func (c *Client) forget(id string) {
	c.mu.Lock()
	delete(c.pending, id)
	c.mu.Unlock()
}

// write sends one message. ctx counts until the message is this goroutine's turn: ending a write in the middle would end the
// connection for everybody else.
func (c *Client) write(ctx context.Context, message []byte) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case c.writing <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	case <-c.done:
		return c.Err()
	}
	err := c.conn.Write(c.life, message)
	<-c.writing
	if err == nil {
		return nil
	}
	// The reader knows better why it ended, once it has read what the terminal said last.
	patience := time.NewTimer(limits.ConnCloseTimeout)
	defer patience.Stop()
	select {
	case <-c.done:
		return c.Err()
	case <-patience.C:
		_ = c.conn.Close("cannot write")
		return err
	}
}

// read is the client's one reader. It never waits for anybody but the connection.
func (c *Client) read() {
	defer close(c.done)
	for {
		message, err := c.conn.Read(c.life)
		if err == nil {
			var answer protocol.Answer
			if answer, err = DecodeAnswer(message); err == nil {
				c.route(answer)
				continue
			}
		}
		// A message that was skipped or makes no sense may be the one somebody waits for: better to end than to hang.
		c.fail(err)
		return
	}
}

func (c *Client) fail(err error) {
	_ = c.conn.Close("")
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.closing.Load():
		err = fmt.Errorf("client closed: %w", transport.ErrClosed)
	case c.notice != nil:
		err = fmt.Errorf("connection to %s ended: %w: %w", c.conn.Info().Remote, c.notice, err)
	default:
		err = fmt.Errorf("connection to %s ended: %w", c.conn.Info().Remote, err)
	}
	c.err = err
}

// route hands a message to who waits for it. Answers to requests that nobody waits for any more are dropped.
func (c *Client) route(answer protocol.Answer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if event, ok := answer.(*protocol.Event); ok {
		c.deliverLocked(event)
		return
	}
	result, isResult := answer.(*protocol.Result)
	id := answer.Head().ID
	if id == nil {
		if isResult {
			errors.As(Refusal(result), &c.notice)
		}
		return
	}
	waiting, ok := c.pending[*id]
	if !ok {
		return
	}
	if output, ok := answer.(*protocol.Output); ok {
		waiting.take(output)
		return
	}
	if waiting.accepted != nil && (!isResult || !result.Error) {
		waiting.accepted()
	}
	delete(c.pending, *id) // a second answer to the same id has nobody to go to
	if isResult && waiting.lost > 0 {
		result.DroppedBytes += waiting.lost
	}
	waiting.answer <- answer
}

// take queues streamed output. The reader cannot wait, so what does not fit is counted and told with the result.
func (w *call) take(output *protocol.Output) {
	if w.output == nil {
		return
	}
	select {
	case w.output <- output:
	default:
		w.lost += len(output.Data)
	}
}

// Refusal returns the *protocol.Error that a result tells of, nil when it tells of none.
func Refusal(r *protocol.Result) error {
	if !r.Error {
		return nil
	}
	e := &protocol.Error{Code: r.Code, Message: r.Message, Resource: r.Resource, Rule: r.Rule, Holder: r.Holder, Nearest: r.Nearest, ApprovalID: r.ApprovalID}
	if e.Code == "" {
		e.Code = protocol.CodeInternal
	}
	if e.Message == "" {
		e.Message = r.Stderr // the seed's results have no more than that
	}
	return e
}
