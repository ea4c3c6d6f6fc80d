package ws

import (
	"container/list"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pal-terminal/pal/limits"
)

// NewServer returns an http.Server whose limits bound what a stranger can hold and for how long. Handlers that
// read bodies or stream set their own deadlines. Serve it on a listener of [Limit]. A nil log discards.
func NewServer(handler http.Handler, log *slog.Logger) *http.Server {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: limits.HelloTimeout,
		IdleTimeout:       limits.HTTPIdleTimeout,
		MaxHeaderBytes:    limits.HTTPHeaderBytes,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelDebug),
		ConnContext:       socketContext,
	}
}

// Listener bounds the sockets that are open at one time.
//
// Every socket starts as a stranger's and becomes kept when an [Endpoint] admits its request. When all places are taken, the
// stranger that came first makes way, once it has had limits.UnidentifiedGrace: a handshake takes milliseconds, so only
// somebody who sits on the socket is hit, and a stop button still gets through a flood of silent sockets. Otherwise the
// newcomer is answered 503 and closed. Kept sockets are never touched: their number is the endpoint's to bound.
type Listener struct {
	net.Listener
	places  int
	refused atomic.Uint64

	telling  chan struct{} // slots of refusals under way
	refusals sync.WaitGroup

	mu        sync.Mutex
	closed    bool
	open      int
	strangers list.List // of *socket, oldest first
}

// DefaultPlaces is what a terminal's listener is bound to: every identified connection and limits.Unidentified strangers.
const DefaultPlaces = limits.Connections + limits.ConnectionsReserved + limits.Unidentified

// Limit bounds l to places open sockets, and a further limits.Refusals that are just being told to go away.
func Limit(l net.Listener, places int) *Listener {
	return &Listener{Listener: l, places: places, telling: make(chan struct{}, limits.Refusals)}
}

// Refused returns how many sockets found no place or had to make way.
func (l *Listener) Refused() uint64 { return l.refused.Load() }

// Accept returns the next socket that has a place.
func (l *Listener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if s := l.place(c); s != nil {
			return s, nil
		}
		l.refused.Add(1)
		l.tell(c)
	}
}

// place returns c as a socket with a place, or nil.
func (l *Listener) place(c net.Conn) *socket {
	now := time.Now()
	l.mu.Lock()
	var yields *socket
	if l.open >= l.places {
		if oldest := l.strangers.Front(); oldest != nil {
			if s := oldest.Value.(*socket); now.Sub(s.since) >= limits.UnidentifiedGrace {
				yields = s
				l.leave(s)
			}
		}
	}
	if l.open >= l.places {
		l.mu.Unlock()
		return nil
	}
	s := &socket{Conn: c, l: l, since: now}
	l.open++
	s.stranger = l.strangers.PushBack(s)
	l.mu.Unlock()
	if yields != nil {
		l.refused.Add(1)
		_ = yields.Conn.Close()
	}
	return s
}

// leave frees the place of s; l.mu is held.
func (l *Listener) leave(s *socket) {
	if s.gone {
		return
	}
	s.gone = true
	l.open--
	if s.stranger != nil {
		l.strangers.Remove(s.stranger)
		s.stranger = nil
	}
}

const fullAnswer = "HTTP/1.1 503 Service Unavailable\r\nContent-Type: text/plain; charset=utf-8\r\nRetry-After: 1\r\n" +
	"Connection: close\r\nContent-Length: 33\r\n\r\nbusy: too many open connections.\n"

// tell answers 503 and closes. It waits for the request to begin, since clients take an answer before it for a fault, and
// reads the rest of it afterwards: closing a socket with unread bytes resets it, and the answer would be lost. When enough
// are being told, the socket is just closed.
func (l *Listener) tell(c net.Conn) {
	if !l.mayTell() {
		_ = c.Close()
		return
	}
	go func() {
		defer l.refusals.Done()
		defer func() { <-l.telling }()
		defer c.Close() //nolint:errcheck // the peer is being refused
		_ = c.SetDeadline(time.Now().Add(limits.RefusalTimeout))
		if _, err := c.Read(make([]byte, 1)); err != nil {
			return // a silent socket gets silence
		}
		if _, err := io.WriteString(c, fullAnswer); err != nil {
			return
		}
		if half, ok := c.(interface{ CloseWrite() error }); ok {
			_ = half.CloseWrite()
		}
		_, _ = io.CopyN(io.Discard, c, limits.HTTPHeaderBytes)
	}()
}

// mayTell takes a slot of l.telling and counts one refusal under way, unless there is none or the listener is closed.
func (l *Listener) mayTell() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return false
	}
	select {
	case l.telling <- struct{}{}:
		l.refusals.Add(1)
		return true
	default:
		return false
	}
}

// Close stops listening and waits for refusals under way, at most limits.RefusalTimeout. Sockets with a place stay open.
func (l *Listener) Close() error {
	err := l.Listener.Close()
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	l.refusals.Wait()
	return err
}

// socket is a net.Conn with a place.
type socket struct {
	net.Conn
	l     *Listener
	since time.Time

	stranger *list.Element // guarded by l.mu; nil once kept or gone
	gone     bool          // guarded by l.mu
}

func (s *socket) Close() error {
	s.l.mu.Lock()
	s.l.leave(s)
	s.l.mu.Unlock()
	return s.Conn.Close()
}

// CloseWrite lets http.Server end its side first, so that a last answer is not lost.
func (s *socket) CloseWrite() error {
	if half, ok := s.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return errors.ErrUnsupported
}

// NetConn returns the socket underneath, as tls.Conn does.
func (s *socket) NetConn() net.Conn { return s.Conn }

type socketKey struct{}

// socketContext remembers a request's socket, also under TLS.
func socketContext(ctx context.Context, c net.Conn) context.Context {
	for c != nil {
		if s, ok := c.(*socket); ok {
			return context.WithValue(ctx, socketKey{}, s)
		}
		under, ok := c.(interface{ NetConn() net.Conn })
		if !ok {
			return ctx
		}
		c = under.NetConn()
	}
	return ctx
}

// Keep marks the socket of a request as identified, so that it does not make way for newcomers. [Endpoint] does it for
// connections it admitted; a handler that streams for long to somebody identified does it too, and bounds how many.
func Keep(ctx context.Context) {
	s, ok := ctx.Value(socketKey{}).(*socket)
	if !ok {
		return
	}
	s.l.mu.Lock()
	defer s.l.mu.Unlock()
	if s.stranger != nil {
		s.l.strangers.Remove(s.stranger)
		s.stranger = nil
	}
}
