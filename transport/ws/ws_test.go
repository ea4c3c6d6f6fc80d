package ws

import (
	"bytes"
	"context"
	"errors"
	"net"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/pal-terminal/pal/limits"
	"github.com/pal-terminal/pal/transport"
	"github.com/pal-terminal/pal/transport/transporttest"
)

// served is a running endpoint on a loopback port.
type served struct {
	endpoint *Endpoint
	listener *Listener
	addr     string
}

func (s *served) url() string { return "ws://" + s.addr + "/pal" }

// serve runs an endpoint with the product's own server and listener until the test ends.
func serve(t *testing.T, opts Options) *served {
	t.Helper()
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("listen: %v", err)
	}
	s := &served{endpoint: Handler(opts), listener: Limit(tcp, DefaultPlaces), addr: tcp.Addr().String()}
	mux := http.NewServeMux()
	mux.Handle("/pal", s.endpoint)
	server := NewServer(mux, nil)
	stopped := make(chan error, 1)
	go func() { stopped <- server.Serve(s.listener) }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), limits.ShutdownTimeout)
		defer cancel()
		if err := s.endpoint.Close(ctx, "test is over"); err != nil {
			t.Errorf("endpoint: %v", err)
		}
		_ = server.Close()
		if err := <-stopped; !errors.Is(err, http.ErrServerClosed) {
			t.Errorf("serve: got %v, want %v", err, http.ErrServerClosed)
		}
		_ = s.listener.Close()
	})
	return s
}

// handOver is an Accept that gives connections to the test and keeps them until the endpoint is closed.
func handOver() (accept func(context.Context, transport.Conn), conns chan transport.Conn) {
	conns = make(chan transport.Conn, limits.Connections)
	return func(ctx context.Context, c transport.Conn) {
		conns <- c
		<-ctx.Done()
	}, conns
}

// echo is an Accept that answers every message with itself.
func echo(ctx context.Context, c transport.Conn) {
	for {
		message, err := c.Read(ctx)
		if errors.Is(err, transport.ErrTooLarge) || errors.Is(err, transport.ErrNotText) {
			message, err = []byte(err.Error()), nil
		}
		if err != nil || c.Write(ctx, message) != nil {
			return
		}
	}
}

func mustDial(t *testing.T, url string) transport.Conn {
	t.Helper()
	c, err := Dial(t.Context(), url, "", "")
	if err != nil {
		t.Fatalf("Dial: %v", err)
	}
	t.Cleanup(c.(*conn).cut) // a goodbye would wait for a server that does not read
	return c
}

func wantEcho(t *testing.T, c transport.Conn, text string) {
	t.Helper()
	if err := c.Write(t.Context(), []byte(text)); err != nil {
		t.Fatalf("Write: %v", err)
	}
	if got, err := c.Read(t.Context()); err != nil || string(got) != text {
		t.Fatalf("echo: got %q and error %v, want %q", got, err, text)
	}
}

func TestConnContract(t *testing.T) {
	transporttest.Run(t, func(t *testing.T) (client, server transport.Conn) {
		accept, conns := handOver()
		s := serve(t, Options{Accept: accept})
		client = mustDial(t, s.url())
		return client, <-conns
	})
}

func TestInfo(t *testing.T) {
	accept, conns := handOver()
	s := serve(t, Options{Accept: accept})
	c, err := Dial(t.Context(), s.url()+"?token=from-query&access_token=from-query", "secret", "laptop")
	if err != nil {
		t.Fatalf("Dial: %v", err)
	}
	defer c.Close("")
	got := (<-conns).Info()
	if got.Transport != "ws" || got.Credential != "secret" || got.Client != "laptop" || got.Remote == "" {
		t.Errorf("server's Info: got %+v, want ws, the token of the header, the client's name and an address", got)
	}
	if got := c.Info(); got.Transport != "ws" || got.Remote != s.addr || got.Credential != "" {
		t.Errorf("client's Info: got %+v, want ws, %s and no secret", got, s.addr)
	}
}

func TestTokenInQueryIsNoToken(t *testing.T) {
	accept, conns := handOver()
	s := serve(t, Options{Accept: accept})
	mustDial(t, s.url()+"?token=secret&authorization=Bearer+secret")
	if got := (<-conns).Info().Credential; got != "" {
		t.Errorf("credential: got %q, want none", got)
	}
}

// raw is the library's own connection, to send what Conn never does.
func raw(t *testing.T, url string) *websocket.Conn {
	t.Helper()
	c, _, err := websocket.Dial(t.Context(), url, &websocket.DialOptions{CompressionMode: websocket.CompressionContextTakeover}) //nolint:bodyclose // the library has closed it
	if err != nil {
		t.Fatalf("dial: %v", err)
	}
	c.SetReadLimit(-1)
	t.Cleanup(func() { _ = c.CloseNow() })
	return c
}

