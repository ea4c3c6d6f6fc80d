package core

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pal-terminal/pal/answers"
	"github.com/pal-terminal/pal/events"
	"github.com/pal-terminal/pal/identity"
	"github.com/pal-terminal/pal/limits"
	"github.com/pal-terminal/pal/pin"
	"github.com/pal-terminal/pal/protocol"
	"github.com/pal-terminal/pal/watch"
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
	mu     sync.Mutex // guards what follows
	conns  map[uint64]*conn
	next   uint64
	closed bool
	told   time.Time // when refusals were last told as an event

	refused atomic.Uint64
	serving sync.WaitGroup // the connections in conns
}

// room returns the kind of place that actor, "" while nobody is identified, would get now; slotNone when it would get none.
func (s *slots) room(actor string) slotKind {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.find(actor)
}

// find is room with mu held. An actor gets one reserved place at a time: else one that opens connections without end would keep
// everybody's stop out.
func (s *slots) find(actor string) slotKind {
	var used [slotReserved + 1]int
	reserved := false
	for _, k := range s.conns {
		used[k.slot]++
		reserved = reserved || k.slot == slotReserved && k.actor == actor
	}
	switch {
	case s.closed:
		return slotNone
	case actor == "" && used[slotUnknown] < limits.Unidentified:
		return slotUnknown
	case actor != "" && used[slotRegular] < limits.Connections:
		return slotRegular
	case actor != "" && used[slotReserved] < limits.ConnectionsReserved && !reserved:
		return slotReserved
	}
	return slotNone
}

// take moves k into a place for actor and returns its kind.
func (s *slots) take(k *conn, actor string) slotKind {
	s.mu.Lock()
	defer s.mu.Unlock()
	kind := s.find(actor)
	if kind == slotNone {
		return slotNone
	}
	if k.slot == slotNone {
		s.next++
		k.id = s.next
		s.conns[k.id] = k
		s.serving.Add(1)
	}
	k.slot, k.actor = kind, actor
	return kind
}

// release gives up k's place, if it has one.
func (s *slots) release(k *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.conns, k.id)
}

// list returns the live connections, oldest first.
func (s *slots) list() []*conn {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.SortedFunc(maps.Values(s.conns), func(a, b *conn) int { return cmp.Compare(a.id, b.id) })
}

// has reports whether the connection of that number is live.
func (s *slots) has(id uint64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.conns[id] != nil
}

// shut lets no connection in any more and cuts those there are.
func (s *slots) shut() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	for _, k := range s.list() {
		k.close(errClosing.Error())
	}
}

// reserved reports whether k has a place beyond the limit.
func (k *conn) reserved() bool {
	k.core.slots.mu.Lock()
	defer k.core.slots.mu.Unlock()
	return k.slot == slotReserved
}

// conn is one connection. Two goroutines serve it: the read loop, in which Serve was called, and the write loop, which alone
// writes and closes the link.
type conn struct {
	core   *Core
	id     uint64
	link   Link
	peer   Peer
	since  time.Time
	ctx    context.Context // ends, with the reason as cause, when the connection is to end
	cancel context.CancelCauseFunc
	who    atomic.Pointer[who]
	timer  *time.Timer // ends a connection that may not stay; owned by the read loop

	out   chan outgoing
	spare chan struct{} // one for each message in out that is no result of a job

	watches *watch.Set // made with the first; owned by the read loop

	revoked  atomic.Bool // its token has ended
	requests atomic.Uint64
	waiting  int      // owned by the admission goroutine
	slot     slotKind // guarded by slots.mu
	actor    string   // whose place it is; guarded by slots.mu
}

// outgoing is a message on its way to the write loop.
type outgoing struct {
	message []byte
	spare   bool           // it holds a place of conn.spare
	reader  *events.Reader // when set, the connection gets its events from here on
}

// who is the identity of a connection: its actor, set once, and the name under which its ids are remembered.
type who struct {
	actor  identity.Actor
	client string
}

// departed comes before the reason why a connection ended, for those whose work ended with it.
const departed = "the client's connection ended: "

// close ends the connection without waiting: what it runs is cancelled now, and the write loop says goodbye.
func (k *conn) close(reason string) { k.cancel(errors.New(departed + reason)) }

