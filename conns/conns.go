// Package conns holds the connections of a terminal: their places, and what goes out on them.
//
// # Model
//
// A [Conn] is served by two goroutines: its owner's, which reads, and [Conn.WriteLoop], which alone writes and closes the link. Answers
// are queued without waiting, events are read from the ring as there is time for them. [Places] counts connections by kind: unidentified
// ones and those beyond the limit may not stay long, and an actor has one of the latter at a time.
//
// # What it refuses
//
// A connection for which there is no place, and one whose peer does not read: it is cut. It knows nothing of what messages say.
package conns

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"time"

	"github.com/pal-terminal/pal/answers"
	"github.com/pal-terminal/pal/events"
	"github.com/pal-terminal/pal/identity"
	"github.com/pal-terminal/pal/limits"
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

// Who is the identity of a connection: its actor, set once, and the name under which its ids are remembered.
type Who struct {
	Actor  identity.Actor
	Client string
}

// Conn is one connection.
type Conn struct {
	ID    uint64
	Link  Link
	Peer  Peer
	Since time.Time
	Ctx   context.Context // ends, with the reason as cause, when the connection is to end

	Who      atomic.Pointer[Who]
	Revoked  atomic.Bool // its token has ended
	Requests atomic.Uint64
	Waiting  int        // owned by whoever admits requests
	Watches  *watch.Set // made with the first; owned by who reads

	cancel context.CancelCauseFunc
	timer  *time.Timer // ends a connection that may not stay; owned by who reads
	out    chan outgoing
	spare  chan struct{} // one for each message in out that is no result of a job
	slot   slotKind      // guarded by Places.mu
	actor  string        // whose place it is; guarded by Places.mu
}

// outgoing is a message on its way to the write loop.
type outgoing struct {
	message []byte
	spare   bool           // it holds a place of Conn.spare
	reader  *events.Reader // when set, the connection gets its events from here on
}

// New returns a connection that has no place yet.
func New(ctx context.Context, link Link, p Peer) *Conn {
	k := &Conn{Link: link, Peer: p, Since: time.Now(), out: make(chan outgoing, limits.ConnWriteQueue), spare: make(chan struct{}, limits.ConnWriteQueue/2)}
	k.Ctx, k.cancel = context.WithCancelCause(ctx)
	return k
}

// departed comes before the reason why a connection ended, for those whose work ended with it.
const departed = "the client's connection ended: "

// Close ends the connection without waiting: what it runs is cancelled now, and the write loop says goodbye.
func (k *Conn) Close(reason string) { k.cancel(errors.New(departed + reason)) }

// End releases what the connection has; it may be called twice.
func (k *Conn) End() {
	k.endIn(0, "")
	k.cancel(nil)
}

// endIn ends the connection after a while; 0 calls that off.
func (k *Conn) endIn(d time.Duration, reason string) {
	if k.timer != nil {
		k.timer.Stop()
	}
	if d > 0 {
		k.timer = time.AfterFunc(d, func() { k.Close(reason) })
	}
}

// Send queues a message without waiting. A peer that lets answers pile up past limits.ConnWriteQueue is cut: its requests
// have been acted on, and holding answers without bound is worse than making it reconnect and fetch.
func (k *Conn) Send(message []byte) { k.send(outgoing{message: message}) }

func (k *Conn) send(m outgoing) {
	select {
	case k.out <- m:
	default:
		k.Close("answers were not read")
	}
}

// SendWait queues a message of the read loop, waiting for room and thereby slowing the peer down. Half the queue is kept for
// results of jobs, which come without waiting: a client that reads must not be cut because it also asked for other things.
func (k *Conn) SendWait(message []byte) { k.Follow(message, nil) }

// Follow is SendWait, with the reader whose events the connection gets behind that message.
func (k *Conn) Follow(message []byte, r *events.Reader) {
	select {
	case k.spare <- struct{}{}:
		k.send(outgoing{message: message, spare: true, reader: r})
	case <-k.Ctx.Done():
	}
}

// Answer encodes and queues an answer from the connection's own read loop.
func (k *Conn) Answer(a protocol.Answer) { k.SendWait(answers.Encode(a)) }

// TrySend queues a message that may be lost (streamed output, which the result repeats).
func (k *Conn) TrySend(message []byte) {
	select {
	case k.spare <- struct{}{}:
		k.send(outgoing{message: message, spare: true})
	default:
	}
}

// WriteLoop writes answers as they come and events as there is time for them. A connection that ends may still say what it
// owes, but not for long, since its peer may be the reason why it ends.
func (k *Conn) WriteLoop(ctx context.Context, ring *events.Ring) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	defer context.AfterFunc(k.Ctx, func() { time.AfterFunc(limits.ConnCloseTimeout, stop) })()
	log := ring.Reader(events.Nothing, nil)
	log.Owner = k.ID
	log.Start()
	defer func() { log.Stop() }()
	for k.Ctx.Err() == nil {
		select {
		case m := <-k.out:
			log = k.write(ctx, m, log)
		case <-log.Wake:
			k.writeEvent(ctx, log)
		case <-k.Ctx.Done():
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
	k.Link.Close(strings.TrimPrefix(context.Cause(k.Ctx).Error(), departed)) //nolint:errcheck // the peer may be gone already
}

// write writes one message and returns whose events follow it.
func (k *Conn) write(ctx context.Context, m outgoing, log *events.Reader) *events.Reader {
	if m.spare {
		<-k.spare
	}
	k.writeBytes(ctx, m.message)
	if m.reader == nil {
		return log
	}
	log.Stop()
	m.reader.Owner = k.ID
	m.reader.Start()
	return m.reader
}

// writeEvent writes the next event, if there is one.
func (k *Conn) writeEvent(ctx context.Context, log *events.Reader) bool {
	ev, ok := log.Next()
	if ok {
		k.writeBytes(ctx, answers.Encode(ev))
	}
	return ok
}

func (k *Conn) writeBytes(ctx context.Context, message []byte) {
	ctx, done := context.WithTimeout(ctx, limits.ConnWriteTimeout)
	defer done()
	if err := k.Link.Write(ctx, message); err != nil {
		k.Close("write: " + err.Error())
	}
}

// Info describes the connection to the one that asks.
func (s *Places) Info(k, asker *Conn) protocol.ConnInfo {
	i := protocol.ConnInfo{
		Conn: k.ID, Remote: k.Peer.Remote, Transport: k.Peer.Transport, SinceMS: k.Since.UnixMilli(), Requests: k.Requests.Load(),
		Reserved: s.Reserved(k), Self: k == asker,
	}
	if w := k.Who.Load(); w != nil {
		i.Actor, i.Client = w.Actor.Name, w.Client
	}
	return i
}
