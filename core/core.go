// Package core is the one door: an actor and a request go in, a result comes out, and nothing moves an output except
// through here.
//
// # Model
//
// [Core.Serve] reads one connection. Its actor comes from the connection, its messages are decoded once, and each is
// answered by one message. Code runs one job at a time on the agent's machine; requests wait in a bounded queue owned by
// one goroutine (admission). That goroutine never waits for a machine: a second one, the runner, does. Interrupt edges,
// completions and departures of clients enter the same queue, so their order is the order in which they are acted on.
//
// Two things pass by that queue on purpose: reading the published state, and the e-stop, which goes straight to
// [pin.Table].
//
// Every hardware call of guest code arrives at a [sink], is checked by the pin table under the name of who asked, numbered
// when refused, and kept as an effect when it changed an output. What the program says it did is never asked.
//
// core refuses to know transports, processes and Python: it sees a [Link], a [hw.Executor] and text.
package core

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pal-terminal/pal/answers"
	"github.com/pal-terminal/pal/approval"
	"github.com/pal-terminal/pal/board"
	"github.com/pal-terminal/pal/bus"
	"github.com/pal-terminal/pal/conns"
	"github.com/pal-terminal/pal/events"
	"github.com/pal-terminal/pal/files"
	"github.com/pal-terminal/pal/flash"
	"github.com/pal-terminal/pal/hw"
	"github.com/pal-terminal/pal/identity"
	"github.com/pal-terminal/pal/latch"
	"github.com/pal-terminal/pal/lease"
	"github.com/pal-terminal/pal/ledger"
	"github.com/pal-terminal/pal/limits"
	"github.com/pal-terminal/pal/notices"
	"github.com/pal-terminal/pal/pin"
	"github.com/pal-terminal/pal/protocol"
	"github.com/pal-terminal/pal/task"
	"github.com/pal-terminal/pal/toolset"
)

// Labels of the machines, as they stand in events, status and [pin.Caller].
const (
	MachineAgent = "agent"
	MachineBoard = "board"
	MachineTasks = "tasks"
)

// Config is what a terminal is made of. Agent, Board, Table, Bus, Flash, Identity and Events are required.
type Config struct {
	Terminal string // the terminal's own name
	Product  string // "pal VERSION"
	Board    *board.Description
	Table    *pin.Table
	Bus      *bus.Gate
	Flash    *flash.Store
	Agent    hw.Executor
	Tasks    hw.Executor                    // runs tasks; nil: this terminal runs none
	TaskList task.Options                   // what only the station knows of tasks: records, clock, how many
	BoardVM  hw.Executor                    // runs board.py in engineering mode; nil in open mode
	Machines func() []protocol.MachineState // for status; may be nil
	Memory   func() int64                   // resident bytes of this process, for status; may be nil
	Sim      board.Simulator                // nil when the board is real
	Identity *identity.Store
	NoAuth   identity.Actor // who a peer without credential is; the zero actor: nobody
	Events   *events.Ring
	Log      *slog.Logger

	Ledger    *ledger.Ledger // with the answers that it has restored in Answers
	Answers   *answers.Store
	Latch     latch.Disk // nil: the e-stop's latch lives as long as the process
	StoppedBy string     // who set the e-stop that was found at the start
	Claims    *lease.Book
	Approvals *approval.Queue
	SafeMode  SafeMode
	Boot      map[string]any            // of the event boot: cause, and what the station found
	BoardPy   []byte                    // another board.py than the board file's, nil for none
	Apply     func(source []byte) error // keeps another board.py; nil: it cannot be changed
}

// SafeMode is a start without programs and tasks, after too many that failed.
type SafeMode struct {
	Why    string // empty: it is not on
	Failed int    // starts
	Leave  func() error
}

// Core is a running terminal. Its methods are safe for concurrent use.
type Core struct {
	cfg    Config
	log    *slog.Logger
	bootID string
	booted time.Time

	ctx     context.Context // ends when Close begins
	cancel  context.CancelCauseFunc
	workers sync.WaitGroup // runner, expireTokens and keepFiles
	closing sync.Once
	quiet   chan struct{} // closed when nothing is left that needs admission
	ended   chan struct{} // closed when admission has ended, last of all

	admission chan func() // everything that changes queue; see loop
	work      chan func() // admission → runner; never full when admission sends, closed by it in the end
	queue     queue       // owned by the admission goroutine
	answers   *answers.Store
	slots     conns.Places // has its own lock
	irqs      irqs         // has its own lock
	tools     atomic.Pointer[toolset.Set]
	boardPy   atomic.Pointer[[]byte]
	desk      *files.Desk
	clerk     chan func() // changes of files, which may wait for the disk
	watches   atomic.Int64

	agent, board, tasks machine
	manager             *task.Manager // nil without a machine for tasks
	over                sync.Mutex
	overTasks           []string // namespaces of tasks that have ended; guarded by over
	latch               *latch.Keeper
	leases              chan struct{} // wakes keepLeases
	sources             notices.Sources
	denials             notices.Denials
	safe                atomic.Bool // safe mode is on
	functions           []byte      // JSON list of the public functions of board.py's own machine; owned by the runner

	refusals atomic.Uint32 // numbers given out
	traces   atomic.Uint64
	execs    atomic.Uint64
	restarts atomic.Uint64
	snapshot atomic.Pointer[protocol.Status] // what admission knows for status, published after each change
}

