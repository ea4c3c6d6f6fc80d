package ws

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/pal-terminal/pal/limits"
	"github.com/pal-terminal/pal/transport"
	"github.com/pal-terminal/pal/transport/transporttest"
)

// TestOrigins is the matrix of origin and host, on a listener on loopback and on one that is not.
func TestOrigins(t *testing.T) {
	listed := Origins{Hosts: []string{"pal.example", "lab:7333"}, Allowed: []string{"https://board.example"}}
	const loopback, lan = "127.0.0.1", "192.0.2.7"
	tests := []struct {
		name    string
		origins Origins
		local   string // address the request came in on
		tls     bool
		host    string
		origin  []string
		ok      bool
	}{
		{"no browser", Origins{}, loopback, false, "127.0.0.1:7333", nil, true},
		{"no browser, by name", Origins{}, loopback, false, "localhost:7333", nil, true},
		{"no browser, IPv6", Origins{}, loopback, false, "[::1]:7333", nil, true},
		{"no browser, IPv6 without port", Origins{}, loopback, false, "[::1]", nil, true},
		{"no browser, mapped IPv4", Origins{}, loopback, false, "[::ffff:127.0.0.1]:7333", nil, true},
		{"no browser, strange host on loopback", Origins{}, loopback, false, "attacker.example:7333", nil, false},
		{"no browser, no host on loopback", Origins{}, loopback, false, "", nil, false},
		{"no browser, listed host on loopback", listed, loopback, false, "pal.example", nil, true},
		{"no browser, any host on the LAN", Origins{}, lan, false, "bench.lan:7333", nil, true},

		{"own page", Origins{}, loopback, false, "localhost:7333", []string{"http://localhost:7333"}, true},
		{"own page, other case", Origins{}, loopback, false, "LOCALHOST:7333", []string{"http://localhost:7333"}, true},
		{"own page, IPv6", Origins{}, loopback, false, "[::1]:7333", []string{"http://[::1]:7333"}, true},
		{"own page, default port", Origins{}, loopback, false, "localhost:80", []string{"http://localhost"}, true},
		{"own page, TLS", Origins{}, loopback, true, "localhost", []string{"https://localhost:443"}, true},
		{"own page on the LAN, listed", listed, lan, false, "lab:7333", []string{"http://lab:7333"}, true},
		{"own page on the LAN, any port", listed, lan, false, "pal.example:9", []string{"http://pal.example:9"}, true},
		{"page of a listed origin", listed, lan, true, "pal.example", []string{"https://board.example"}, true},

		{"rebound name", Origins{}, loopback, false, "attacker.example:7333", []string{"http://attacker.example:7333"}, false},
		{"rebound name on the LAN", listed, lan, false, "attacker.example:7333", []string{"http://attacker.example:7333"}, false},
		{"listed origin through a strange host", listed, lan, true, "attacker.example", []string{"https://board.example"}, false},
		{"listed host, other port", listed, lan, false, "lab:7334", []string{"http://lab:7334"}, false},
		{"other site", Origins{}, loopback, false, "localhost:7333", []string{"http://attacker.example"}, false},
		{"other port", Origins{}, loopback, false, "localhost:7333", []string{"http://localhost:8080"}, false},
		{"other loopback name", Origins{}, loopback, false, "localhost:7333", []string{"http://127.0.0.1:7333"}, false},
		{"other scheme", Origins{}, loopback, false, "localhost:7333", []string{"https://localhost:7333"}, false},
		{"other scheme under TLS", Origins{}, loopback, true, "localhost:7333", []string{"http://localhost:7333"}, false},
		{"null origin", Origins{}, loopback, false, "localhost:7333", []string{"null"}, false},
		{"empty origin", Origins{}, loopback, false, "localhost:7333", []string{""}, false},
		{"two origins", Origins{}, loopback, false, "localhost:7333", []string{"http://localhost:7333", "http://attacker.example"}, false},
		{"origin with a path", Origins{}, loopback, false, "localhost:7333", []string{"http://localhost:7333/"}, false},
		{"origin with a user", Origins{}, loopback, false, "localhost:7333", []string{"http://x@localhost:7333"}, false},
		{"suffix of a loopback name", Origins{}, loopback, false, "localhost.attacker.example:7333", []string{"http://localhost.attacker.example:7333"}, false},
		{"suffix of a listed name", listed, lan, false, "evilpal.example", []string{"http://evilpal.example"}, false},
		{"extension file", Origins{}, loopback, false, "localhost:7333", []string{"file://"}, false},
		{"listed origin, other case", listed, lan, true, "pal.example", []string{"HTTPS://BOARD.EXAMPLE"}, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := httptest.NewRequest(http.MethodGet, "/pal", nil)
			r = r.WithContext(context.WithValue(t.Context(), http.LocalAddrContextKey, &net.TCPAddr{IP: net.ParseIP(test.local), Port: 7333}))
			r.Host = test.host
			if test.tls {
				r.TLS = &tls.ConnectionState{}
			}
			if test.origin != nil {
				r.Header["Origin"] = test.origin
			}
			err := test.origins.Check(r)
			if test.ok && err != nil || !test.ok && !errors.Is(err, transport.ErrForbidden) {
				t.Errorf("Check: got %v, want allowed %v", err, test.ok)
			}
		})
	}
}

