package client

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/pal-terminal/pal/limits"
	"github.com/pal-terminal/pal/protocol"
	"github.com/pal-terminal/pal/transport"
	"github.com/pal-terminal/pal/transport/transporttest"
)

// TestDial goes the whole way over WebSocket: token, name, hello, exec.
func TestDial(t *testing.T) {
	infos := make(chan transport.Info, 1)
	url, f := overWS(t, func(info transport.Info) (func(), error) {
		infos <- info
		return nil, nil
	}, polite)
	c, err := Dial(t.Context(), Target{URL: url, Token: "secret", Name: "laptop"})
	if err != nil {
		t.Fatalf("Dial: %v", err)
	}
	defer c.Close()
	if got := <-infos; got.Credential != "secret" || got.Client != "laptop" {
		t.Errorf("terminal saw %+v, want the token and the name", got)
	}
	want := &protocol.Hello{Client: "laptop"}
	if diff := cmp.Diff(want, f.requests(protocol.TypeHello)[0].Body); diff != "" {
		t.Errorf("hello (-want +got):\n%s", diff)
	}
	if got := c.Welcome(); got == nil || got.Terminal != "bench" {
		t.Errorf("Welcome: got %+v, want the terminal's", got)
	}
	if got, err := c.Exec(t.Context(), protocol.Exec{Code: "1+1"}); err != nil || got.Stdout != "1+1" {
		t.Errorf("Exec: got %+v and error %v, want its stdout", got, err)
	}
	if err := c.Ping(t.Context()); err != nil {
		t.Errorf("Ping: %v", err)
	}
}

func TestDialRefused(t *testing.T) {
	goroutines := runtime.NumGoroutine()
	t.Run("by the listener", func(t *testing.T) {
		url, _ := overWS(t, func(transport.Info) (func(), error) {
			return nil, fmt.Errorf("%w: this token is not known", transport.ErrUnauthorized)
		}, polite)
		if _, err := Dial(t.Context(), Target{URL: url, Token: "bad"}); !errors.Is(err, transport.ErrUnauthorized) {
			t.Errorf("Dial: got %v, want %v", err, transport.ErrUnauthorized)
		}
	})
	t.Run("by the terminal", func(t *testing.T) {
		url, _ := overWS(t, nil, func(f *fake, r *protocol.Request) {
			f.refuse(r, &protocol.Error{Code: protocol.CodeUnauthorized, Message: "say hello with a token"})
		})
		_, err := Dial(t.Context(), Target{URL: url})
		if e, ok := errors.AsType[*protocol.Error](err); !ok || e.Code != protocol.CodeUnauthorized {
			t.Errorf("Dial: got %v, want a refusal %s", err, protocol.CodeUnauthorized)
		}
	})
	transporttest.Eventually(t, "no goroutine is left", func() bool { return runtime.NumGoroutine() <= goroutines })
}

// TestConcurrentRequests: answers that come in another order than the requests reach who asked.
func TestConcurrentRequests(t *testing.T) {
	const n = 2 * limits.RequestsPerConn
	var held []*protocol.Request
	c, _ := overPipe(t, func(f *fake, r *protocol.Request) {
		held = append(held, r)
		if len(held) < n {
			return
		}
		for i := len(held) - 1; i >= 0; i-- { // last comes first
			f.say(result(held[i], held[i].Body.(*protocol.Exec).Code))
		}
	})
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			code := fmt.Sprint("code ", i)
			if got, err := c.Exec(t.Context(), protocol.Exec{Code: code}); err != nil || got.Stdout != code {
				t.Errorf("Exec: got %+v and error %v, want stdout %q", got, err, code)
			}
		})
	}
	all.Wait()
	ids := make(map[string]bool)
	for _, r := range held {
		if len(*r.ID) > limits.IDBytes || ids[*r.ID] {
			t.Errorf("id %q is too long or used twice", *r.ID)
		}
		ids[*r.ID] = true
	}
}

func TestIDsOfTwoClientsDiffer(t *testing.T) {
	var ids []string
	for range 2 {
		c, f := overPipe(t, polite)
		if err := c.Ping(t.Context()); err != nil {
			t.Fatalf("Ping: %v", err)
		}
		ids = append(ids, *f.requests(protocol.TypePing)[0].ID)
	}
	if ids[0] == ids[1] {
		t.Errorf("ids of two clients: got %q twice", ids[0])
	}
}