// endIn ends the connection after a while; 0 calls that off.
func (k *conn) endIn(d time.Duration, reason string) {
	if k.timer != nil {
		k.timer.Stop()
	}
	if d > 0 {
		k.timer = time.AfterFunc(d, func() { k.close(reason) })
	}
}

// send queues a message without waiting. A peer that lets answers pile up past limits.ConnWriteQueue is cut: its requests
// have been acted on, and holding answers without bound is worse than making it reconnect and fetch.
func (k *conn) send(m outgoing) {
	select {
	case k.out <- m:
	default:
		k.close("answers were not read")
	}
}

// sendWait queues a message of the read loop, waiting for room and thereby slowing the peer down. Half the queue is kept for
// results of jobs, which come without waiting: a client that reads must not be cut because it also asked for other things.
func (k *conn) sendWait(m outgoing) {
	select {
	case k.spare <- struct{}{}:
		m.spare = true
		k.send(m)
	case <-k.ctx.Done():
	}
}

// trySend queues a message that may be lost (streamed output, which the result repeats).
func (k *conn) trySend(message []byte) {
	select {
	case k.spare <- struct{}{}:
		k.send(outgoing{message: message, spare: true})
	default:
	}
}

// writeLoop writes answers as they come and events as there is time for them. A connection that ends may still say what it
// owes, but not for long, since its peer may be the reason why it ends.
func (k *conn) writeLoop(ctx context.Context) {
	defer k.core.faulted()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	defer context.AfterFunc(k.ctx, func() { time.AfterFunc(limits.ConnCloseTimeout, stop) })()
	log := k.core.cfg.Events.Reader(events.Nothing, nil)
	log.Owner = k.id
	log.Start()
	defer func() { log.Stop() }()
	for k.ctx.Err() == nil {
		select {
		case m := <-k.out:
			log = k.write(ctx, m, log)
		case <-log.Wake:
			k.writeEvent(ctx, log)
		case <-k.ctx.Done():
		}
	}
	for more := true; more && ctx.Err() == nil; {
		select {
		case m := <-k.out:
			log = k.write(ctx, m, log)
		default:
			more = k.writeEvent(ctx, log)
		}
	}
	k.link.Close(strings.TrimPrefix(context.Cause(k.ctx).Error(), departed)) //nolint:errcheck // the peer may be gone already
}

// write writes one message and returns whose events follow it.
func (k *conn) write(ctx context.Context, m outgoing, log *events.Reader) *events.Reader {
	if m.spare {
		<-k.spare
	}
	k.writeBytes(ctx, m.message)
	if m.reader == nil {
		return log
	}
	log.Stop()
	m.reader.Owner = k.id
	m.reader.Start()
	return m.reader
}

// writeEvent writes the next event, if there is one.
func (k *conn) writeEvent(ctx context.Context, log *events.Reader) bool {
	ev, ok := log.Next()
	if ok {
		k.writeBytes(ctx, answers.Encode(ev))
	}
	return ok
}

func (k *conn) writeBytes(ctx context.Context, message []byte) {
	ctx, done := context.WithTimeout(ctx, limits.ConnWriteTimeout)
	defer done()
	if err := k.link.Write(ctx, message); err != nil {
		k.close("write: " + err.Error())
	}
}

// identify finds the actor of a credential, the zero one of none.
func (c *Core) identify(credential string) (identity.Actor, error) {
	if credential == "" {
		return c.cfg.NoAuth, nil
	}
	actor, _, ok := c.cfg.Identity.Lookup(credential)
	if !ok {
		return actor, &protocol.Error{Code: protocol.CodeUnauthorized, Message: "this token is not known, was revoked or has expired; `pal token ls` lists the valid ones"}
	}
	return actor, nil
}