// handshake makes one request with the headers of a WebSocket handshake.
func handshake(t *testing.T, addr string, change func(*http.Request)) (status int, body string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+addr+"/pal", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Close = true
	for name, value := range map[string]string{
		"Connection": "Upgrade", "Upgrade": "websocket",
		"Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA==",
	} {
		r.Header.Set(name, value)
	}
	change(r)
	resp, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatalf("handshake: %v", err)
	}
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusSwitchingProtocols {
		return resp.StatusCode, ""
	}
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatalf("read the answer: %v", err)
	}
	return resp.StatusCode, string(text)
}

// TestHandshake is what a request must be to become a connection, over the wire.
func TestHandshake(t *testing.T) {
	var accepted, admitted, released atomic.Int32
	s := serve(t, Options{
		Accept: func(context.Context, transport.Conn) { accepted.Add(1) },
		Admit: func(info transport.Info) (func(), error) {
			switch info.Credential {
			case "good", "":
				admitted.Add(1)
				return func() { released.Add(1) }, nil
			case "full":
				return nil, fmt.Errorf("%w: 32 connections are open", transport.ErrBusy)
			case "scoped":
				return nil, fmt.Errorf("%w: this token is for another terminal", transport.ErrForbidden)
			case "broken":
				return nil, errors.New("token store: secret detail")
			default:
				return nil, fmt.Errorf("%w: this token is not known", transport.ErrUnauthorized)
			}
		},
	})
	set := func(name string, values ...string) func(*http.Request) {
		return func(r *http.Request) { r.Header[name] = values }
	}
	tests := []struct {
		name   string
		change func(*http.Request)
		status int
		says   string
	}{
		{"good token", set("Authorization", "Bearer good"), 101, ""},
		{"scheme in lower case", set("Authorization", "bearer good"), 101, ""},
		{"no token", func(*http.Request) {}, 101, ""},
		{"unknown token", set("Authorization", "Bearer bad"), 401, "unauthorized: this token is not known"},
		{"other scheme", set("Authorization", "Basic Z29vZDpnb29k"), 401, "want one header"},
		{"empty token", set("Authorization", "Bearer "), 401, "want one header"},
		{"two tokens", set("Authorization", "Bearer good", "Bearer good"), 401, "want one header"},
		{"token of another terminal", set("Authorization", "Bearer scoped"), 403, "another terminal"},
		{"full", set("Authorization", "Bearer full"), 503, "busy: 32 connections are open"},
		{"fault of ours", set("Authorization", "Bearer broken"), 500, "internal error\n"},
		{"token with a byte outside HTTP", set("Authorization", "Bearer goo\u00e9d"), 401, "not known"},
		{"foreign origin", set("Origin", "http://attacker.example"), 403, "forbidden: origin"},
		{"foreign host", func(r *http.Request) { r.Host = "attacker.example" }, 403, "forbidden: host"},
		{"own origin", func(r *http.Request) { r.Header.Set("Origin", "http://"+s.addr) }, 101, ""},
		{"client name", set("Pal-Client", "laptop é"), 101, ""},
		{"client name too long", set("Pal-Client", strings.Repeat("x", limits.NameBytes+1)), 403, "Pal-Client"},
		{"client name with control", set("Pal-Client", "a\u202eb"), 403, "Pal-Client"},
		{"plain HTTP", func(r *http.Request) { r.Header.Del("Upgrade"); r.Header.Del("Connection") }, 426, "ws://"},
		{"POST", func(r *http.Request) { r.Method = http.MethodPost }, 426, "ws://"},
		{"no key", func(r *http.Request) { r.Header.Del("Sec-WebSocket-Key") }, 400, "Sec-WebSocket-Key"},
		{"old version", set("Sec-Websocket-Version", "8"), 400, "version"},
		{"giant header", set("X-Pad", strings.Repeat("x", 4*limits.HTTPHeaderBytes)), 431, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			before := accepted.Load()
			status, body := handshake(t, s.addr, test.change)
			if status != test.status || !strings.Contains(body, test.says) {
				t.Errorf("got %d %q, want %d with %q", status, body, test.status, test.says)
			}
			if strings.Contains(body, "secret") {
				t.Errorf("answer tells %q", body)
			}
			transporttest.Eventually(t, "every admission is released", func() bool { return admitted.Load() == released.Load() })
			if got, want := accepted.Load()-before, int32(0); (got != want) != (test.status == 101) {
				t.Errorf("Accept was called %d times for status %d", got, test.status)
			}
		})
	}
}

