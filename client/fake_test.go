package client

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
	"testing"

	"github.com/pal-terminal/pal/limits"
	"github.com/pal-terminal/pal/protocol"
	"github.com/pal-terminal/pal/transport"
	"github.com/pal-terminal/pal/transport/ws"
)

// fake is a terminal that does what a test's script says, one request at a time, and remembers what it was asked.
type fake struct {
	t      *testing.T
	script func(f *fake, r *protocol.Request)

	mu   sync.Mutex
	conn transport.Conn
	seen []*protocol.Request
}

// serve is one connection of the fake.
func (f *fake) serve(ctx context.Context, conn transport.Conn) {
	f.mu.Lock()
	f.conn = conn
	f.mu.Unlock()
	for {
		message, err := conn.Read(ctx)
		if err != nil {
			return
		}
		r, err := protocol.Decode(message)
		if err != nil {
			f.t.Errorf("the client sent %q: %v", message, err)
			return
		}
		f.mu.Lock()
		f.seen = append(f.seen, r)
		f.mu.Unlock()
		f.script(f, r)
	}
}

// say sends one answer or event. A connection that is gone is the test's business.
func (f *fake) say(answer any) {
	f.t.Helper()
	message, err := protocol.Encode(answer)
	if err != nil {
		f.t.Errorf("encode %T: %v", answer, err)
		return
	}
	f.write(message)
}

func (f *fake) write(message []byte) {
	f.t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.conn.Write(context.Background(), message); err != nil && !errors.Is(err, transport.ErrClosed) {
		f.t.Errorf("fake terminal: write: %v", err)
	}
}

func (f *fake) hangUp(reason string) {
	f.mu.Lock()
	conn := f.conn
	f.mu.Unlock()
	_ = conn.Close(reason)
}

// requests returns what was asked so far, by type.
func (f *fake) requests(typ string) []*protocol.Request {
	f.mu.Lock()
	defer f.mu.Unlock()
	var of []*protocol.Request
	for _, r := range f.seen {
		if r.Type == typ {
			of = append(of, r)
		}
	}
	return of
}

func (f *fake) refuse(r *protocol.Request, err error) { f.say(protocol.Refuse(r.ID, err)) }

func (f *fake) ack(r *protocol.Request) {
	f.say(&protocol.Ack{Header: protocol.NewHeader(r.ID, protocol.AnswerAck)})
}

func (f *fake) event(seq uint64, name string) {
	id := "evt_1"
	f.say(&protocol.Event{Header: protocol.NewHeader(&id, protocol.AnswerEvent), Event: name, Seq: seq})
}

func result(r *protocol.Request, stdout string) *protocol.Result {
	return &protocol.Result{Header: protocol.NewHeader(r.ID, protocol.AnswerResult), Stdout: stdout}
}

// overPipe connects a client to a fake in memory. Both are gone when the test ends.
func overPipe(t *testing.T, script func(f *fake, r *protocol.Request)) (*Client, *fake) {
	t.Helper()
	near, far := transport.Pipe()
	f := &fake{t: t, script: script, conn: far}
	var serving sync.WaitGroup
	serving.Go(func() { f.serve(context.Background(), far) })
	c := New(near)
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
		_ = far.Close("")
		serving.Wait()
	})
	return c, f
}

// overWS serves a fake on a loopback port and returns its address.
func overWS(t *testing.T, admit func(transport.Info) (func(), error), script func(f *fake, r *protocol.Request)) (url string, f *fake) {
	t.Helper()
	f = &fake{t: t, script: script}
	endpoint := ws.Handler(ws.Options{Accept: f.serve, Admit: admit})
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("listen: %v", err)
	}
	server := ws.NewServer(endpoint, nil)
	stopped := make(chan error, 1)
	go func() { stopped <- server.Serve(ws.Limit(tcp, ws.DefaultPlaces)) }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), limits.ShutdownTimeout)
		defer cancel()
		if err := endpoint.Close(ctx, "test is over"); err != nil {
			t.Errorf("endpoint: %v", err)
		}
		_ = server.Close()
		if err := <-stopped; !errors.Is(err, http.ErrServerClosed) {
			t.Errorf("serve: %v", err)
		}
	})
	return "ws://" + tcp.Addr().String() + "/pal", f
}

// polite answers hello and ping, and execs with their own code.
func polite(f *fake, r *protocol.Request) {
	switch body := r.Body.(type) {
	case *protocol.Hello:
		f.say(&protocol.Welcome{
			Header: protocol.NewHeader(r.ID, protocol.AnswerWelcome), Versions: []string{"1"}, Terminal: "bench",
			Actor: protocol.ActorInfo{Name: "local-human", Class: "human"},
		})
	case *protocol.Exec:
		f.say(result(r, body.Code))
	default:
		if r.Type == protocol.TypePing {
			f.say(&protocol.Pong{Header: protocol.NewHeader(r.ID, protocol.AnswerPong)})
			return
		}
		f.refuse(r, &protocol.Error{Code: protocol.CodeUnavailable, Message: "not in this script"})
	}
}