func wantText(t *testing.T, c *websocket.Conn, want string) {
	t.Helper()
	kind, got, err := c.Read(t.Context())
	if err != nil || kind != websocket.MessageText || string(got) != want {
		t.Fatalf("read: got %v %q and error %v, want text %q", kind, got, err, want)
	}
}

// TestNotText: binary frames and broken UTF-8 are refused, of any size, and the connection stays up.
func TestNotText(t *testing.T) {
	s := serve(t, Options{Accept: echo})
	c := raw(t, s.url())
	for _, m := range []struct {
		kind websocket.MessageType
		body []byte
		want string
	}{
		{websocket.MessageBinary, []byte(`{"type":"ping"}`), transport.ErrNotText.Error()},
		{websocket.MessageBinary, nil, transport.ErrNotText.Error()},
		{websocket.MessageText, []byte("\xc3\x28"), transport.ErrNotText.Error()},
		{websocket.MessageText, bytes.Repeat([]byte{0xff}, limits.MessageBytes), transport.ErrNotText.Error()},
		{websocket.MessageText, bytes.Repeat([]byte{0xff}, limits.MessageBytes+1), transport.ErrTooLarge.Error()},
		{websocket.MessageBinary, make([]byte, limits.MessageBytes+1), transport.ErrTooLarge.Error()},
		{websocket.MessageText, []byte("fine"), "fine"},
	} {
		if err := c.Write(t.Context(), m.kind, m.body); err != nil {
			t.Fatalf("write: %v", err)
		}
		wantText(t, c, m.want)
	}
}