func TestDialErrors(t *testing.T) {
	refusing := func(kind error, text string) string {
		return serve(t, Options{
			Accept: echo,
			Admit:  func(transport.Info) (func(), error) { return nil, fmt.Errorf("%w: %s", kind, text) },
		}).url()
	}
	other := httptest.NewServer(http.RedirectHandler("http://attacker.example/", http.StatusFound))
	defer other.Close()
	plain := httptest.NewServer(http.NotFoundHandler())
	defer plain.Close()
	cut := cutting(t)
	tests := []struct {
		name, url string
		is        error
		says      string
	}{
		{"nothing listens", "ws://" + unusedAddr(t) + "/pal", syscall.ECONNREFUSED, "is `pal up` running?"},
		{"unauthorized", refusing(transport.ErrUnauthorized, "this token is not known"), transport.ErrUnauthorized, ": unauthorized: this token is not known"},
		{"forbidden", refusing(transport.ErrForbidden, "not from here"), transport.ErrForbidden, ": forbidden: not from here"},
		{"busy", refusing(transport.ErrBusy, "32 connections are open\x1b[2J"), transport.ErrBusy, ": busy: 32 connections are open[2J"},
		{"redirect", "ws" + strings.TrimPrefix(other.URL, "http"), nil, "no PAL terminal there: it answered 302"},
		{"another server", "ws" + strings.TrimPrefix(plain.URL, "http"), nil, "no PAL terminal there: it answered 404"},
		{"cut before an answer", cut, transport.ErrBusy, "closed before an answer"},
		{"wrong scheme", "http://127.0.0.1:1/", nil, "want ws://"},
		{"no host", "ws:///pal", nil, "want ws://"},
		{"secret in the address", "ws://me:hunter2@127.0.0.1:1/", nil, "want ws://"},
		{"no address", "::", nil, "dial"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			c, err := Dial(t.Context(), test.url, "secret", "")
			if err == nil {
				_ = c.Close("")
				t.Fatal("Dial: got a connection, want an error")
			}
			if test.is != nil && !errors.Is(err, test.is) || !strings.Contains(err.Error(), test.says) {
				t.Errorf("Dial: got %q, want %v with %q", err, test.is, test.says)
			}
			if strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("Dial: error tells a secret: %q", err)
			}
		})
	}
}

// TestRefusedDialLeavesNothing: a refused attempt keeps no socket, also to a server that would keep it.
func TestRefusedDialLeavesNothing(t *testing.T) {
	plain := httptest.NewServer(http.NotFoundHandler())
	defer plain.Close()
	files := transporttest.OpenFiles(t)
	for range 10 {
		if _, err := Dial(t.Context(), "ws"+strings.TrimPrefix(plain.URL, "http"), "", ""); err == nil {
			t.Fatal("Dial: got a connection, want an error")
		}
	}
	transporttest.Eventually(t, "no socket is left", func() bool { return transporttest.OpenFiles(t) <= files })
}

// TestDialGivesUp: a listener that never answers is not waited for longer than ctx.
func TestDialGivesUp(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	ctx, cancel := context.WithCancel(t.Context())
	failed := make(chan error, 1)
	go func() {
		_, err := Dial(ctx, "ws://"+silent.Addr().String()+"/pal", "", "")
		failed <- err
	}()
	c, err := silent.Accept() // the dial is under way
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	cancel()
	if err := <-failed; !errors.Is(err, context.Canceled) {
		t.Errorf("Dial: got %v, want %v", err, context.Canceled)
	}
}

// TestDialContextEnds: the context of the attempt is not the connection's.
func TestDialContextEnds(t *testing.T) {
	s := serve(t, Options{Accept: echo})
	ctx, cancel := context.WithCancel(t.Context())
	c, err := Dial(ctx, s.url(), "", "")
	if err != nil {
		t.Fatalf("Dial: %v", err)
	}
	defer c.Close("")
	cancel()
	wantEcho(t, c, "still here")
}

// TestTLS: wss end to end, and a certificate that nobody vouches for is refused.
func TestTLS(t *testing.T) {
	endpoint := Handler(Options{Accept: echo})
	server := httptest.NewTLSServer(endpoint)
	defer server.Close()
	defer func() { _ = endpoint.Close(t.Context(), "") }()
	url := "wss" + strings.TrimPrefix(server.URL, "https")
	if _, err := Dial(t.Context(), url, "", ""); err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("Dial without trust: got %v, want an error about the certificate", err)
	}
	trust := server.Client().Transport.(*http.Transport).TLSClientConfig
	c, err := dial(t.Context(), url, "", "", trust)
	if err != nil {
		t.Fatalf("Dial: %v", err)
	}
	defer c.Close("")
	wantEcho(t, c, "under TLS")
}

// unusedAddr returns an address that refuses connections.
func unusedAddr(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// cutting returns the address of a listener that closes whatever comes.
func cutting(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var loop sync.WaitGroup
	loop.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_ = c.Close()
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		loop.Wait()
	})
	return "ws://" + l.Addr().String() + "/pal"
}
