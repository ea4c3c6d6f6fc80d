package core

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pal-terminal/pal/answers"
	"github.com/pal-terminal/pal/approval"
	"github.com/pal-terminal/pal/ledger"

	"github.com/google/go-cmp/cmp"

	"github.com/pal-terminal/pal/board"
	"github.com/pal-terminal/pal/board/load"
	"github.com/pal-terminal/pal/board/sim"
	"github.com/pal-terminal/pal/bus"
	wire "github.com/pal-terminal/pal/client"
	"github.com/pal-terminal/pal/events"
	"github.com/pal-terminal/pal/flash"
	"github.com/pal-terminal/pal/hw"
	"github.com/pal-terminal/pal/hw/hwtest"
	"github.com/pal-terminal/pal/identity"
	"github.com/pal-terminal/pal/pin"
	"github.com/pal-terminal/pal/protocol"
	"github.com/pal-terminal/pal/transport"
)

// rig is a core on a simulated board with a fake machine.
type rig struct {
	t        testing.TB
	core     *Core
	desc     *board.Description
	sim      *sim.Board
	table    *pin.Table
	flash    *flash.Store
	agent    *fake
	boardVM  *fake
	identity *identity.Store
	events   *events.Ring
	human    string // tokens
	bot      string
}

// options change the usual rig.
type options struct {
	yaml   string // board file, bench-sim when empty
	hook   func(action string, pin int) error
	noAuth identity.Actor
}

// bubble runs a test on a rig where time is synctest's. That nothing is left running is part of every such test: synctest
// fails one that leaves a goroutine behind.
func bubble(t *testing.T, o options, f func(t *testing.T, r *rig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { f(t, newRig(t, o)) })
}

func newRig(t testing.TB, o options) *rig {
	t.Helper()
	r := &rig{t: t, agent: newFake(), events: events.New()}
	var err error
	if o.yaml == "" {
		r.desc, err = load.Builtin("bench-sim")
	} else {
		r.desc, err = load.Bytes("board.yaml", []byte(o.yaml), []byte("def f():\n    pass\n"))
	}
	check(t, err)
	r.sim, err = sim.New(r.desc, sim.Options{Hook: o.hook})
	check(t, err)
	claims := NewClaims(func() *pin.Table { return r.table })
	approve := func(c pin.Caller, h pin.Handle) (bool, string, *pin.Refusal) { return r.core.Approve(c, h) }
	r.table, err = pin.New(r.desc, r.sim, pin.Options{OnEvent: r.events.Pin, Claims: claims, Approve: approve})
	check(t, err)
	gate := bus.New(r.desc, r.sim, r.table, bus.Options{OnEvent: r.events.Bus})
	r.flash, err = flash.Open("")
	check(t, err)
	r.identity, err = identity.Open(t.TempDir(), time.Now)
	check(t, err)
	local, err := r.identity.EnsureLocal()
	check(t, err)
	r.human, r.bot = local.Human, local.Agent
	cfg := Config{
		Terminal: "rig", Product: "pal test", Board: r.desc, Table: r.table, Bus: gate, Flash: r.flash, Agent: r.agent, Sim: r.sim,
		Identity: r.identity, Events: r.events, NoAuth: o.noAuth, Log: slog.New(slog.DiscardHandler),
		Answers: answers.New(), Claims: claims, Approvals: approval.New(approval.Options{}),
	}
	cfg.Ledger = ledger.New(cfg.Answers)
	cfg.Ledger.Start(nil, nil)
	if r.desc.Mode == board.ModeEngineering {
		r.boardVM = newFake()
		cfg.BoardVM = r.boardVM
	}
	r.core, err = New(cfg)
	check(t, err)
	t.Cleanup(func() {
		check(t, r.close())
		check(t, r.agent.Close())
		check(t, errors.Join(gate.Close(), r.flash.Close()))
		check(t, r.sim.Close())
	})
	return r
}

// close ends the core; it may be called twice.
func (r *rig) close() error {
	ctx, done := context.WithTimeout(context.Background(), 20*time.Second)
	defer done()
	return r.core.Close(ctx)
}

// pass lets simulated time go by.
func pass(d time.Duration) { time.Sleep(d) } //nolint:forbidigo // in a bubble: no fact comes but that time has passed

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// token makes an identity.
func (r *rig) token(name string, class identity.Class, scopes ...identity.Scope) string {
	r.t.Helper()
	token, _, err := r.identity.Create(name, class, scopes, false, 0)
	check(r.t, err)
	return token
}

// level is what a pin's line has.
func (r *rig) level(name string) int {
	r.t.Helper()
	i, ok := r.desc.Lookup(name)
	if !ok {
		r.t.Fatalf("no pin %s", name)
	}
	v, err := r.sim.Get(i)
	check(r.t, err)
	return v
}

// wantLevel checks a line.
func (r *rig) wantLevel(what, name string, want int) {
	r.t.Helper()
	if got := r.level(name); got != want {
		r.t.Errorf("%s: %s has level %d, want %d", what, name, got, want)
	}
}

// world does something to the simulated bench.
func (r *rig) world(op, name, value string) {
	r.t.Helper()
	_, err := r.sim.Sim(op, name, value)
	check(r.t, err)
}

// seen returns the data of the events of a name so far.
func (r *rig) seen(name string) []string {
	from := uint64(0)
	w := r.events.Reader([]string{name}, &from)
	defer w.Stop()
	var all []string
	for {
		ev, ok := w.Next()
		if !ok {
			return all
		}
		all = append(all, string(ev.Data))
	}
}

// held is a program that runs until it is released or ended from outside.
type held struct {
	running chan struct{} // gets a value at each start
	release chan struct{}
}

