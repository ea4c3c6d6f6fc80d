package endure

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pal-terminal/pal/board"
	"github.com/pal-terminal/pal/board/load"
	"github.com/pal-terminal/pal/board/sim"
	"github.com/pal-terminal/pal/bus"
	wire "github.com/pal-terminal/pal/client"
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
	"github.com/pal-terminal/pal/store/crash"
	"github.com/pal-terminal/pal/task"
	"github.com/pal-terminal/pal/transport"
)

const boardText = `board: endure
pins:
  - {id: 0, name: A0, owner: agent, can: [out], safe: low, danger: medium}
  - {id: 1, name: A1, owner: agent, can: [out], safe: low, danger: medium}
  - {id: 2, name: A2, owner: agent, can: [out], safe: low, danger: high}
  - {id: 3, name: A3, owner: agent, can: [out], safe: low, danger: medium}
  - {id: 4, name: LEASED, owner: agent, can: [out], safe: low, danger: medium}
  - {id: 5, name: TASKS, owner: agent, can: [out], safe: low, danger: medium}
  - {id: 6, name: SET0, owner: agent, can: [out], safe: low}
  - {id: 7, name: SET1, owner: agent, can: [out], safe: high}
  - {id: 8, name: SET2, owner: agent, can: [out], safe: low}
  - {id: 9, name: SET3, owner: agent, can: [out], safe: low}
  - {id: 10, name: SET4, owner: agent, can: [out], safe: low}
  - {id: 11, name: SET5, owner: agent, can: [out], safe: high}
  - {id: 12, name: SET6, owner: agent, can: [out], safe: low}
  - {id: 13, name: SET7, owner: agent, can: [out], safe: low}
`

