package ws

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/coder/websocket"

	"github.com/pal-terminal/pal/limits"
	"github.com/pal-terminal/pal/transport"
)

// clientHeader names the client, as hello.client does.
const clientHeader = "Pal-Client"

// Options are what an Endpoint needs. Accept is required.
type Options struct {
	// Accept gets every live connection on a goroutine of its own and returns when it is done with it; the connection is
	// closed then. ctx ends when the endpoint is closed or the server's base context ends.
	Accept func(ctx context.Context, c transport.Conn)
	// Admit decides before the upgrade; nil admits everybody. An error that wraps transport.ErrUnauthorized, ErrForbidden or
	// ErrBusy is answered with 401, 403 or 503 and its text, any other with 500 and no text. release is called once when the
	// connection has ended. Admit must not block: a stranger waits in it.
	Admit func(info transport.Info) (release func(), err error)
	// Origins says which browsers are let in.
	Origins Origins
	// Log gets refusals at debug level and faults at error level. Nil discards.
	Log *slog.Logger
}

// Endpoint is the http.Handler of one WebSocket address. It is safe for concurrent use.
type Endpoint struct {
	opts Options
	log  *slog.Logger

	stopping context.Context
	stop     context.CancelFunc

	mu     sync.Mutex
	closed bool
	conns  map[*conn]struct{}
	live   sync.WaitGroup // handlers with an upgraded connection
}

// Handler returns the handler of a WebSocket address.
func Handler(opts Options) *Endpoint {
	log := opts.Log
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	e := &Endpoint{opts: opts, log: log, conns: make(map[*conn]struct{})}
	e.stopping, e.stop = context.WithCancel(context.Background())
	return e
}

// ServeHTTP checks, upgrades and then serves the connection until it ends.
func (e *Endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	info, release, err := e.admit(r)
	if err != nil {
		e.refuse(w, r, err)
		return
	}
	defer release()
	catch := &catcher{ResponseWriter: w}
	ws, err := websocket.Accept(catch, r, &websocket.AcceptOptions{
		InsecureSkipVerify: true, // Origins has judged, more strictly
		CompressionMode:    websocket.CompressionDisabled,
	})
	if err != nil {
		e.log.Debug("websocket handshake refused", "remote", info.Remote, "err", err)
		return // Accept has answered
	}
	Keep(r.Context())
	c := newConn(ws, catch.raw, info)
	if !e.add(c) {
		_ = c.Close("shutting down")
		return
	}
	defer e.remove(c)
	defer func() { _ = c.Close("") }() // also when Accept panics: the server has forgotten the socket
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(e.stopping, cancel)()
	e.opts.Accept(ctx, c)
}

// admit judges a request by its headers. On success release is never nil.
func (e *Endpoint) admit(r *http.Request) (info transport.Info, release func(), err error) {
	if err := e.opts.Origins.Check(r); err != nil {
		return info, nil, err
	}
	token, err := bearer(r.Header)
	if err != nil {
		return info, nil, err
	}
	name := r.Header.Get(clientHeader)
	if !isName(name) {
		return info, nil, fmt.Errorf("%w: %s is not a name of at most %d printable bytes", transport.ErrForbidden, clientHeader, limits.NameBytes)
	}
	if !upgrades(r) {
		return info, nil, errNotUpgrade
	}
	info = transport.Info{Transport: "ws", Remote: r.RemoteAddr, Credential: token, Client: name}
	release = func() {}
	if e.opts.Admit != nil {
		admitted, err := e.opts.Admit(info)
		if err != nil {
			return info, nil, err
		}
		if admitted != nil {
			release = admitted
		}
	}
	return info, release, nil
}

// errNotUpgrade is for who comes with plain HTTP; no place is taken for them.
var errNotUpgrade = errors.New("this address speaks WebSocket: connect with ws://")

func upgrades(r *http.Request) bool {
	return r.Method == http.MethodGet && strings.EqualFold(r.Header.Get("Upgrade"), "websocket")
}

// refuse answers a request that goes no further, and ends its socket.
func (e *Endpoint) refuse(w http.ResponseWriter, r *http.Request, err error) {
	status, text := http.StatusInternalServerError, "internal error"
	switch {
	case errors.Is(err, transport.ErrUnauthorized):
		status, text = http.StatusUnauthorized, err.Error()
		w.Header().Set("WWW-Authenticate", "Bearer")
	case errors.Is(err, transport.ErrForbidden):
		status, text = http.StatusForbidden, err.Error()
	case errors.Is(err, transport.ErrBusy):
		status, text = http.StatusServiceUnavailable, err.Error()
		w.Header().Set("Retry-After", "1")
	case errors.Is(err, errNotUpgrade):
		status, text = http.StatusUpgradeRequired, err.Error()
		w.Header().Set("Upgrade", "websocket")
	}
	if status == http.StatusInternalServerError {
		e.log.Error("websocket admission", "remote", r.RemoteAddr, "err", err)
	} else {
		e.log.Debug("websocket refused", "remote", r.RemoteAddr, "status", status, "err", err)
	}
	w.Header().Set("Connection", "close")
	http.Error(w, text, status)
}

// Close ends every live connection with the reason and waits until their Accepts have returned, or until ctx ends. Requests
// that come later are turned away. http.Server does not do this: it forgets a connection that was upgraded.
func (e *Endpoint) Close(ctx context.Context, reason string) error {
	e.mu.Lock()
	e.closed = true
	var closing sync.WaitGroup
	for c := range e.conns {
		closing.Go(func() { _ = c.Close(reason) }) // each may wait for its peer's goodbye
	}
	e.mu.Unlock()
	closing.Wait()
	e.stop() // not before: an Accept that returns closes its connection without the reason
	done := make(chan struct{})
	go func() { // ends with the last Accept, which the contract of Accept owes
		defer close(done)
		e.live.Wait()
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("ws: close: connections still served: %w", ctx.Err())
	}
}

func (e *Endpoint) add(c *conn) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return false
	}
	e.conns[c] = struct{}{}
	e.live.Add(1)
	return true
}

func (e *Endpoint) remove(c *conn) {
	e.mu.Lock()
	delete(e.conns, c)
	e.mu.Unlock()
	e.live.Done()
}

// bearer returns the token of the Authorization header, or nothing. The address is never looked at: it ends up in logs,
// histories and Referer headers.
func bearer(h http.Header) (string, error) {
	values := h.Values("Authorization")
	if len(values) == 0 {
		return "", nil
	}
	scheme, token, ok := strings.Cut(values[0], " ")
	token = strings.TrimSpace(token)
	if len(values) > 1 || !ok || !strings.EqualFold(scheme, "Bearer") || token == "" {
		return "", fmt.Errorf("%w: want one header Authorization: Bearer TOKEN", transport.ErrUnauthorized)
	}
	return token, nil
}

// isName reports whether s can stand in logs and lists as it is. Empty is allowed.
func isName(s string) bool {
	if len(s) > limits.NameBytes || !utf8.ValidString(s) {
		return false
	}
	return !strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) })
}

// catcher sees the socket that the library takes over.
type catcher struct {
	http.ResponseWriter
	raw net.Conn
}

func (c *catcher) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	raw, buffered, err := http.NewResponseController(c.ResponseWriter).Hijack()
	c.raw = raw
	return raw, buffered, err
}