// Reasons for which work ends early; they travel as context causes.
var (
	errDeadline    = errors.New("deadline passed")
	errInterrupted = errors.New("interrupted by request")
	errClosing     = errors.New("the terminal is shutting down")
	errRevoked     = errors.New("the token was revoked or has expired")
	errMainStopped = errors.New("the e-stop ended main.py")
	errReleased    = errors.New("the e-stop was released, which nothing of before outlives: run it again")
	errReset       = errors.New("the machine was reset by request")
	errSlowDisk    = errors.New("the disk does not answer")
	errStopped     = errors.New("an earlier request of this session ended in an error")
)

// New starts the admission and runner goroutines and publishes the event boot. The caller has made every output safe
// already (pin.New does) and calls Close.
func New(cfg Config) (*Core, error) {
	if cfg.Board == nil || cfg.Table == nil || cfg.Bus == nil || cfg.Flash == nil || cfg.Agent == nil || cfg.Identity == nil || cfg.Events == nil ||
		cfg.Ledger == nil || cfg.Answers == nil || cfg.Claims == nil || cfg.Approvals == nil {
		return nil, errors.New("core: board, table, bus, flash, agent executor, identity, events, ledger, answers, claims and approvals are required")
	}
	if (cfg.Board.Mode == board.ModeEngineering) != (cfg.BoardVM != nil) {
		return nil, errors.New("core: engineering mode, and no other, needs a machine of its own for board.py")
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	var id [8]byte
	if _, err := rand.Read(id[:]); err != nil {
		return nil, err
	}
	c := &Core{
		cfg: cfg, log: cfg.Log, bootID: hex.EncodeToString(id[:]), booted: time.Now(),
		answers: cfg.Answers, desk: files.New(cfg.Flash), clerk: make(chan func(), limits.FileRequests),
		quiet: make(chan struct{}), ended: make(chan struct{}),
		admission: make(chan func(), limits.AdmissionQueue), work: make(chan func(), 1),
		agent: newMachine(cfg.Agent, MachineAgent), board: newMachine(cfg.BoardVM, MachineBoard), tasks: newMachine(cfg.Tasks, MachineTasks),
		leases: make(chan struct{}, 1),
	}
	c.latch = c.newLatch()
	c.safe.Store(cfg.SafeMode.Why != "")
	c.setBoardPy(cfg.Board.BoardPy)
	if cfg.BoardPy != nil {
		c.setBoardPy(cfg.BoardPy)
	}
	c.ctx, c.cancel = context.WithCancelCause(context.Background())
	c.irqs.armed = map[armKey]*registration{}
	c.publish()
	if err := c.openTasks(); err != nil {
		return nil, err
	}
	cfg.Identity.Watch(c.revoked)
	go c.loop() // until ended
	for _, f := range []func(){c.runner, c.expireTokens, c.keepFiles, c.keepLeases, func() { c.latch.Run(c.ctx) }} {
		c.workers.Go(func() { defer c.faulted(); f() })
	}
	c.tellBoot()
	return c, nil
}

// loop is the admission goroutine: the only one that touches c.queue. It outlives everything that posts to it.
func (c *Core) loop() {
	defer close(c.ended)
	defer c.faulted()
	for {
		select {
		case f := <-c.admission:
			f()
		case <-c.quiet:
			return
		}
	}
}

// expireTokens cuts connections whose token's time is over. Tokens that are made later than the last look are seen at the
// next one, a second later at most: connections opened with them are refused by Lookup from the first moment anyway.
func (c *Core) expireTokens() {
	tick := time.Tick(limits.TokenSweep)
	for {
		select {
		case <-tick:
			c.cfg.Identity.Expire()
		case <-c.ctx.Done():
			return
		}
	}
}

// post hands f to the admission goroutine, waiting for room. When that has ended f will not run, which only watchers of
// things that outlive the core can meet with.
func (c *Core) post(f func()) {
	select {
	case c.admission <- f:
	case <-c.quiet:
	}
}

// ask runs f in the admission goroutine and waits for it.
func (c *Core) ask(f func(q *queue)) {
	done := make(chan struct{})
	c.post(func() { f(&c.queue); close(done) })
	<-done
}

// tryPost is post for callers that may not wait (edges, notices); false means that f will not run.
func (c *Core) tryPost(f func()) bool {
	select {
	case c.admission <- f:
		return true
	default:
		return false
	}
}

// faulted is deferred by the goroutines that act for clients. A fault of our own ends the process; the outputs must not stay as
// they are until somebody starts it again. The table may be what is at fault, so it is given a moment only.
func (c *Core) faulted() {
	v := recover()
	if v == nil {
		return
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		c.cfg.Table.Stop(fmt.Sprintf("internal fault: %v", v)) //nolint:errcheck // there is nobody left to tell
	}()
	select {
	case <-done:
	case <-time.After(2 * limits.DriveTimeout):
	}
	panic(v)
}

// Stop is the e-stop. It returns when the outputs are safe, or with an error that names those which may not be; the latch is
// set in any case.
func (c *Core) Stop(actor, reason string) error {
	again, _, _ := c.cfg.Table.Stopped() // a client that stops for ever must not wash the first stop out of the ring
	err := c.cfg.Table.Stop(reason)
	c.cfg.Bus.Stop()
	if slow := c.latch.Settle(actor); slow != nil {
		c.log.Error("the latch of the e-stop is not on the disk yet", "err", slow)
	}
	c.cfg.Events.EmitAs("estop", estopEvent(true, actor, reason), !again)
	c.tryPost(func() { c.queue.yield(c, errMainStopped) })
	c.log.Warn("estop", "actor", actor, "reason", reason, "unsafe", err)
	return err
}

// newLatch makes the keeper of the e-stop's latch.
func (c *Core) newLatch() *latch.Keeper {
	return latch.New(c.cfg.StoppedBy, latch.World{
		Stopped: c.cfg.Table.Stopped, Disk: c.cfg.Latch,
		Hold:   func() { c.manager.Hold(task.HoldEstop) },
		Unhold: func() error { return c.manager.Unhold(task.HoldEstop) },
		Tell: func(err error) {
			data := map[string]any{"what": "estop", "lost": err != nil}
			if err != nil {
				data["text"] = err.Error()
			}
			c.cfg.Events.Emit("storage", data)
		},
	})
}

func estopEvent(latched bool, actor, reason string) map[string]any {
	return map[string]any{"latched": latched, "actor": actor, "reason": reason}
}

// Probe returns when admission and the manager of tasks have given a sign of life.
func (c *Core) Probe(ctx context.Context) error {
	alive := make(chan struct{})
	if !c.tryPost(func() { close(alive) }) {
		return errors.New("the queue of admission is full")
	}
	select {
	case <-alive:
	case <-c.ctx.Done():
		return nil
	case <-ctx.Done():
		return errors.New("admission does not answer")
	}
	c.manager.List()
	return nil
}

// Connections is how many there are.
func (c *Core) Connections() int { return len(c.slots.List()) }

// Notice takes in what an executor reports of its machine. When a machine was lost, the outputs it drove last become safe.
func (c *Core) Notice(label string, n hw.Notice) {
	switch n.Kind {
	case hw.NoticeWarning:
		c.cfg.Events.Emit("watchdog_warning", map[string]any{"machine": label, "cause": n.Cause})
	case hw.NoticeLost:
		c.lost(label)
	case hw.NoticeRestarted:
		c.restarts.Add(1)
		c.cfg.Events.Emit("core1_restarted", map[string]any{
			"machine": label, "cause": n.Cause, "took_us": n.Took.Microseconds(),
		})
	}
}

// lost makes safe what a machine that is gone drove last, and forgets what it had open and armed.
func (c *Core) lost(label string) {
	c.cfg.Table.Safe(causeLost, func(d pin.Driven) bool { return d.Caller.Machine == label })
	c.forget(func(o pin.Caller) bool { return o.Machine == label })
}

// Close ends the terminal: outputs safe first, then work, whose clients get their answers, then connections and goroutines.
// It returns ctx's error when they do not end in time; the outputs are safe all the same.
func (c *Core) Close(ctx context.Context) error {
	err := c.cfg.Table.Close()
	c.closing.Do(func() {
		c.cancel(errClosing)
		c.post(func() { c.queue.close(c) })
		go c.end() // until ended
	})
	select {
	case <-c.ended:
		return err
	case <-ctx.Done():
		c.slots.Shut(errClosing.Error()) // whatever the machine does
		return errors.Join(err, ctx.Err())
	}
}

// end waits for what Close has told to end.
func (c *Core) end() {
	if c.manager != nil {
		ctx, done := context.WithTimeout(context.Background(), limits.ShutdownTimeout)
		defer done()
		if err := c.manager.Close(ctx); err != nil {
			c.log.Error("end the tasks", "err", err)
		}
	}
	c.workers.Wait()
	c.ask(func(*queue) {}) // the runner's last word has been delivered
	c.irqs.forget(func(*registration) bool { return true })
	c.cfg.Events.Emit("shutdown", map[string]any{"boot_id": c.bootID})
	c.slots.Shut(errClosing.Error())
	c.slots.Serving.Wait()
	c.latch.Run(c.ctx) // once more: somebody may have stopped meanwhile
	close(c.quiet)
}

// unavailable refuses what comes while the terminal shuts down.
func unavailable() *protocol.Error {
	return &protocol.Error{Code: protocol.CodeUnavailable, Message: errClosing.Error()}
}