func description(t testing.TB) *board.Description {
	t.Helper()
	d, err := load.Bytes("endure.yaml", []byte(boardText), nil)
	must(t, err)
	return d
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// pass lets simulated time go by, in a bubble: there no fact comes but that time has passed.
func pass(d time.Duration) { time.Sleep(d) }

// life is one terminal from power-up to its end, in good order or not.
type life struct {
	w     *world
	disk  *crash.Disk
	last  int         // of the disk's operations: the power goes with the one after it
	off   atomic.Bool // the power is gone
	bench *bench
	table *pin.Table
	core  *core.Core
	state *durable.State
	close func() error
}

const never = 1 << 40

// power reports whether there is power. What is seen after it went was seen by nobody.
func (l *life) power() bool { return !l.off.Load() && l.disk.Ops() <= l.last }

// start powers a terminal up. What the life before has left on is on. Without power in the end, there is no terminal.
func (w *world) start(disk *crash.Disk, cutAfter int) *life {
	l := &life{w: w, disk: disk, last: never}
	disk.CutAfter(never)
	if cutAfter >= 0 {
		disk.CutAfter(cutAfter)
		l.last = disk.Ops() + cutAfter
	}
	err := l.open()
	switch {
	case !l.power():
		l.end()
		return nil
	case err != nil:
		w.failf("start: %v", err)
		w.t.FailNow()
	}
	return l
}

func (l *life) open() error {
	w := l.w
	board, err := sim.New(w.desc, sim.Options{})
	must(w.t, err)
	for i, p := range w.desc.Pins { // a terminal that died may have left anything
		must(w.t, board.Configure(i, hw.ModeOut, hw.PullNone, 1-p.Safe))
	}
	l.bench = &bench{Board: board, d: w.desc, notes: w.notes, power: l.power}
	l.close = board.Close
	ring := events.New()
	if l.state, err = durable.Open(durable.Options{
		Disk: slow{l.disk}, Terminal: "endure", Secrets: func() []string { return []string{w.human, w.agent} },
		Emit: func(name string, data map[string]any) { w.saw(l, name, data); ring.Emit(name, data) },
	}); err != nil {
		return err
	}
	ring.Also = l.state.Ledger.Event
	claims := core.NewClaims(func() *pin.Table { return l.table })
	l.table, err = pin.New(w.desc, l.bench, pin.Options{
		OnEvent: ring.Pin, Claims: claims, Stopped: l.state.Stopped(),
		Approve: func(c pin.Caller, h pin.Handle) (bool, string, *pin.Refusal) { return l.core.Approve(c, h) },
	})
	must(w.t, err)
	w.unsafe += l.bench.unsafe()
	l.close = func() error { return errors.Join(l.table.Close(), board.Close()) }
	if err := l.state.Load(); err != nil {
		return err
	}
	return l.serve(ring, claims)
}

// serve starts the door.
func (l *life) serve(ring *events.Ring, claims *lease.Book) error {
	w := l.w
	gate := bus.New(w.desc, l.bench, l.table, bus.Options{OnEvent: ring.Bus})
	files, err := flash.Open("")
	must(w.t, err)
	tokens, err := identity.Open(w.dir, time.Now)
	must(w.t, err)
	agent, tasks := newMachine(w.notes, l.power), newMachine(w.notes, l.power)
	cfg := core.Config{
		Terminal: "endure", Product: "pal test", Board: w.desc, Table: l.table, Bus: gate, Flash: files, Agent: agent, Sim: l.bench.Board,
		Identity: tokens, Events: ring, Claims: claims, Tasks: tasks,
	}
	l.state.Fill(&cfg)
	cfg.TaskList.Clock, cfg.TaskList.Tasks, cfg.TaskList.Location = clock{w.born.Add(-time.Minute)}, 64, time.UTC
	c, err := core.New(cfg)
	rest := func() error {
		return errors.Join(agent.Close(), tasks.Close(), gate.Close(), l.bench.Close(), files.Close(), l.state.Close())
	}
	if err != nil {
		l.close = func() error { return errors.Join(l.table.Close(), rest()) }
		return err
	}
	l.core = c
	l.close = func() error {
		ctx, done := context.WithTimeout(context.Background(), time.Minute)
		defer done()
		return errors.Join(c.Close(ctx), rest())
	}
	return nil
}

// end ends the process. With power it ends in good order, and a failure is one.
func (l *life) end() {
	power := l.power()
	if err := l.close(); err != nil && power && l.power() {
		l.w.failf("end in good order: %v", err)
	}
}

// clock is the bubble's as tasks see it: a wall clock that is set, and a boot clock.
type clock struct{ boot time.Time }

func (c clock) Now() task.Time { return task.Time{Wall: wall(), Boot: time.Since(c.boot)} }

// wall is the time in the world: that of a bubble begins long ago.
func wall() time.Time { return time.Now().Add(27 * 365 * 24 * time.Hour).Round(0) }

func (c clock) Timer() (task.Timer, error) {
	return &timer{clock: c, c: make(chan struct{}, 1)}, nil
}

type timer struct {
	clock clock
	c     chan struct{}
	timer *time.Timer
}

func (t *timer) Set(boot time.Duration) {
	if t.timer != nil {
		t.timer.Stop()
	}
	t.timer = time.AfterFunc(boot-time.Since(t.clock.boot), func() {
		select {
		case t.c <- struct{}{}:
		default:
		}
	})
}

func (t *timer) C() <-chan struct{} { return t.c }

func (t *timer) Stop() {
	if t.timer != nil {
		t.timer.Stop()
	}
}

// slow is a disk on which a sync of the audit log takes time, so that who does not wait for it is seen. Others hold locks meanwhile,
// which stops the time of a bubble.
type slow struct{ *crash.Disk }

const syncTime = 100 * time.Microsecond

func (s slow) Open(name string, create bool) (store.File, error) {
	f, err := s.Disk.Open(name, create)
	if err != nil || !strings.HasPrefix(name, "audit/") || !strings.HasSuffix(name, ".log") {
		return f, err
	}
	return slowFile{f}, nil
}

type slowFile struct{ store.File }

func (f slowFile) Sync() error { pass(syncTime); return f.File.Sync() }

// link is a transport as core sees it.
type link struct{ transport.Conn }

func (l link) Read(ctx context.Context) ([]byte, error) {
	m, err := l.Conn.Read(ctx)
	if errors.Is(err, transport.ErrTooLarge) || errors.Is(err, transport.ErrNotText) {
		return nil, &protocol.Error{Code: protocol.CodeBadRequest, Message: err.Error()}
	}
	return m, err
}

// peer is the other end of a connection.
type peer struct {
	life  *life
	conn  transport.Conn
	ended chan struct{}
}

// dial opens a connection of a named client.
func (l *life) dial(token, name string) *peer {
	near, far := transport.Pipe()
	p := &peer{life: l, conn: near, ended: make(chan struct{})}
	go func() {
		defer close(p.ended)
		l.core.Serve(context.Background(), link{far}, core.Peer{Transport: "pipe", Remote: "test", Credential: token, Client: name})
	}()
	return p
}

// send sends a message; to a terminal that is gone it is lost.
func (p *peer) send(raw []byte) { _ = p.conn.Write(context.Background(), raw) }

func (p *peer) leave() {
	_ = p.conn.Close("gone")
	<-p.ended
}

// gather reads answers until there is one for each id, or nothing comes any more. What came without power came to nobody.
func (p *peer) gather(ids map[string]bool) map[string][]byte {
	got := map[string][]byte{}
	ctx, done := context.WithTimeout(context.Background(), 20*time.Second) // of the bubble
	defer done()
	for len(got) < len(ids) {
		raw, err := p.conn.Read(ctx)
		if err != nil || !p.life.power() {
			break
		}
		if a, err := wire.DecodeAnswer(raw); err == nil && a.Head().ID != nil && ids[*a.Head().ID] {
			if old, ok := got[*a.Head().ID]; !ok || string(old) == string(raw) {
				got[*a.Head().ID] = raw
			}
		}
	}
	return got
}

// ask sends a request under a fresh id and returns its answer, nil when there came none.
func (p *peer) ask(typ string, body any) protocol.Answer {
	id := p.life.w.fresh("q")
	raw, err := wire.EncodeRequest(typ, &id, body)
	must(p.life.w.t, err)
	p.send(raw)
	got := p.gather(map[string]bool{id: true})[id]
	if got == nil {
		return nil
	}
	a, err := wire.DecodeAnswer(got)
	must(p.life.w.t, err)
	return a
}
