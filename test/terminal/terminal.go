//go:build unix

// Package terminal puts a whole terminal together inside a test: the real guard, the simulated board, real machines in real
// processes, reachable over an in-memory pipe or a WebSocket. It is what `pal up` wires, without the command around it.
package terminal

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/pal-terminal/pal/board"
	"github.com/pal-terminal/pal/board/load"
	"github.com/pal-terminal/pal/board/sim"
	"github.com/pal-terminal/pal/bus"
	"github.com/pal-terminal/pal/core"
	"github.com/pal-terminal/pal/durable"
	"github.com/pal-terminal/pal/events"
	"github.com/pal-terminal/pal/flash"
	"github.com/pal-terminal/pal/hw"
	"github.com/pal-terminal/pal/identity"
	"github.com/pal-terminal/pal/lease"
	"github.com/pal-terminal/pal/pin"
	"github.com/pal-terminal/pal/protocol"
	"github.com/pal-terminal/pal/store"
	"github.com/pal-terminal/pal/task"
	"github.com/pal-terminal/pal/test/palbin"
	"github.com/pal-terminal/pal/transport"
	"github.com/pal-terminal/pal/transport/ws"
	"github.com/pal-terminal/pal/vm"
)

// Terminal is a running terminal.
type Terminal struct {
	Core     *core.Core
	Table    *pin.Table
	Flash    *flash.Store
	Sim      board.Simulator
	Pool     *vm.Pool
	Identity *identity.Store
	Human    string // token of a human with every scope
	Agent    string // token of an agent that may read, exec and actuate
	URL      string // ws://…/pal
	Events   *events.Ring
	Claims   *lease.Book
	Durable  *durable.State

	Dir string // its state folder

	close func() error
	t     testing.TB
}

// Options of a terminal of a test. The zero value works.
type Options struct {
	Board   *board.Description // bench-sim when nil
	Dir     string             // state folder, to start again in; a new one when empty
	Disk    store.Disk         // what survives is kept here; the state folder when nil
	NoAudit bool
	Clock   task.Clock   // of the tasks
	Safe    string       // why it starts in safe mode
	Driver  board.Driver // the simulated board when nil
}

// Name is the terminal's own name.
const Name = "test-terminal"

// Start starts a terminal on desc, nil for bench-sim, that ends with the test.
func Start(t testing.TB, desc *board.Description) *Terminal {
	t.Helper()
	return StartWith(t, Options{Board: desc})
}

// StartWith is Start with options.
func StartWith(t testing.TB, o Options) *Terminal {
	t.Helper()
	o.fill(t)
	x := &Terminal{t: t, Events: events.New(), Dir: o.Dir}
	x.tokens()
	log := slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelError + 1}))
	gate := x.guard(o, log)
	ready := make(chan struct{})
	var err error
	x.Pool, err = vm.NewPool(vm.Config{
		Command: []string{palbin.Build(t), "vm"}, CacheDir: CacheDir(t), Board: o.Board.Name, Version: "test", Log: log,
		Notify: func(label string, n hw.Notice) { <-ready; x.Core.Notice(label, n) },
	})
	if err != nil {
		t.Fatalf("machines: %v", err)
	}
	agent, tasks := x.Pool.Executor(core.MachineAgent), x.Pool.Executor(core.MachineTasks)
	cfg := core.Config{
		Terminal: Name, Product: "pal test", Board: o.Board, Table: x.Table, Bus: gate, Flash: x.Flash, Agent: agent, Sim: x.Sim,
		Identity: x.Identity, Events: x.Events, Log: log, Claims: x.Claims, Tasks: tasks,
	}
	x.Durable.Fill(&cfg)
	cfg.SafeMode.Why, cfg.TaskList.Clock = o.Safe, o.Clock
	if o.Board.Mode == board.ModeEngineering {
		cfg.BoardVM = x.Pool.Executor(core.MachineBoard)
	}
	if x.Core, err = core.New(cfg); err != nil {
		t.Fatalf("core: %v", err)
	}
	close(ready)
	x.close = sync.OnceValue(func() error {
		ctx, done := context.WithTimeout(context.Background(), 10*time.Second)
		defer done()
		return errors.Join(x.Core.Close(ctx), x.Pool.Close(), gate.Close(), o.Driver.Close(), x.Flash.Close(), x.Durable.Close())
	})
	t.Cleanup(func() {
		if err := x.close(); err != nil {
			t.Errorf("end terminal: %v", err)
		}
	})
	x.listen()
	// A terminal serves when it has a machine; a deadline must not be spent on the first compile of the engine.
	if err := errors.Join(agent.Ready(t.Context()), tasks.Ready(t.Context())); err != nil {
		t.Fatalf("machines: %v", err)
	}
	return x
}

