// Package station is one running terminal: it makes the parts, from the lock on the state folder to the network door, in the order
// in which they need each other, and ends them in the opposite one, outputs first.
//
// # Model
//
// A [Station] is made of board, pin, bus, flash, vm and core, which know nothing of each other's making. [Station.Start] returns when
// the terminal serves and its machine can run code; [Station.Wait] watches over it, and hears the signal that is an e-stop;
// [Station.Stop] ends whatever Start has made, also when Start failed halfway, and reads every output back.
//
// # What it refuses
//
// To serve where guest code cannot be locked in, with an incomplete sandbox unless it is told to, from a state folder that
// another terminal holds, and on a board whose driver is not in this program ([ErrNoDriver]).
package station

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/pal-terminal/pal/board"
	"github.com/pal-terminal/pal/board/sim"
	"github.com/pal-terminal/pal/bus"
	"github.com/pal-terminal/pal/client"
	"github.com/pal-terminal/pal/cmd/pal/internal/state"
	"github.com/pal-terminal/pal/config"
	"github.com/pal-terminal/pal/core"
	"github.com/pal-terminal/pal/durable"
	"github.com/pal-terminal/pal/events"
	"github.com/pal-terminal/pal/flash"
	"github.com/pal-terminal/pal/hw"
	"github.com/pal-terminal/pal/identity"
	"github.com/pal-terminal/pal/lease"
	"github.com/pal-terminal/pal/limits"
	"github.com/pal-terminal/pal/micropython"
	"github.com/pal-terminal/pal/pin"
	"github.com/pal-terminal/pal/protocol"
	"github.com/pal-terminal/pal/store"
	"github.com/pal-terminal/pal/supervise/niceties"
	"github.com/pal-terminal/pal/supervise/start"
	"github.com/pal-terminal/pal/vm"
)

// ErrNoDriver says that a board wants a driver that is not in this program.
var ErrNoDriver = errors.New("the board's driver is not in this version: use kind sim")

// Config is what a terminal is made from. All of it is needed.
type Config struct {
	Settings  *config.Config
	Board     *board.Description
	Machine   []string // start of the command line of a machine
	Cache     string   // folder of compiled engines
	NoSandbox bool     // serve although the sandbox is incomplete
	Version   string   // of this program
	Log       *slog.Logger
	Note      func(line string) // tells a person who waits why
}

// Station is one running terminal: the parts in the order in which they are made. Its methods are for one goroutine.
type Station struct {
	cfg Config

	folder  *state.Folder
	lock    *state.Lock
	store   *identity.Store
	tokens  identity.Local
	driver  board.Driver
	table   *pin.Table
	gate    *bus.Gate
	files   *flash.Store
	pool    *vm.Pool
	agent   *vm.Machine
	core    *core.Core
	durable *durable.State
	ring    *events.Ring
	claims  *lease.Book
	front   *front
	addr    string
	estop   chan os.Signal

	overseer overseer

	running atomic.Pointer[core.Core] // for notices, which may come before core is made
}

// New returns a terminal that has not been started.
func New(cfg Config) *Station { return &Station{cfg: cfg} }

// Addr is the address that a started terminal serves at, HOST:PORT.
func (s *Station) Addr() string { return s.addr }

// AgentToken is what an agent on this computer may present.
func (s *Station) AgentToken() string { return s.tokens.Agent }

// AgentTokenFile is where an agent finds it.
func (s *Station) AgentTokenFile() string {
	return s.folder.Path(identity.LocalFile(identity.LocalAgent))
}