// TestRefusal: a refusal is an error with everything the terminal said, except for exec, whose result is the answer.
func TestRefusal(t *testing.T) {
	want := &protocol.Error{
		Code: protocol.CodeDenied, Message: "pump would run dry", Resource: "PUMP", Rule: "level", Holder: "core", Nearest: []string{"VALVE"},
		ApprovalID: "ap_1",
	}
	c, _ := overPipe(t, func(f *fake, r *protocol.Request) { f.refuse(r, want) })
	ctx := t.Context()
	asks := map[string]func() error{
		"PinSet":     func() error { _, err := c.PinSet(ctx, "PUMP", 1); return err },
		"PinRead":    func() error { _, err := c.PinRead(ctx, "PUMP"); return err },
		"Status":     func() error { _, err := c.Status(ctx); return err },
		"Describe":   func() error { _, err := c.Describe(ctx); return err },
		"Pins":       func() error { _, err := c.Pins(ctx); return err },
		"Stop":       func() error { return c.Stop(ctx, "smoke") },
		"EstopClear": func() error { return c.EstopClear(ctx, "fixed") },
		"Reset":      func() error { return c.Reset(ctx, "") },
		"Interrupt":  func() error { return c.Interrupt(ctx, "x") },
		"Fetch":      func() error { _, err := c.Fetch(ctx, "x"); return err },
		"Token":      func() error { _, err := c.Token(ctx, protocol.Token{Op: "ls"}); return err },
		"Sim":        func() error { _, err := c.Sim(ctx, protocol.Sim{Op: "ls"}); return err },
		"Conns":      func() error { _, err := c.Conns(ctx); return err },
		"Kick":       func() error { return c.Kick(ctx, 3) },
		"Board":      func() error { _, err := c.Board(ctx, "show"); return err },
		"Hello":      func() error { _, err := c.Hello(ctx, protocol.Hello{}); return err },
		"Ping":       func() error { return c.Ping(ctx) },
		"Subscribe":  func() error { _, _, err := c.Subscribe(ctx, nil, nil); return err },
		"Do":         func() error { _, err := c.Do(ctx, protocol.TypePins, nil); return err },
	}
	for name, do := range asks {
		got, ok := errors.AsType[*protocol.Error](do())
		if diff := cmp.Diff(want, got); !ok || diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	res, err := c.Exec(ctx, protocol.Exec{Code: "PUMP.on()"})
	if err != nil || !res.Error || res.Code != protocol.CodeDenied {
		t.Errorf("Exec: got %+v and error %v, want the refusal as a result", res, err)
	}
}

// TestAnswers: each request says what it should and its answer comes back as it was sent.
func TestAnswers(t *testing.T) {
	five := uint64(5)
	tests := []struct {
		name   string
		ask    func(ctx context.Context, c *Client) (any, error)
		body   any
		answer func(h protocol.Header) any
		typ    string
	}{
		{"Status", func(ctx context.Context, c *Client) (any, error) { return c.Status(ctx) }, &protocol.StatusQuery{},
			func(h protocol.Header) any {
				return &protocol.Status{Header: h, Terminal: "t", Machines: []protocol.MachineState{}}
			}, protocol.AnswerStatus},
		{"Pins", func(ctx context.Context, c *Client) (any, error) { return c.Pins(ctx) }, nil,
			func(h protocol.Header) any { return &protocol.Pins{Header: h, Pins: []protocol.PinState{{Pin: "5"}}} }, protocol.AnswerPins},
		{"PinSet", func(ctx context.Context, c *Client) (any, error) { return c.PinSet(ctx, "LED", 1) }, &protocol.PinSet{Pin: "LED", Value: 1},
			func(h protocol.Header) any {
				return &protocol.Result{Header: h, Effects: []protocol.Effect{{Pin: "5", To: 1}}}
			}, protocol.AnswerResult},
		{"PinRead", func(ctx context.Context, c *Client) (any, error) { return c.PinRead(ctx, "5") }, &protocol.PinRead{Pin: "5"},
			func(h protocol.Header) any { return &protocol.Result{Header: h, Value: []byte("1")} }, protocol.AnswerResult},
		{"Conns", func(ctx context.Context, c *Client) (any, error) { return c.Conns(ctx) }, &protocol.Conn{Op: "ls"},
			func(h protocol.Header) any { return &protocol.Conns{Header: h, Conns: []protocol.ConnInfo{{Conn: 1}}} }, protocol.AnswerConn},
		{"Kick", func(ctx context.Context, c *Client) (any, error) { return nil, c.Kick(ctx, 5) }, &protocol.Conn{Op: "kick", Conn: &five},
			func(h protocol.Header) any { return &protocol.Ack{Header: h} }, protocol.AnswerAck},
		{"Token", func(ctx context.Context, c *Client) (any, error) { return c.Token(ctx, protocol.Token{Op: "ls"}) }, &protocol.Token{Op: "ls"},
			func(h protocol.Header) any { return &protocol.Tokens{Header: h, Tokens: []protocol.ActorInfo{}} }, protocol.AnswerToken},
		{"Sim", func(ctx context.Context, c *Client) (any, error) { return c.Sim(ctx, protocol.Sim{Op: "ls"}) }, &protocol.Sim{Op: "ls"},
			func(h protocol.Header) any { return &protocol.SimAnswer{Header: h, Sim: []byte(`{"a":1}`)} }, protocol.AnswerSim},
		{"Board", func(ctx context.Context, c *Client) (any, error) { return c.Board(ctx, "source") }, &protocol.Board{Op: "source"},
			func(h protocol.Header) any { return &protocol.BoardAnswer{Header: h, Source: "x = 1"} }, protocol.AnswerBoard},
		{"Stop", func(ctx context.Context, c *Client) (any, error) { return nil, c.Stop(ctx, "smoke") }, &protocol.Stop{Reason: "smoke"},
			func(h protocol.Header) any { return &protocol.Ack{Header: h} }, protocol.AnswerAck},
		{"EstopClear", func(ctx context.Context, c *Client) (any, error) { return nil, c.EstopClear(ctx, "fixed") }, &protocol.EstopClear{Reason: "fixed"},
			func(h protocol.Header) any { return &protocol.Ack{Header: h} }, protocol.AnswerAck},
		{"Reset", func(ctx context.Context, c *Client) (any, error) { return nil, c.Reset(ctx, "s") }, &protocol.Reset{Session: "s"},
			func(h protocol.Header) any { return &protocol.Ack{Header: h} }, protocol.AnswerAck},
		{"Interrupt", func(ctx context.Context, c *Client) (any, error) { return nil, c.Interrupt(ctx, "tr") }, &protocol.Target{Target: "tr"},
			func(h protocol.Header) any { return &protocol.Ack{Header: h} }, protocol.AnswerAck},
		{"Fetch of code that a refusal ended", func(ctx context.Context, c *Client) (any, error) { return c.Fetch(ctx, "old") }, &protocol.Target{Target: "old"},
			func(h protocol.Header) any {
				return &protocol.Result{Header: h, Error: true, Code: protocol.CodeDenied, Exception: &protocol.Exception{Class: "OSError"}}
			}, protocol.AnswerResult},
		{"Fetch of code that raised", func(ctx context.Context, c *Client) (any, error) { return c.Fetch(ctx, "old") }, &protocol.Target{Target: "old"},
			func(h protocol.Header) any {
				return &protocol.Result{Header: h, Error: true, Code: protocol.CodePythonError}
			}, protocol.AnswerResult},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var said any
			c, f := overPipe(t, func(f *fake, r *protocol.Request) {
				said = test.answer(protocol.NewHeader(r.ID, test.typ))
				f.say(said)
			})
			got, err := test.ask(t.Context(), c)
			if err != nil {
				t.Fatalf("got error %v", err)
			}
			f.mu.Lock()
			defer f.mu.Unlock()
			if diff := cmp.Diff(test.body, f.seen[0].Body); diff != "" {
				t.Errorf("request (-want +got):\n%s", diff)
			}
			if got == nil {
				return
			}
			if diff := cmp.Diff(said, got); diff != "" {
				t.Errorf("answer (-want +got):\n%s", diff)
			}
		})
	}
}

