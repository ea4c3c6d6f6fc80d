package ws

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"syscall"

	"github.com/coder/websocket"

	"github.com/pal-terminal/pal/limits"
	"github.com/pal-terminal/pal/transport"
)

// Dial connects to the WebSocket at address, "ws://HOST:PORT/PATH" or "wss://…". token goes into the Authorization header and
// client into Pal-Client; both may be empty. ctx bounds the attempt, with limits.DialTimeout on top; the connection outlives
// it. Errors wrap transport.ErrUnauthorized, ErrForbidden or ErrBusy when the server said so.
//
// Redirects are not followed and no proxy is used: the token goes to the address that was given and nowhere else.
func Dial(ctx context.Context, address, token, client string) (transport.Conn, error) {
	return dial(ctx, address, token, client, nil)
}

func dial(ctx context.Context, address, token, client string, trust *tls.Config) (transport.Conn, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, fmt.Errorf("dial: %w", err)
	}
	if (u.Scheme != "ws" && u.Scheme != "wss") || u.Host == "" || u.User != nil {
		return nil, fmt.Errorf("dial %q: want ws://HOST:PORT/PATH or wss://HOST:PORT/PATH", u.Redacted())
	}
	ctx, cancel := context.WithTimeout(ctx, limits.DialTimeout)
	defer cancel()

	header := http.Header{}
	if token != "" {
		header.Set("Authorization", "Bearer "+token)
	}
	if client != "" {
		header.Set(clientHeader, client)
	}
	raw := &heardConn{}
	httpClient := &http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			DisableKeepAlives:      true, // one attempt, one socket, which is closed when it is refused
			MaxResponseHeaderBytes: limits.HTTPHeaderBytes,
			TLSClientConfig:        trust,
			DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
				var dialer net.Dialer
				c, err := dialer.DialContext(ctx, network, addr)
				if err != nil {
					return nil, err
				}
				raw.Conn = c
				raw.connected.Store(true)
				return raw, nil
			},
		},
	}
	ws, resp, err := websocket.Dial(ctx, address, &websocket.DialOptions{ //nolint:bodyclose // the library has closed it
		HTTPClient: httpClient, HTTPHeader: header, CompressionMode: websocket.CompressionDisabled,
	})
	if err != nil {
		return nil, dialError(ctx, u, raw, resp, err)
	}
	return newConn(ws, raw, transport.Info{Transport: "ws", Remote: u.Host, Client: client}), nil
}

// heardConn remembers whether the other side said anything. It is made for one attempt and stays the connection's socket.
type heardConn struct {
	net.Conn  // set once, before connected
	connected atomic.Bool
	heard     atomic.Bool
}

func (h *heardConn) Read(p []byte) (int, error) {
	n, err := h.Conn.Read(p)
	if n > 0 && !h.heard.Load() {
		h.heard.Store(true)
	}
	return n, err
}

// dialError says what stands in the way, in words for who typed the address.
func dialError(ctx context.Context, u *url.URL, raw *heardConn, resp *http.Response, err error) error {
	if resp != nil {
		said := refusal(resp)
		switch resp.StatusCode {
		case http.StatusUnauthorized:
			return fmt.Errorf("dial %s: %w", u.Host, kind(transport.ErrUnauthorized, said))
		case http.StatusForbidden:
			return fmt.Errorf("dial %s: %w", u.Host, kind(transport.ErrForbidden, said))
		case http.StatusServiceUnavailable:
			return fmt.Errorf("dial %s: %w", u.Host, kind(transport.ErrBusy, said))
		case http.StatusSwitchingProtocols:
			return fmt.Errorf("dial %s: %w", u.Host, err)
		default:
			return fmt.Errorf("dial %s%s: no PAL terminal there: it answered %s", u.Host, u.Path, resp.Status)
		}
	}
	var noHost *net.DNSError
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return fmt.Errorf("dial %s: no answer in time: %w", u.Host, ctx.Err())
	case ctx.Err() != nil:
		return fmt.Errorf("dial %s: %w", u.Host, ctx.Err())
	case errors.Is(err, syscall.ECONNREFUSED):
		return fmt.Errorf("nothing listens at %s: is `pal up` running? (%w)", u.Host, syscall.ECONNREFUSED)
	case errors.As(err, &noHost):
		return fmt.Errorf("dial %s: %w", u.Host, noHost)
	case raw.connected.Load() && !raw.heard.Load():
		// A listener that is too full even to answer closes the socket. net/http has several errors for it, some unexported.
		return fmt.Errorf("dial %s: %w: the connection was closed before an answer came", u.Host, transport.ErrBusy)
	}
	return fmt.Errorf("dial %s: %w", u.Host, err)
}

// kind wraps one of transport's kinds with what the server said, which starts with the same word.
func kind(kind error, said string) error {
	said = strings.TrimPrefix(said, kind.Error())
	said = strings.TrimPrefix(said, ": ")
	if said == "" {
		return kind
	}
	return fmt.Errorf("%w: %s", kind, said)
}

// refusal returns the text of a refusal on one line, fit for a terminal: whatever answered there is not trusted.
func refusal(resp *http.Response) string {
	if resp.Body == nil {
		return ""
	}
	text, _ := io.ReadAll(io.LimitReader(resp.Body, limits.HTTPRefusalBytes))
	line, _, _ := strings.Cut(strings.TrimSpace(string(text)), "\n")
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == '\uFFFD' {
			return -1
		}
		return r
	}, line)
}