// guard makes what stands before the machines, in the order of a start.
func (x *Terminal) guard(o Options, log *slog.Logger) *bus.Gate {
	x.t.Helper()
	x.Sim, _ = o.Driver.(board.Simulator)
	var err error
	x.Durable, err = durable.Open(durable.Options{
		Disk: o.Disk, Terminal: Name, NoAudit: o.NoAudit, Secrets: func() []string { return []string{x.Human, x.Agent} }, Log: log,
		Emit: func(name string, data map[string]any) { x.Events.Emit(name, data) },
	})
	if err != nil {
		x.t.Fatalf("what survives: %v", err)
	}
	x.Events.Also = x.Durable.Ledger.Event
	x.Claims = core.NewClaims(func() *pin.Table { return x.Table })
	po := pin.Options{OnEvent: x.Events.Pin, Log: log, Claims: x.Claims, Stopped: x.Durable.Stopped()}
	po.Approve = func(c pin.Caller, h pin.Handle) (bool, string, *pin.Refusal) { return x.Core.Approve(c, h) }
	if x.Table, err = pin.New(o.Board, o.Driver, po); err != nil {
		x.t.Fatalf("pin table: %v", err)
	}
	gate := bus.New(o.Board, o.Driver, x.Table, bus.Options{Log: log, OnEvent: x.Events.Bus})
	if x.Flash, err = flash.Open(filepath.Join(o.Dir, "flash")); err != nil {
		x.t.Fatalf("files: %v", err)
	}
	if err := x.Durable.Load(); err != nil {
		x.t.Fatalf("what survives: %v", err)
	}
	return gate
}

// fill completes options.
func (o *Options) fill(t testing.TB) {
	t.Helper()
	var err error
	if o.Board == nil {
		if o.Board, err = load.Builtin("bench-sim"); err != nil {
			t.Fatalf("board: %v", err)
		}
	}
	if o.Dir == "" {
		o.Dir = t.TempDir()
	}
	if o.Disk == nil {
		if o.Disk, err = store.Folder(filepath.Join(o.Dir, "guard")); err != nil {
			t.Fatalf("disk: %v", err)
		}
	}
	if o.Driver == nil {
		if o.Driver, err = sim.New(o.Board, sim.Options{}); err != nil {
			t.Fatalf("simulated board: %v", err)
		}
	}
}

// Close ends the terminal before the test does, to start another in its folder.
func (x *Terminal) Close() error { return x.close() }

func (x *Terminal) tokens() {
	x.t.Helper()
	store, err := identity.Open(x.Dir, time.Now)
	if err != nil {
		x.t.Fatalf("identity: %v", err)
	}
	local, err := store.EnsureLocal()
	if err != nil {
		x.t.Fatalf("identity: %v", err)
	}
	x.Identity, x.Human, x.Agent = store, local.Human, local.Agent
}

// Pipe opens an in-memory connection with a token.
func (x *Terminal) Pipe(token string) transport.Conn {
	near, far := transport.Pipe()
	done := make(chan struct{})
	go func() {
		defer close(done)
		x.Core.Serve(context.Background(), link{far}, core.Peer{Transport: "pipe", Remote: "pipe", Credential: token}) //nolint:errcheck // how a connection ended is not what tests of it look at
	}()
	x.t.Cleanup(func() { near.Close("test is over"); <-done }) //nolint:errcheck // it may have been closed by the test
	return near
}

// Dial opens a WebSocket connection with a token.
func (x *Terminal) Dial(token string) transport.Conn {
	x.t.Helper()
	conn, err := ws.Dial(x.t.Context(), x.URL, token, "")
	if err != nil {
		x.t.Fatalf("dial: %v", err)
	}
	x.t.Cleanup(func() { conn.Close("test is over") }) //nolint:errcheck // it may have been closed by the test
	return conn
}

func (x *Terminal) listen() {
	x.t.Helper()
	var config net.ListenConfig
	listener, err := config.Listen(x.t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		x.t.Fatalf("listen: %v", err)
	}
	endpoint := ws.Handler(ws.Options{
		Admit: func(info transport.Info) (func(), error) { return func() {}, x.Core.Admit(peer(info)) },
		Accept: func(ctx context.Context, conn transport.Conn) {
			x.Core.Serve(ctx, link{conn}, peer(conn.Info())) //nolint:errcheck // as above
		},
	})
	mux := http.NewServeMux()
	mux.Handle("/pal", endpoint)
	server := ws.NewServer(mux, slog.New(slog.DiscardHandler))
	served := make(chan struct{})
	go func() { defer close(served); server.Serve(listener) }() //nolint:errcheck // ends with the test
	x.URL = "ws://" + listener.Addr().String() + "/pal"
	x.t.Cleanup(func() {
		ctx, done := context.WithTimeout(context.Background(), 5*time.Second)
		defer done()
		endpoint.Close(ctx, "test is over") //nolint:errcheck // connections may be gone
		server.Close()                      //nolint:errcheck // connections may be gone
		<-served
	})
}

func peer(i transport.Info) core.Peer {
	return core.Peer{Transport: i.Transport, Remote: i.Remote, Credential: i.Credential, Client: i.Client}
}

// link is a transport.Conn as core sees it.
type link struct{ transport.Conn }

func (l link) Read(ctx context.Context) ([]byte, error) {
	m, err := l.Conn.Read(ctx)
	switch {
	case errors.Is(err, transport.ErrTooLarge):
		return nil, &protocol.Error{Code: protocol.CodeTooLarge, Message: "the message is too large"}
	case errors.Is(err, transport.ErrNotText):
		return nil, &protocol.Error{Code: protocol.CodeBadJSON, Message: "messages are text in UTF-8"}
	}
	return m, err
}