// Start makes the parts and returns when the terminal serves and its machine can run code.
func (s *Station) Start(ctx context.Context) error {
	if runtime.GOOS != "linux" {
		return fmt.Errorf("terminals run on Linux, where guest code can be locked in: use pal on %s as a client of one, with --device", runtime.GOOS)
	}
	if err := micropython.Available(); err != nil {
		return err
	}
	ignoreBrokenPipes()
	if os.Getenv("GOMAXPROCS") == "" {
		// A goroutine that waits for a machine in a read keeps a processor of the scheduler until somebody takes it away, which can be
		// 10 ms later: with one for each such reader beyond the cores, a task that is due never waits for that.
		runtime.GOMAXPROCS(runtime.NumCPU() + limits.VMReaders)
	}
	s.estop = make(chan os.Signal, 1)
	notifyEstop(s.estop) // from now on it does not end the process
	for _, step := range []func(context.Context) error{s.takeState, s.openBoard, s.openState, s.makeSafe, s.oversee, s.startMachines, s.openDurable, s.openDoor, s.listen, s.ready} {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// takeState locks the state folder, so that no second terminal drives the same board.
func (s *Station) takeState(context.Context) (err error) {
	if s.folder, err = state.Open(s.cfg.Settings.State); err != nil {
		return err
	}
	s.lock, err = s.folder.Lock(s.cfg.Settings.Listen)
	return err
}

// openState opens the identities and what has to be known before anything may be driven.
func (s *Station) openState(context.Context) (err error) {
	if s.store, err = identity.Open(s.cfg.Settings.State, time.Now); err != nil {
		return err
	}
	if s.tokens, err = s.store.EnsureLocal(); err != nil {
		return err
	}
	disk, err := store.Folder(filepath.Join(s.cfg.Settings.State, durableFolder))
	if err != nil {
		return err
	}
	s.ring = events.New()
	s.durable, err = durable.Open(durable.Options{
		Disk: disk, Terminal: s.cfg.Settings.Name, NoAudit: s.cfg.Settings.NoAudit, Log: s.cfg.Log,
		Secrets: func() []string { return []string{s.tokens.Human, s.tokens.Agent} },
		Emit:    func(name string, data map[string]any) { s.ring.Emit(name, data) },
	})
	return err
}

// durableFolder is the part of the state folder that holds what survives.
const durableFolder = "guard"

// openBoard takes the hardware and makes every output safe, before anything else is read: a disk that hangs or holds nonsense must not
// leave on what the run before has left on.
func (s *Station) openBoard(context.Context) (err error) {
	switch s.cfg.Board.Driver.Kind {
	case "sim":
		s.driver, err = sim.New(s.cfg.Board, sim.Options{})
	default:
		err = fmt.Errorf("board %s, driver %q: %w", s.cfg.Board.Name, s.cfg.Board.Driver.Kind, ErrNoDriver)
	}
	if err != nil {
		return err
	}
	first, err := pin.New(s.cfg.Board, s.driver, pin.Options{Log: s.cfg.Log, Stopped: &pin.Latched{Reason: "the terminal is starting"}})
	if err == nil {
		if err := first.Close(); err != nil { // such an output is out of service, as the table says that is made next
			s.cfg.Log.Error("make the outputs safe", "err", err)
		}
	}
	return err
}

// startMachines starts the processes that run guest code. The first one is not waited for here.
func (s *Station) startMachines(context.Context) (err error) {
	if compiled, err := filepath.Glob(filepath.Join(s.cfg.Cache, "wazero-*", "*")); err == nil && len(compiled) == 0 {
		s.cfg.Note("pal: compiling the engine, first run only …")
	}
	s.pool, err = vm.NewPool(vm.Config{
		Command: s.cfg.Machine, CacheDir: s.cfg.Cache, HeapBytes: int(s.cfg.Settings.Heap),
		Board: s.cfg.Board.Name, Version: s.cfg.Version, Log: s.cfg.Log, Settle: niceties.Settle(niceties.ChildAffinity()),
		Notify: func(label string, n hw.Notice) {
			if c := s.running.Load(); c != nil { // before that nothing could have been driven
				c.Notice(label, n)
			}
		},
	})
	return err
}

// makeSafe makes the pin table, which drives every output safe: before anything else is opened, and long before anybody is listened
// to.
func (s *Station) makeSafe(context.Context) (err error) {
	s.ring.Also = s.durable.Ledger.Event
	s.claims = core.NewClaims(func() *pin.Table { return s.table })
	o := pin.Options{Log: s.cfg.Log, OnEvent: s.ring.Pin, Claims: s.claims, Stopped: s.durable.Stopped()}
	o.Approve = func(c pin.Caller, h pin.Handle) (bool, string, *pin.Refusal) {
		if door := s.running.Load(); door != nil {
			return door.Approve(c, h)
		}
		return false, "", nil
	}
	if s.table, err = pin.New(s.cfg.Board, s.driver, o); err != nil {
		return err
	}
	s.gate = bus.New(s.cfg.Board, s.driver, s.table, bus.Options{Log: s.cfg.Log, OnEvent: s.ring.Bus})
	return nil
}

// openDurable opens what survives and is not needed before the outputs are safe.
func (s *Station) openDurable(context.Context) error { return s.durable.Load() }

// openDoor makes the door: the core.
func (s *Station) openDoor(context.Context) (err error) {
	if s.files, err = flash.Open(filepath.Join(s.cfg.Settings.State, "flash")); err != nil {
		return err
	}
	s.agent = s.pool.Executor(core.MachineAgent)
	cfg := core.Config{
		Terminal: s.cfg.Settings.Name, Product: "pal " + s.cfg.Version, Board: s.cfg.Board, Table: s.table, Bus: s.gate, Flash: s.files, Agent: s.agent,
		Machines: s.machines, Identity: s.store, Events: s.ring, Log: s.cfg.Log, Claims: s.claims,
	}
	s.durable.Fill(&cfg)
	ending, err := start.Ended(s.folder.Path(start.EndedFile)) // what the supervisor knows better
	if err != nil {
		s.cfg.Log.Error("the supervisor's word", "err", err)
	}
	if ending == store.Watchdog {
		cfg.Boot["cause"] = ending
	}
	_, cfg.SafeMode.Why = start.Decide(s.durable.Failed, s.durable.Before.Ending)
	if s.cfg.Settings.Tasks > 0 {
		cfg.Tasks, cfg.TaskList.Tasks, cfg.TaskList.MaxTimeout = s.pool.Executor(core.MachineTasks), s.cfg.Settings.Tasks, s.cfg.Board.MaxExec
	}
	cfg.Memory = func() int64 { return vm.ResidentBytes(os.Getpid()) }
	cfg.Sim, _ = s.driver.(board.Simulator)
	if s.cfg.Board.Mode == board.ModeEngineering {
		cfg.BoardVM = s.pool.Executor(core.MachineBoard)
	}
	if s.cfg.Settings.NoAuth {
		cfg.NoAuth = identity.Actor{
			Name: "anybody", Class: identity.Agent, Scopes: []identity.Scope{identity.Read, identity.Exec, identity.Actuate},
		}
	}
	if s.core, err = core.New(cfg); err != nil {
		return err
	}
	s.running.Store(s.core)
	return nil
}

// machines turns the pool's state into the protocol's words.
func (s *Station) machines() []protocol.MachineState {
	status := s.pool.Status()
	list := make([]protocol.MachineState, 0, len(status.Machines))
	for _, m := range status.Machines {
		list = append(list, protocol.MachineState{
			Label: m.Label, Generation: m.Generation, PID: m.Pid, Engine: m.Engine, Sandbox: m.Sandbox, Missing: m.Missing,
			RSSBytes: m.RSSBytes, BootUS: m.Boot.Microseconds(), ReplacedUS: m.Replaced.Microseconds(),
		})
	}
	return list
}

// listen opens the network door.
func (s *Station) listen(ctx context.Context) error {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", s.cfg.Settings.Listen)
	if errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf("%s is in use, perhaps by another terminal (`ss -ltnp` shows who): stop it, or choose another address with --listen", s.cfg.Settings.Listen)
	}
	if err != nil {
		return fmt.Errorf("listen at %s: %w: choose another address with --listen", s.cfg.Settings.Listen, err)
	}
	s.addr = l.Addr().String()
	s.front = newFront(l, s.core, s.cfg.Log)
	return s.lock.Tell(s.addr)
}

// ready waits for a machine, checks its sandbox and tells the other commands where the terminal is.
func (s *Station) ready(ctx context.Context) error {
	if err := s.agent.Ready(ctx); err != nil {
		return fmt.Errorf("the machine does not start: %w: see `pal doctor`", err)
	}
	if m := s.agent.Status(); !slices.Contains(m.Sandbox, "seccomp") && !s.cfg.NoSandbox {
		return fmt.Errorf("the sandbox of the machine is incomplete (%s): programs could reach this computer; --unsafe-no-sandbox serves all the same", strings.Join(m.Missing, "; "))
	}
	s.front.ready.Store(true)
	s.watchNetwork()
	if err := s.overseer.systemd.Ready("serves at " + s.addr); err != nil {
		s.cfg.Log.Error("tell the supervisor", "err", err)
	}
	if s.cfg.Settings.Main {
		s.core.RunMain()
	}
	return s.folder.Publish(client.Terminal{Addr: s.addr, URL: s.URL(), PID: os.Getpid()})
}

// URL is the terminal's address for clients on this machine.
func (s *Station) URL() string {
	host, port, err := net.SplitHostPort(s.addr)
	if err != nil {
		return ""
	}
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
		if ip.To4() == nil {
			host = "::1"
		}
	}
	return "ws://" + net.JoinHostPort(host, port) + "/pal"
}