// Admit says quickly, before a carrier goes to the expense of a connection, whether a peer would be served. Serve decides
// again.
func (c *Core) Admit(p Peer) error {
	if c.ctx.Err() != nil {
		return unavailable()
	}
	actor, err := c.identify(p.Credential)
	if err != nil {
		return err
	}
	if c.slots.room(actor.Name) == slotNone {
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
	k := &conn{
		core: c, link: link, peer: p, since: time.Now(),
		out: make(chan outgoing, limits.ConnWriteQueue), spare: make(chan struct{}, limits.ConnWriteQueue/2),
	}
	k.ctx, k.cancel = context.WithCancelCause(ctx)
	defer k.cancel(nil)
	defer func() {
		if k.id != 0 {
			c.slots.serving.Done()
		}
	}()
	if err := c.enter(k); err != nil {
		c.slots.release(k)
		wctx, done := context.WithTimeout(ctx, limits.ConnWriteTimeout)
		defer done()
		return errors.Join(err, link.Write(wctx, answers.Encode(protocol.Refuse(nil, err))), link.Close(err.Error()))
	}
	var writer sync.WaitGroup
	writer.Go(func() { k.writeLoop(ctx) })
	defer c.faulted()
	err := k.readLoop(ctx)
	k.close("the client left")
	k.endIn(0, "")
	if k.watches != nil {
		k.watches.Close()
	}
	c.slots.release(k)
	c.gone(k.id)
	c.post(func() { c.queue.departed(c, k) })
	writer.Wait()
	return err
}

// enter gives a new connection its place.
func (c *Core) enter(k *conn) error {
	actor, err := c.identify(k.peer.Credential)
	switch {
	case err != nil:
		return err
	case actor.Name == "":
		return c.place(k, "")
	default:
		return c.become(k, &who{actor: actor, client: k.peer.Client}, k.peer.Credential)
	}
}

// become makes k the connection of an actor that was looked up.
func (c *Core) become(k *conn, w *who, credential string) error {
	if err := c.place(k, w.actor.Name); err != nil {
		return err
	}
	k.who.Store(w)
	// Once more: a revocation since the first look would not have found the connection to cut it.
	_, err := c.identify(credential)
	return err
}

// place finds k a place for actor. Unidentified and reserved connections may not stay long.
func (c *Core) place(k *conn, actor string) error {
	switch c.slots.take(k, actor) {
	case slotNone:
		if c.ctx.Err() != nil {
			return unavailable()
		}
		return c.refuseConn()
	case slotUnknown:
		k.endIn(limits.HelloTimeout, "no hello came in time")
	case slotReserved:
		k.endIn(limits.ReservedLife, "all connections are taken; this one was for stop and status")
	case slotRegular:
		k.endIn(0, "")
	}
	return nil
}

// gone makes safe what a connection that has ended must not leave on. It is also asked after each work that was done in the
// connection's name, which may have driven an output after the connection was gone.
func (c *Core) gone(id uint64) {
	if id != 0 && !c.slots.has(id) {
		c.cfg.Table.Safe(causeDisconnect, func(d pin.Driven) bool { return d.OnDisconnectSafe && d.Caller.Conn == id })
		c.unleased(c.cfg.Claims.Departed(id), "the connection ended")
	}
}

// readLoop reads and handles messages until the connection ends.
func (k *conn) readLoop(ctx context.Context) error {
	for {
		message, err := k.link.Read(ctx)
		if k.ctx.Err() != nil {
			return context.Cause(k.ctx)
		}
		refusal, ok := errors.AsType[*protocol.Error](err)
		switch {
		case ok:
			k.answer(protocol.Refuse(nil, refusal))
		case err != nil:
			return err
		default:
			k.requests.Add(1)
			k.core.handle(k, message)
		}
	}
}

// answer encodes and queues an answer from the connection's own read loop.
func (k *conn) answer(a protocol.Answer) { k.sendWait(outgoing{message: answers.Encode(a)}) }

// revoked ends whatever an identity that is no longer valid has here: connections, programs, interrupts, names.
func (c *Core) revoked(name string) {
	for _, k := range c.slots.list() {
		if w := k.who.Load(); w != nil && w.actor.Name == name {
			k.revoked.Store(true)
			k.close(errRevoked.Error())
		}
	}
	c.forgetActor(name)
	c.unleased(c.cfg.Claims.ActorGone(name), "the token ended")
	if c.manager != nil {
		c.manager.OwnerGone(name)
	}
	c.post(func() {
		if c.queue.busy {
			c.queue.revoked = append(c.queue.revoked, name)
		}
		c.queue.interrupt(c, errRevoked, func(j *job) bool { return j.who.actor.Name == name })
		c.queue.forget = append(c.queue.forget, c.queue.sessions.remove(name, func(string) bool { return true })...)
	})
}
