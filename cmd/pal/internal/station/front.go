package station

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"

	"github.com/pal-terminal/pal/config"
	"github.com/pal-terminal/pal/core"
	"github.com/pal-terminal/pal/protocol"
	"github.com/pal-terminal/pal/transport"
	"github.com/pal-terminal/pal/transport/ws"
)

// front is the network door of a terminal: one listener with the PAL protocol at /pal and two health pages, which are all
// that a peer without identity gets.
type front struct {
	endpoint *ws.Endpoint
	server   *http.Server
	ready    atomic.Bool
	failed   chan error // gets the error that ended serving
	wg       sync.WaitGroup
}

// newFront serves c on l, which it owns from now on.
func newFront(l net.Listener, c *core.Core, log *slog.Logger) *front {
	f := &front{failed: make(chan error, 1)}
	var origins ws.Origins
	if host, _, err := net.SplitHostPort(l.Addr().String()); err == nil && !config.Loopback(host) {
		origins.Hosts = []string{host}
	}
	f.endpoint = ws.Handler(ws.Options{
		Accept: func(ctx context.Context, conn transport.Conn) {
			if err := c.Serve(ctx, link{conn}, peer(conn.Info())); err != nil {
				log.Debug("connection ended", "remote", conn.Info().Remote, "err", err)
			}
		},
		Admit:   func(info transport.Info) (func(), error) { return nil, carrierError(c.Admit(peer(info))) },
		Origins: origins,
		Log:     log,
	})
	mux := http.NewServeMux()
	mux.Handle("/pal", f.endpoint)
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, "ok\n") //nolint:errcheck // the peer may be gone
	})
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		if !f.ready.Load() {
			http.Error(w, "not ready", http.StatusServiceUnavailable)
			return
		}
		io.WriteString(w, "ready\n") //nolint:errcheck // the peer may be gone
	})
	f.server = ws.NewServer(mux, log)
	bounded := ws.Limit(l, ws.DefaultPlaces)
	f.wg.Go(func() {
		if err := f.server.Serve(bounded); !errors.Is(err, http.ErrServerClosed) {
			f.failed <- err
		}
	})
	return f
}

// close ends every connection and the listener.
func (f *front) close(ctx context.Context) error {
	f.ready.Store(false)
	err := errors.Join(f.endpoint.Close(ctx, "the terminal is shutting down"), f.server.Shutdown(ctx))
	f.wg.Wait()
	return err
}

func peer(i transport.Info) core.Peer {
	return core.Peer{Transport: i.Transport, Remote: i.Remote, Credential: i.Credential, Client: i.Client}
}

// carrierError says in the carrier's words why a peer is not admitted.
func carrierError(err error) error {
	var refusal *protocol.Error
	if !errors.As(err, &refusal) {
		return err
	}
	switch refusal.Code {
	case protocol.CodeUnauthorized:
		return fmt.Errorf("%w: %s", transport.ErrUnauthorized, refusal.Message)
	case protocol.CodeDenied:
		return fmt.Errorf("%w: %s", transport.ErrForbidden, refusal.Message)
	case protocol.CodeBusy, protocol.CodeUnavailable:
		return fmt.Errorf("%w: %s", transport.ErrBusy, refusal.Message)
	default:
		return err
	}
}

// link is a carrier's connection as core wants it: what is wrong with one message is a refusal, not the end.
type link struct{ transport.Conn }

func (l link) Read(ctx context.Context) ([]byte, error) {
	message, err := l.Conn.Read(ctx)
	switch {
	case errors.Is(err, transport.ErrTooLarge):
		return nil, &protocol.Error{Code: protocol.CodeTooLarge, Message: "the message is longer than a message may be: split the work"}
	case errors.Is(err, transport.ErrNotText):
		return nil, &protocol.Error{Code: protocol.CodeBadJSON, Message: "the message is not UTF-8 text"}
	}
	return message, err
}