// TestUnexpectedAnswer: an answer of a wrong or unknown type is an error that names it, not a wrong value.
func TestUnexpectedAnswer(t *testing.T) {
	c, _ := overPipe(t, func(f *fake, r *protocol.Request) {
		if r.Type == protocol.TypeStatus {
			f.write(fmt.Appendf(nil, `{"version":"1","id":%q,"type":"hologram","data":1}`, *r.ID))
			return
		}
		f.ack(r)
	})
	if _, err := c.Status(t.Context()); err == nil || !strings.Contains(err.Error(), `"hologram"`) {
		t.Errorf("Status: got %v, want an error that names the type", err)
	}
	if _, err := c.Exec(t.Context(), protocol.Exec{Code: "1"}); err == nil || !strings.Contains(err.Error(), `"ack"`) {
		t.Errorf("Exec: got %v, want an error that names the type", err)
	}
}

// TestStrayMessages: what nobody asked for is dropped and does no harm.
func TestStrayMessages(t *testing.T) {
	c, _ := overPipe(t, func(f *fake, r *protocol.Request) {
		stray := "somebody-else"
		f.say(&protocol.Ack{Header: protocol.NewHeader(&stray, protocol.AnswerAck)})
		f.say(&protocol.Output{Header: protocol.NewHeader(&stray, protocol.AnswerOutput), Stream: "stdout", Data: "x"})
		f.say(&protocol.Output{Header: protocol.NewHeader(r.ID, protocol.AnswerOutput), Stream: "stdout", Data: "not asked for"})
		f.event(1, "boot")
		polite(f, r)
		polite(f, r) // the same answer twice
	})
	for range 2 {
		if err := c.Ping(t.Context()); err != nil {
			t.Errorf("Ping: %v", err)
		}
	}
}

