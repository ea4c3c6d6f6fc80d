package ws

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pal-terminal/pal/limits"
	"github.com/pal-terminal/pal/transport"
	"github.com/pal-terminal/pal/transport/transporttest"
)

// admitUpTo is an Admit with a number of places.
func admitUpTo(places int) func(transport.Info) (func(), error) {
	taken := make(chan struct{}, places)
	return func(transport.Info) (func(), error) {
		select {
		case taken <- struct{}{}:
			return func() { <-taken }, nil
		default:
			return nil, fmt.Errorf("%w: %d connections are open", transport.ErrBusy, places)
		}
	}
}

// TestFloodOfDials: of a thousand dials, as many as there are places become connections that work, the others are told, and
// nothing stays open afterwards.
func TestFloodOfDials(t *testing.T) {
	const dials, places = 1000, limits.Connections
	files := transporttest.OpenFiles(t)
	t.Run("flood", func(t *testing.T) {
		s := serve(t, Options{Accept: echo, Admit: admitUpTo(places)})
		var mu sync.Mutex
		var live []transport.Conn
		var busy, most atomic.Int32
		var wave sync.WaitGroup
		slots := make(chan struct{}, 100) // dialling at one time
		for range dials {
			slots <- struct{}{}
			wave.Go(func() {
				defer func() { <-slots }()
				c, err := Dial(t.Context(), s.url(), "", "")
				switch {
				case err == nil:
					mu.Lock()
					live = append(live, c)
					mu.Unlock()
				case errors.Is(err, transport.ErrBusy):
					busy.Add(1)
				default:
					t.Errorf("Dial: got %v, want a connection or %v", err, transport.ErrBusy)
				}
				most.Store(max(most.Load(), int32(transporttest.OpenFiles(t))))
			})
		}
		wave.Wait()
		if len(live) > places || len(live)+int(busy.Load()) != dials {
			t.Errorf("got %d connections and %d busy, want at most %d and %d together", len(live), busy.Load(), places, dials)
		}
		if len(live) == 0 {
			t.Error("got no connection, want some")
		}
		// Both ends are in this process: each socket counts twice, and the dials under way once more.
		if got, bound := int(most.Load())-files, 2*(DefaultPlaces+limits.Refusals)+2*cap(slots)+16; got > bound {
			t.Errorf("descriptors during the flood: got %d more, want at most %d", got, bound)
		}
		for i, c := range live {
			wantEcho(t, c, fmt.Sprint("connection ", i))
			_ = c.Close("")
		}
		transporttest.Eventually(t, "a place is free again", func() bool {
			c, err := Dial(t.Context(), s.url(), "", "")
			if err == nil {
				_ = c.Close("")
			}
			return err == nil
		})
	})
	transporttest.Eventually(t, "no descriptor is left", func() bool { return transporttest.OpenFiles(t) <= files })
}

// TestFloodOfSilence: sockets that say nothing cannot keep others out. A live connection is untouched and a new one gets in.
func TestFloodOfSilence(t *testing.T) {
	s := serve(t, Options{Accept: echo, Admit: admitUpTo(limits.Connections)})
	before := mustDial(t, s.url())
	wantEcho(t, before, "before")
	for i := range 3 * DefaultPlaces {
		c, err := net.Dial("tcp", s.addr)
		if err != nil {
			t.Fatalf("silent socket %d: %v", i, err)
		}
		defer c.Close()
		if i%2 == 1 { // half of them drip
			_, _ = io.WriteString(c, "GET /pal HTTP/1.1\r\nHost: ")
		}
	}
	transporttest.Eventually(t, "refusals are counted", func() bool { return s.listener.Refused() > 0 })
	start := time.Now()
	transporttest.Eventually(t, "a newcomer gets in", func() bool {
		c, err := Dial(t.Context(), s.url(), "", "")
		if err != nil {
			return false
		}
		defer c.Close("")
		wantEcho(t, c, "newcomer")
		return true
	})
	if took := time.Since(start); took > limits.HelloTimeout/2 {
		t.Errorf("a newcomer got in after %v, want long before silent sockets time out (%v)", took, limits.HelloTimeout)
	}
	wantEcho(t, before, "after")
	s.listener.mu.Lock()
	open := s.listener.open
	s.listener.mu.Unlock()
	if open > DefaultPlaces {
		t.Errorf("open sockets: got %d, want at most %d", open, DefaultPlaces)
	}
}

// limited returns a bare Listener of a few places, and a dial to it.
func limited(t *testing.T, places int) (*Listener, func() net.Conn) {
	t.Helper()
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := Limit(tcp, places)
	t.Cleanup(func() { _ = l.Close() })
	return l, func() net.Conn {
		c, err := net.Dial("tcp", tcp.Addr().String())
		if err != nil {
			t.Fatalf("dial: %v", err)
		}
		t.Cleanup(func() { _ = c.Close() })
		return c
	}
}

