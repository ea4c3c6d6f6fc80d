package core

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pal-terminal/pal/identity"
	"github.com/pal-terminal/pal/limits"
	"github.com/pal-terminal/pal/pin"
	"github.com/pal-terminal/pal/protocol"
)

// Link carries the messages of one connection. Read and Write are each called by one goroutine at a time, Close from
// anywhere. A Read error that is a *protocol.Error concerns one message: it is answered and reading goes on; any other
// ends the connection.
type Link interface {
	Read(ctx context.Context) ([]byte, error)
	Write(ctx context.Context, message []byte) error
	Close(reason string) error
}

// Peer is what the carrier knows of the other end.
type Peer struct {
	Transport  string
	Remote     string
	Credential string // bearer token, empty when the carrier had none
	Client     string
}

// slotKind is the kind of place a connection holds.
type slotKind int

const (
	slotNone     slotKind = iota
	slotUnknown           // not identified yet
	slotRegular           // one of limits.Connections
	slotReserved          // one of limits.ConnectionsReserved: hello, stop, ping and status only
)

// slots counts and lists connections.
type slots struct {
	mu      sync.Mutex // guards what follows
	conns   map[uint64]*conn
	used    [slotReserved + 1]int
	next    uint64
	refused atomic.Uint64
	told    time.Time // when refusals were last told as an event
}

func (s *slots) init() { s.conns = map[uint64]*conn{} }

var slotRoom = [...]int{slotUnknown: limits.Unidentified, slotRegular: limits.Connections, slotReserved: limits.ConnectionsReserved}

// take moves k into a place of the best kind that has room and reports whether there was one.
func (s *slots) take(k *conn, kinds ...slotKind) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, kind := range kinds {
		if s.used[kind] < slotRoom[kind] {
			if k.slot != slotNone {
				s.used[k.slot]--
			}
			s.used[kind]++
			k.slot = kind
			if k.id == 0 {
				s.next++
				k.id = s.next
				s.conns[k.id] = k
			}
			return true
		}
	}
	return false
}

// release gives up k's place, if it has one.
func (s *slots) release(k *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if k.slot != slotNone {
		s.used[k.slot]--
		k.slot = slotNone
	}
	delete(s.conns, k.id)
}

func (s *slots) each(f func(*conn)) {
	s.mu.Lock()
	list := make([]*conn, 0, len(s.conns))
	for _, k := range s.conns {
		list = append(list, k)
	}
	s.mu.Unlock()
	slices.SortFunc(list, func(a, b *conn) int { return int(a.id) - int(b.id) })
	for _, k := range list {
		f(k)
	}
}

// hasRoom reports whether a connection of an identified (or not yet identified) peer could be taken now.
func (s *slots) hasRoom(identified bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !identified {
		return s.used[slotUnknown] < slotRoom[slotUnknown]
	}
	return s.used[slotRegular] < slotRoom[slotRegular] || s.used[slotReserved] < slotRoom[slotReserved]
}

// conn is one connection.
type conn struct {
	core   *Core
	id     uint64
	link   Link
	peer   Peer
	since  time.Time
	ctx    context.Context
	cancel context.CancelCauseFunc
	out    chan []byte

	requests atomic.Uint64
	waiting  int      // owned by the admission goroutine
	slot     slotKind // guarded by slots.mu

	mu  sync.Mutex // guards who
	who *who

	subs  sync.WaitGroup     // the subscription's goroutine
	unsub context.CancelFunc // ends it; owned by the read loop, as subs is
}

// who is the identity of a connection: set once, and the name under which its ids are remembered.
type who struct {
	actor  identity.Actor
	client string
}

func (k *conn) identity() *who {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.who
}

func (k *conn) setIdentity(w *who) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.who = w
}

// close ends the connection; the read loop cleans up.
func (k *conn) close(reason string) {
	k.cancel(fmt.Errorf("%w: %s", errGone, reason))
	// A peer that does not answer the closing handshake must not hold up whoever cuts it.
	go k.link.Close(reason) //nolint:errcheck // the connection is over whatever Close says; it ends by its own deadline
}

// send queues a message without waiting. A peer that lets answers pile up past limits.ConnWriteQueue is cut: its requests
// have been acted on, and holding answers without bound is worse than making it reconnect and fetch.
func (k *conn) send(message []byte) {
	select {
	case k.out <- message:
	case <-k.ctx.Done():
	default:
		k.close("answers were not read")
	}
}

// trySend queues a message that may be lost (streamed output, which the result repeats).
func (k *conn) trySend(message []byte) bool {
	select {
	case k.out <- message:
		return true
	default:
		return false
	}
}

// sendWait queues a message, waiting for room: for the connection's own goroutines, which thereby slow their peer down.
func (k *conn) sendWait(message []byte) {
	select {
	case k.out <- message:
	case <-k.ctx.Done():
	}
}

func (k *conn) writeLoop() {
	for {
		select {
		case m := <-k.out:
			ctx, done := context.WithTimeout(k.ctx, limits.ConnWriteTimeout)
			err := k.link.Write(ctx, m)
			done()
			if err != nil {
				k.close("write: " + err.Error())
				return
			}
		case <-k.ctx.Done():
			return
		}
	}
}