// TestTooLargeIsNotSent: the terminal could only skip it, so the client says so itself and the connection goes on.
func TestTooLargeIsNotSent(t *testing.T) {
	c, f := overPipe(t, polite)
	_, err := c.Exec(t.Context(), protocol.Exec{Code: strings.Repeat("#", limits.MessageBytes)})
	if e, ok := errors.AsType[*protocol.Error](err); !ok || e.Code != protocol.CodeTooLarge {
		t.Errorf("Exec: got %v, want %s", err, protocol.CodeTooLarge)
	}
	if got := f.requests(protocol.TypeExec); len(got) != 0 {
		t.Errorf("the terminal got %d requests, want none", len(got))
	}
	if err := c.Ping(t.Context()); err != nil {
		t.Errorf("Ping: %v", err)
	}
}

// TestEnd: when the connection ends, whatever the way, everything that waits fails with the reason, and so does what comes later.
func TestEnd(t *testing.T) {
	tests := []struct {
		name string
		end  func(c *Client, f *fake)
		is   error
		says string
	}{
		{"terminal hangs up", func(_ *Client, f *fake) { f.hangUp("kicked by local-human") }, transport.ErrClosed, "kicked by local-human"},
		{"refusal without an id", func(_ *Client, f *fake) {
			f.say(protocol.Refuse(nil, &protocol.Error{Code: protocol.CodeUnauthorized, Message: "the token was revoked"}))
			f.hangUp("")
		}, transport.ErrClosed, "the token was revoked"},
		{"client closes", func(c *Client, _ *fake) { _ = c.Close() }, transport.ErrClosed, "client closed"},
		{"no JSON", func(_ *Client, f *fake) { f.write([]byte("HTTP/1.1 200 OK")) }, nil, "decode answer"},
		{"duplicate keys", func(_ *Client, f *fake) { f.write([]byte(`{"version":"1","type":"pong","type":"ack","id":null}`)) }, nil, "decode answer"},
		{"message too large", func(_ *Client, f *fake) { f.write(make([]byte, limits.MessageBytes+1)) }, transport.ErrTooLarge, "too large"},
		{"message is not text", func(_ *Client, f *fake) { f.write([]byte{0xff}) }, transport.ErrNotText, "not text"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			asked := make(chan struct{}, 3)
			c, f := overPipe(t, func(f *fake, r *protocol.Request) {
				if r.Type == protocol.TypeSubscribe {
					f.ack(r)
					return
				}
				asked <- struct{}{} // and never answers
			})
			events, cancel, err := c.Subscribe(t.Context(), nil, nil)
			if err != nil {
				t.Fatalf("Subscribe: %v", err)
			}
			defer cancel()
			errs := make(chan error, 3)
			for range 2 {
				go func() { errs <- c.Ping(t.Context()) }()
			}
			go func() {
				_, err := c.Exec(t.Context(), protocol.Exec{Code: "while True: pass"})
				errs <- err
			}()
			for range 3 {
				<-asked
			}
			test.end(c, f)
			for range 3 {
				wantEnd(t, <-errs, test.is, test.says)
			}
			<-c.Done()
			wantEnd(t, c.Err(), test.is, test.says)
			wantEnd(t, c.Ping(t.Context()), test.is, test.says)
			_, _, err = c.Subscribe(t.Context(), nil, nil)
			wantEnd(t, err, test.is, test.says)
			if e, ok := <-events; ok {
				t.Errorf("events: got %+v, want the channel closed", e)
			}
		})
	}
}