func accept(t *testing.T, l *Listener) *socket {
	t.Helper()
	c, err := l.Accept()
	if err != nil {
		t.Fatalf("Accept: %v", err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c.(*socket)
}

// acceptLater accepts in the background: Accept does not return while it turns sockets away.
func acceptLater(t *testing.T, l *Listener) <-chan *socket {
	t.Helper()
	got := make(chan *socket, 1)
	var loop sync.WaitGroup
	loop.Go(func() {
		c, err := l.Accept()
		if err == nil {
			got <- c.(*socket)
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		loop.Wait()
	})
	return got
}

func TestListenerTellsThatItIsFull(t *testing.T) {
	l, dial := limited(t, 1)
	dial()
	first := accept(t, l)
	next := acceptLater(t, l)
	refused := dial()
	if _, err := io.WriteString(refused, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
		t.Fatalf("write: %v", err)
	}
	answer, err := io.ReadAll(refused)
	if err != nil || !strings.HasPrefix(string(answer), "HTTP/1.1 503 ") || !strings.HasSuffix(string(answer), "connections.\n") {
		t.Errorf("answer: got %q and error %v, want the whole 503", answer, err)
	}
	if got := l.Refused(); got != 1 {
		t.Errorf("Refused: got %d, want 1", got)
	}
	// An answer before the request would be taken for a fault, and a silent socket deserves none.
	if answer, err := io.ReadAll(dial()); len(answer) > 0 {
		t.Errorf("answer to a silent socket: got %q and error %v, want none", answer, err)
	}
	_ = first.Close()
	_ = first.Close() // gives one place back, not two
	dial()
	<-next
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open != 1 {
		t.Errorf("open: got %d, want 1", l.open)
	}
}

func TestOldestStrangerMakesWay(t *testing.T) {
	l, dial := limited(t, 2)
	kept := dial()
	Keep(socketContext(t.Context(), accept(t, l)))
	oldest := dial()
	aged := accept(t, l)
	l.mu.Lock()
	aged.since = aged.since.Add(-limits.UnidentifiedGrace)
	l.mu.Unlock()
	dial()
	accept(t, l)
	if n, err := oldest.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Errorf("read of the oldest stranger: got %d bytes and error %v, want it closed", n, err)
	}
	if err := kept.SetReadDeadline(time.Now().Add(limits.UnidentifiedGrace / 5)); err != nil {
		t.Fatal(err)
	}
	var timeout net.Error
	if _, err := kept.Read(make([]byte, 1)); !errors.As(err, &timeout) || !timeout.Timeout() {
		t.Errorf("read of a kept socket: got error %v, want it open", err)
	}
}

// TestKeptUnderTLS: the socket is found below the TLS that http.Server put on it.
func TestKeptUnderTLS(t *testing.T) {
	accepted, conns := handOver()
	endpoint := Handler(Options{Accept: accepted})
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := Limit(tcp, 1)
	server := httptest.NewUnstartedServer(endpoint)
	_ = server.Listener.Close()
	server.Listener, server.Config = l, NewServer(endpoint, nil)
	server.StartTLS()
	defer server.Close()
	defer func() { _ = endpoint.Close(context.WithoutCancel(t.Context()), "") }()
	trust := server.Client().Transport.(*http.Transport).TLSClientConfig
	c, err := dial(t.Context(), "wss"+strings.TrimPrefix(server.URL, "https"), "", "", trust)
	if err != nil {
		t.Fatalf("dial: %v", err)
	}
	defer c.(*conn).cut()
	<-conns
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open != 1 || l.strangers.Len() != 0 {
		t.Errorf("got %d open sockets and %d strangers, want 1 and 0", l.open, l.strangers.Len())
	}
}

// TestServerLimits: no wait of the server is without a bound.
func TestServerLimits(t *testing.T) {
	s := NewServer(http.NotFoundHandler(), nil)
	for name, d := range map[string]time.Duration{"ReadHeaderTimeout": s.ReadHeaderTimeout, "IdleTimeout": s.IdleTimeout} {
		if d <= 0 || d > time.Minute {
			t.Errorf("%s: got %v, want a bound", name, d)
		}
	}
	if s.MaxHeaderBytes != limits.HTTPHeaderBytes {
		t.Errorf("MaxHeaderBytes: got %d, want %d", s.MaxHeaderBytes, limits.HTTPHeaderBytes)
	}
}

// TestSlowLoris: a request whose header never ends is cut by the server.
func TestSlowLoris(t *testing.T) {
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := NewServer(Handler(Options{Accept: echo}), nil)
	server.ReadHeaderTimeout /= 50
	done := make(chan error, 1)
	go func() { done <- server.Serve(Limit(tcp, DefaultPlaces)) }()
	defer func() {
		_ = server.Close()
		<-done
	}()
	c, err := net.Dial("tcp", tcp.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := io.WriteString(c, "GET /pal HTTP/1.1\r\nHost: localhost\r\nX-"); err != nil {
		t.Fatal(err)
	}
	if err := c.SetReadDeadline(time.Now().Add(limits.HelloTimeout)); err != nil {
		t.Fatal(err)
	}
	if rest, err := io.ReadAll(c); err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("read: got %q and error %v, want the socket closed by the server", rest, err)
	}
}