// TestFragments: a message is a message however many frames it came in, and a rune may be cut between them.
func TestFragments(t *testing.T) {
	s := serve(t, Options{Accept: echo})
	c := raw(t, s.url())
	w, err := c.Writer(t.Context(), websocket.MessageText)
	if err != nil {
		t.Fatalf("writer: %v", err)
	}
	const text = "é🜂 in pieces"
	for i := range len(text) {
		if _, err := w.Write([]byte(text[i : i+1])); err != nil {
			t.Fatalf("write: %v", err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatalf("close writer: %v", err)
	}
	wantText(t, c, text)
}

// TestEndlessMessage: an oversized message is skipped up to a bound, and past it the connection ends.
func TestEndlessMessage(t *testing.T) {
	ended := make(chan error, 1)
	s := serve(t, Options{Accept: func(ctx context.Context, c transport.Conn) {
		_, err := c.Read(ctx)
		ended <- err
	}})
	c := raw(t, s.url())
	w, err := c.Writer(t.Context(), websocket.MessageText)
	if err != nil {
		t.Fatalf("writer: %v", err)
	}
	piece, sent := bytes.Repeat([]byte("x"), 64<<10), 0
	for err == nil && sent < 64<<20 {
		_, err = w.Write(piece)
		sent += len(piece)
	}
	if err == nil {
		t.Errorf("endless message: got %d bytes taken, want an end soon after %d", sent, limits.MessageDrainBytes)
	}
	if err := <-ended; !errors.Is(err, transport.ErrClosed) {
		t.Errorf("Read: got error %v, want %v", err, transport.ErrClosed)
	}
}

// TestHalfOpenPeer: a peer that is there and takes nothing costs one write timeout, and then the connection is over for
// reading as well.
func TestHalfOpenPeer(t *testing.T) {
	accept, conns := handOver()
	s := serve(t, Options{Accept: accept})
	mustDial(t, s.url()) // never reads
	c := (<-conns).(*conn)
	c.writeTimeout = 100 * time.Millisecond
	read := make(chan error, 1)
	go func() {
		_, err := c.Read(t.Context())
		read <- err
	}()
	var err error
	big := bytes.Repeat([]byte("x"), limits.MessageBytes)
	for i := 0; err == nil && i < 1000; i++ {
		err = c.Write(t.Context(), big)
	}
	if !errors.Is(err, transport.ErrClosed) {
		t.Errorf("Write: got error %v, want %v", err, transport.ErrClosed)
	}
	if err := <-read; !errors.Is(err, transport.ErrClosed) {
		t.Errorf("Read: got error %v, want %v", err, transport.ErrClosed)
	}
}

// TestSlowReader: a peer that reads late gets everything.
func TestSlowReader(t *testing.T) {
	accept, conns := handOver()
	s := serve(t, Options{Accept: accept})
	client := mustDial(t, s.url())
	server := <-conns
	big := bytes.Repeat([]byte("x"), limits.MessageBytes)
	const n = 64 // far more than the socket holds
	sent := make(chan error, 1)
	go func() {
		for range n {
			if err := server.Write(t.Context(), big); err != nil {
				sent <- err
				return
			}
		}
		sent <- nil
	}()
	select {
	case err := <-sent:
		t.Fatalf("Write: got %v for everything without a reader, want the socket to fill up", err)
	case <-time.After(limits.ConnWriteTimeout / 20):
	}
	for i := range n {
		if got, err := client.Read(t.Context()); err != nil || len(got) != len(big) {
			t.Fatalf("Read %d: got %d bytes and error %v, want %d", i, len(got), err, len(big))
		}
	}
	if err := <-sent; err != nil {
		t.Errorf("Write: %v", err)
	}
}

// TestProtocolViolation: frames against RFC 6455 end the connection and leave nothing waiting.
func TestProtocolViolation(t *testing.T) {
	for name, frame := range map[string][]byte{
		"unmasked":             {0x81, 0x01, 'x'},
		"reserved bits":        {0xf1, 0x81, 0, 0, 0, 0, 'x'},
		"unknown opcode":       {0x83, 0x80, 0, 0, 0, 0},
		"lonely continuation":  {0x80, 0x80, 0, 0, 0, 0},
		"negative length":      {0x81, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0},
		"fragmented control":   {0x09, 0x80, 0, 0, 0, 0},
		"text inside a text":   {0x01, 0x81, 0, 0, 0, 0, 'x', 0x81, 0x80, 0, 0, 0, 0},
		"half a header":        {0x81},
		"half a message":       {0x81, 0x85, 0, 0, 0, 0, 'x'},
		"close with bad code":  {0x88, 0x82, 0, 0, 0, 0, 0, 1},
		"close with no reason": {0x88, 0x80, 0, 0, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			accept, conns := handOver()
			s := serve(t, Options{Accept: accept})
			socket := mustDial(t, s.url()).(*conn).raw
			if _, err := socket.Write(frame); err != nil {
				t.Fatalf("write: %v", err)
			}
			if err := socket.(*heardConn).Conn.(*net.TCPConn).CloseWrite(); err != nil {
				t.Fatalf("close write: %v", err)
			}
			if got, err := (<-conns).Read(t.Context()); !errors.Is(err, transport.ErrClosed) {
				t.Errorf("Read: got %q and error %v, want %v", got, err, transport.ErrClosed)
			}
		})
	}
}

func TestEndpointClose(t *testing.T) {
	accept, conns := handOver()
	s := serve(t, Options{Accept: accept})
	client := mustDial(t, s.url())
	<-conns
	if err := s.endpoint.Close(t.Context(), "terminal stops"); err != nil {
		t.Errorf("Close: %v", err)
	}
	if _, err := client.Read(t.Context()); !errors.Is(err, transport.ErrClosed) || !bytes.Contains([]byte(err.Error()), []byte("terminal stops")) {
		t.Errorf("client's Read: got error %v, want %v with the reason", err, transport.ErrClosed)
	}
	late, err := Dial(t.Context(), s.url(), "", "")
	if err == nil {
		_, err = late.Read(t.Context())
		_ = late.Close("")
	}
	if err == nil {
		t.Error("connection after Close: got served, want turned away")
	}
	select {
	case c := <-conns:
		t.Errorf("Accept after Close: got a connection of %s, want none", c.Info().Remote)
	default:
	}
}

// TestAcceptPanics: a fault in one connection's service ends that connection and gives its place back.
func TestAcceptPanics(t *testing.T) {
	released := make(chan struct{})
	s := serve(t, Options{
		Accept: func(context.Context, transport.Conn) { panic("fault") },
		Admit:  func(transport.Info) (func(), error) { return func() { close(released) }, nil },
	})
	c := mustDial(t, s.url())
	if _, err := c.Read(t.Context()); !errors.Is(err, transport.ErrClosed) {
		t.Errorf("Read: got error %v, want %v", err, transport.ErrClosed)
	}
	<-released
}

// BenchmarkEcho measures a round trip of a small message, as an exec makes it.
func BenchmarkEcho(b *testing.B) {
	endpoint := Handler(Options{Accept: echo})
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/pal", endpoint)
	server := NewServer(mux, nil)
	go func() { _ = server.Serve(Limit(tcp, DefaultPlaces)) }()
	defer server.Close()
	defer func() { _ = endpoint.Close(context.Background(), "") }()
	c, err := Dial(b.Context(), "ws://"+tcp.Addr().String()+"/pal", "", "")
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close("")
	message := bytes.Repeat([]byte("m"), 200)
	trips := make([]time.Duration, 0, 1<<16)
	b.ReportAllocs()
	for b.Loop() {
		start := time.Now()
		if err := c.Write(b.Context(), message); err != nil {
			b.Fatal(err)
		}
		if _, err := c.Read(b.Context()); err != nil {
			b.Fatal(err)
		}
		trips = append(trips, time.Since(start))
	}
	slices.Sort(trips)
	b.ReportMetric(float64(trips[len(trips)/2].Nanoseconds())/1e3, "p50-µs")
	b.ReportMetric(float64(trips[len(trips)*99/100].Nanoseconds())/1e3, "p99-µs")
}