// identify finds the actor of a credential.
func (c *Core) identify(credential string) (*identity.Actor, error) {
	if credential == "" {
		return c.cfg.NoAuth, nil
	}
	actor, _, ok := c.cfg.Identity.Lookup(credential)
	if !ok {
		return nil, &protocol.Error{Code: protocol.CodeUnauthorized, Message: "this token is not known, was revoked or has expired; `pal token ls` lists the valid ones"}
	}
	return &actor, nil
}

// Admit says quickly, before a carrier goes to the expense of a connection, whether a peer would be served. Serve decides
// again.
func (c *Core) Admit(p Peer) error {
	if c.ctx.Err() != nil {
		return &protocol.Error{Code: protocol.CodeUnavailable, Message: errClosing.Error()}
	}
	actor, err := c.identify(p.Credential)
	if err != nil {
		return err
	}
	if !c.slots.hasRoom(actor != nil) {
		return c.refuseConn()
	}
	return nil
}

// refuseConn counts a refused connection and tells of it at most once a second, so that a flood does not wash the ring.
func (c *Core) refuseConn() error {
	n := c.slots.refused.Add(1)
	c.slots.mu.Lock()
	tell := time.Since(c.slots.told) >= limits.RefusedConnsReported
	if tell {
		c.slots.told = time.Now()
	}
	c.slots.mu.Unlock()
	if tell {
		c.cfg.Events.Emit("connections_refused", map[string]any{"total": n})
	}
	return &protocol.Error{
		Code:    protocol.CodeBusy,
		Message: fmt.Sprintf("all %d connections are taken; try again later, or see `pal conn ls`", limits.Connections),
	}
}

// Serve speaks PAL on link until either side ends it. It owns link from the call on.
func (c *Core) Serve(ctx context.Context, link Link, p Peer) error {
	k := &conn{core: c, link: link, peer: p, since: time.Now(), out: make(chan []byte, limits.ConnWriteQueue)}
	k.ctx, k.cancel = context.WithCancelCause(ctx)
	defer k.cancel(errGone)
	actor, err := c.identify(p.Credential)
	kinds := []slotKind{slotUnknown}
	if actor != nil {
		kinds = []slotKind{slotRegular, slotReserved}
	}
	if err == nil && !c.slots.take(k, kinds...) {
		err = c.refuseConn()
	}
	if err == nil && p.Credential != "" {
		// A revocation between the first look and the place in the list would have missed this connection.
		_, err = c.identify(p.Credential)
	}
	if err != nil {
		c.slots.release(k)
		refusal, encErr := protocol.Encode(protocol.Refuse(nil, err))
		wctx, done := context.WithTimeout(ctx, limits.ConnWriteTimeout)
		defer done()
		return errors.Join(err, encErr, link.Write(wctx, refusal), link.Close(err.Error()))
	}
	if actor != nil {
		k.setIdentity(&who{actor: *actor, client: p.Client})
	}
	var writer sync.WaitGroup
	writer.Go(k.writeLoop)
	unless := c.lifetime(k)
	err = k.readLoop()
	unless()
	k.cancel(errGone)
	k.stopEvents()
	writer.Wait()
	c.slots.release(k)
	c.post(func() { c.queue.departed(c, k) })
	c.cfg.Table.Safe(causeDisconnect, func(d pin.Driven) bool { return d.OnDisconnectSafe && d.Caller.Conn == k.id })
	link.Close("bye") //nolint:errcheck // the peer may be gone already
	return err
}

// lifetime cuts connections that may not stay: unidentified and reserved ones. The returned func calls it off.
func (c *Core) lifetime(k *conn) (off func()) {
	c.slots.mu.Lock()
	slot := k.slot
	c.slots.mu.Unlock()
	var t *time.Timer
	switch slot {
	case slotUnknown:
		t = time.AfterFunc(limits.HelloTimeout, func() {
			if k.identity() == nil {
				k.close("no hello came in time")
			}
		})
	case slotReserved:
		t = time.AfterFunc(limits.ReservedLife, func() { k.close("all connections are taken; this one was for stop and status") })
	default:
		return func() {}
	}
	return func() { t.Stop() }
}

// readLoop reads and handles messages until the connection ends.
func (k *conn) readLoop() error {
	for {
		message, err := k.link.Read(k.ctx)
		if err != nil {
			var refusal *protocol.Error
			if errors.As(err, &refusal) {
				k.answer(protocol.Refuse(nil, refusal))
				continue
			}
			return err
		}
		k.requests.Add(1)
		k.core.handle(k, message)
		if k.ctx.Err() != nil {
			return context.Cause(k.ctx)
		}
	}
}

// answer encodes and queues an answer from the connection's own read loop.
func (k *conn) answer(a any) { k.sendWait(encode(a)) }

// encode never fails: what cannot be encoded is answered as an internal error, which can.
func encode(a any) []byte {
	raw, err := protocol.Encode(a)
	if err == nil {
		return raw
	}
	raw, err = protocol.Encode(protocol.Refuse(nil, fmt.Errorf("encode answer: %w", err)))
	if err != nil {
		return []byte(`{"version":"1","id":null,"type":"result","stdout":"","stderr":"","error":true,"exec_time_ms":0,"truncated":false,"code":"internal"}`)
	}
	return raw
}

// revoked cuts the live connections of an identity that is no longer valid.
func (c *Core) revoked(name string) {
	c.slots.each(func(k *conn) {
		if w := k.identity(); w != nil && w.actor.Name == name {
			k.close("the token was revoked or has expired")
		}
	})
}