func (r *rig) hold(code string) held {
	h := held{running: make(chan struct{}, 64), release: make(chan struct{})}
	r.agent.taught(code, h.run)
	return h
}

func (h held) run(g *guest) *hw.Exception {
	h.running <- struct{}{}
	select {
	case <-h.release:
		return nil
	case <-g.ctx.Done():
	case <-g.kill:
	}
	return g.loop(false)
}

// testLink is a transport as core sees it.
type testLink struct{ transport.Conn }

func (l testLink) Read(ctx context.Context) ([]byte, error) {
	m, err := l.Conn.Read(ctx)
	switch {
	case errors.Is(err, transport.ErrTooLarge):
		return nil, &protocol.Error{Code: protocol.CodeTooLarge, Message: "too large"}
	case errors.Is(err, transport.ErrNotText):
		return nil, &protocol.Error{Code: protocol.CodeBadJSON, Message: "not text"}
	}
	return m, err
}

// client is the other end of a connection.
type client struct {
	t     testing.TB
	conn  transport.Conn
	ended chan error // gets what Serve returned
}

// dial opens a connection; a name of the client may follow.
func (r *rig) dial(credential string, name ...string) *client {
	near, far := transport.Pipe()
	c := &client{t: r.t, conn: near, ended: make(chan error, 1)}
	p := Peer{Transport: "pipe", Remote: "test", Credential: credential, Client: strings.Join(name, "")}
	go func() { c.ended <- r.core.Serve(context.Background(), testLink{far}, p) }() // ends with either end of the pipe
	return c
}

func (c *client) send(message string) {
	c.t.Helper()
	ctx, done := context.WithTimeout(context.Background(), time.Minute)
	defer done()
	if err := c.conn.Write(ctx, []byte(message)); err != nil {
		c.t.Fatalf("send %s: %v", message, err)
	}
}

// request sends a request with an id.
func (c *client) request(typ, id string, body any) {
	c.t.Helper()
	raw, err := wire.EncodeRequest(typ, &id, body)
	check(c.t, err)
	c.send(string(raw))
}

func (c *client) exec(id, code string) {
	c.t.Helper()
	c.request("exec", id, &protocol.Exec{Code: code})
}

// raw reads the next message.
func (c *client) raw() (string, error) {
	ctx, done := context.WithTimeout(context.Background(), time.Hour) // of the bubble
	defer done()
	m, err := c.conn.Read(ctx)
	return string(m), err
}

// read decodes the next message.
func (c *client) read() protocol.Answer {
	c.t.Helper()
	m, err := c.raw()
	if err != nil {
		c.t.Fatalf("read: %v", err)
	}
	a, err := wire.DecodeAnswer([]byte(m))
	check(c.t, err)
	return a
}

// result reads the next message, which must be the result for an id.
func (c *client) result(id string) *protocol.Result {
	c.t.Helper()
	a := c.read()
	res, ok := a.(*protocol.Result)
	if !ok || res.ID == nil || *res.ID != id {
		c.t.Fatalf("got %+v, want the result for %q", a, id)
	}
	return res
}

// wantCode reads the next message, which must be the result for an id with a code ("" for success).
func (c *client) wantCode(id string, want protocol.Code) *protocol.Result {
	c.t.Helper()
	res := c.result(id)
	if res.Code != want || res.Error != (want != "") {
		c.t.Errorf("result for %q: got code %q (%s), error %v, want code %q", id, res.Code, res.Message, res.Error, want)
	}
	return res
}

// ack reads the next message, which must be the ack for an id.
func (c *client) ack(id string) *protocol.Ack {
	c.t.Helper()
	a := c.read()
	ack, ok := a.(*protocol.Ack)
	if !ok || ack.ID == nil || *ack.ID != id {
		c.t.Fatalf("got %+v, want the ack for %q", a, id)
	}
	return ack
}

// leave closes the connection and waits until the core is done with it.
func (c *client) leave() {
	c.t.Helper()
	check(c.t, c.conn.Close("done"))
	<-c.ended
}

// wantCut reads what is left and checks that the connection ends, with a reason that contains the words.
func (c *client) wantCut(words string) {
	c.t.Helper()
	for {
		if m, err := c.raw(); err != nil {
			if !errors.Is(err, transport.ErrClosed) || !strings.Contains(err.Error(), words) {
				c.t.Errorf("end of the connection: got %v, want one that says %q (last message %s)", err, words, m)
			}
			break
		}
	}
	<-c.ended
}

// wantStrings compares lists.
func wantStrings(t testing.TB, what string, got []string, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" && len(want)+len(got) > 0 {
		t.Errorf("%s: want -, got +:\n%s", what, diff)
	}
}

// codes returns the code of each exec the fake ran.
func (f *fake) codes() []string {
	var all []string
	for _, j := range f.ran() {
		if j.Kind == hw.JobExec {
			all = append(all, j.Code)
		}
	}
	return all
}

func TestRig(t *testing.T) {
	bubble(t, options{}, func(t *testing.T, r *rig) {
		c := r.dial(r.bot)
		c.exec("1", hwtest.Hello)
		if res := c.wantCode("1", ""); res.Stdout != "pal\n" || res.Session != "main" || res.Guard != "enforced" || !strings.HasPrefix(res.Trace, "t_") {
			t.Errorf("got %+v, want what was printed, session main, an enforcing guard and a trace", res)
		}
		if !slices.Equal(r.agent.codes(), []string{hwtest.Hello}) {
			t.Errorf("ran %q", r.agent.codes())
		}
		if got := len(r.seen("boot")); got != 1 {
			t.Errorf("got %d boot events, want 1", got)
		}
	})
}