func wantEnd(t *testing.T, err, is error, says string) {
	t.Helper()
	if err == nil || is != nil && !errors.Is(err, is) || !strings.Contains(err.Error(), says) {
		t.Errorf("got %v, want %v with %q", err, is, says)
	}
}

// TestAnswerBeforeEnd: an answer that came before the connection ended is still the answer.
func TestAnswerBeforeEnd(t *testing.T) {
	c, f := overPipe(t, polite)
	f.hangUp("that was all")
	<-c.Done()
	want := &protocol.Pong{}
	for range 50 { // both are there, and which one a select takes is chance
		came := &call{answer: make(chan protocol.Answer, 1)}
		came.answer <- want
		if got, err := c.wait(t.Context(), "id", protocol.TypePing, came); err != nil || got != want {
			t.Fatalf("wait: got %v and error %v, want the answer", got, err)
		}
	}
}

// gated is a connection whose writes wait for the test.
type gated struct {
	transport.Conn
	open chan struct{}
}

func (g *gated) Write(ctx context.Context, message []byte) error {
	select {
	case <-g.open:
		return g.Conn.Write(ctx, message)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// TestContextDuringWrite: a caller that gives up while its message is being sent does not cut the message, and with it the
// connection, in two.
func TestContextDuringWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, far := transport.Pipe()
		f := &fake{t: t, script: polite, conn: far}
		go f.serve(context.Background(), far)
		g := &gated{Conn: near, open: make(chan struct{})}
		c := New(g)
		defer c.Close()
		ctx, cancel := context.WithCancel(t.Context())
		failed := make(chan error)
		go func() { failed <- c.Ping(ctx) }() // its write waits at the gate
		synctest.Wait()
		go func() { failed <- c.Ping(ctx) }() // waits for its turn to write
		synctest.Wait()
		cancel()
		if err := <-failed; !errors.Is(err, context.Canceled) {
			t.Errorf("Ping that waits for its turn: got %v, want %v", err, context.Canceled)
		}
		synctest.Wait()
		close(g.open)
		<-failed // with its answer or without, as chance has it
		if err := c.Ping(t.Context()); err != nil {
			t.Errorf("Ping: %v", err)
		}
	})
}

// TestContextOfOneRequest: a caller that gives up disturbs nobody else.
func TestContextOfOneRequest(t *testing.T) {
	asked := make(chan struct{})
	c, _ := overPipe(t, func(f *fake, r *protocol.Request) {
		if r.Type == protocol.TypePins {
			close(asked)
			return
		}
		polite(f, r)
	})
	ctx, cancel := context.WithCancel(t.Context())
	failed := make(chan error, 1)
	go func() {
		_, err := c.Pins(ctx)
		failed <- err
	}()
	<-asked
	cancel()
	if err := <-failed; !errors.Is(err, context.Canceled) {
		t.Errorf("Pins: got %v, want %v", err, context.Canceled)
	}
	if _, err := c.Pins(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Pins with an ended context: got %v, want %v", err, context.Canceled)
	}
	if err := c.Ping(t.Context()); err != nil {
		t.Errorf("Ping: %v", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.pending) != 0 {
		t.Errorf("pending: got %d requests, want none", len(c.pending))
	}
}