// Wait returns when the terminal is told to end (nil) or cannot serve any more. Meanwhile the e-stop signal is heard.
func (s *Station) Wait(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case err := <-s.front.failed:
			return fmt.Errorf("serve: %w", err)
		case <-s.estop:
			_ = s.core.Stop("signal", "SIGUSR1") // which logs what may not be safe
		}
	}
}

// Stop ends what Start made, outputs first. It gives up waiting after limits.ShutdownTimeout; the outputs are safe by then
// and the kernel ends the machines with this process.
func (s *Station) Stop() error {
	ctx, cancel := context.WithTimeout(context.Background(), limits.ShutdownTimeout)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- s.end(ctx) }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return fmt.Errorf("shutdown took longer than %v: outputs are safe, the rest is left to the kernel", limits.ShutdownTimeout)
	}
}

func (s *Station) end(ctx context.Context) error {
	if s.estop != nil {
		stopNotify(s.estop)
	}
	if err := s.overseer.systemd.Stopping(); err != nil {
		s.cfg.Log.Error("tell the supervisor", "err", err)
	}
	var errs []error
	switch {
	case s.core != nil:
		errs = append(errs, s.core.Close(ctx)) // makes the outputs safe first
	case s.table != nil:
		errs = append(errs, s.table.Close())
	}
	if s.table != nil {
		errs = append(errs, s.checkSafe())
	}
	if s.front != nil {
		errs = append(errs, s.front.close(ctx))
	}
	if s.pool != nil {
		errs = append(errs, s.pool.Close())
	}
	if s.gate != nil {
		errs = append(errs, s.gate.Close())
	}
	if s.files != nil {
		errs = append(errs, s.files.Close())
	}
	if s.driver != nil {
		errs = append(errs, s.driver.Close())
	}
	errs = append(errs, s.overseer.close(errors.Join(errs...) == nil))
	if s.durable != nil {
		errs = append(errs, s.durable.Close())
	}
	if s.lock != nil {
		errs = append(errs, s.folder.Withdraw(), s.lock.Release())
	}
	return errors.Join(errs...)
}

// checkSafe reads every output back once the guard is done with it: whoever ended the terminal relies on it.
func (s *Station) checkSafe() error {
	var errs []error
	for i := range s.cfg.Board.Pins {
		p := &s.cfg.Board.Pins[i]
		if p.Owner == board.OwnerSystem || !p.Can.Has(board.CapOut) {
			continue // the level of an open drain is not the guard's alone
		}
		level, err := s.driver.Get(i)
		if err == nil && level != p.Safe {
			err = fmt.Errorf("reads %d, safe is %d", level, p.Safe)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("output %s may not be safe: %w", p.Label(), err))
		}
	}
	if len(errs) == 0 {
		s.cfg.Log.Info("every output is safe")
	}
	return errors.Join(errs...)
}
