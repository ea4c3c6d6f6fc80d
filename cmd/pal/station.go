package main

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
	"github.com/pal-terminal/pal/events"
	"github.com/pal-terminal/pal/flash"
	"github.com/pal-terminal/pal/hw"
	"github.com/pal-terminal/pal/identity"
	"github.com/pal-terminal/pal/limits"
	"github.com/pal-terminal/pal/micropython"
	"github.com/pal-terminal/pal/pin"
	"github.com/pal-terminal/pal/protocol"
	"github.com/pal-terminal/pal/vm"
)

// station is one running terminal: the parts in the order in which they are made. Whatever start has made, stop ends.
type station struct {
	cfg       *config.Config
	machine   []string // start of the command line of a machine
	cache     string   // folder of compiled engines
	noSandbox bool
	log       *slog.Logger
	note      func(line string) // tells a person who waits why

	folder *state.Folder
	lock   *state.Lock
	store  *identity.Store
	tokens identity.Local
	board  *board.Description
	driver board.Driver
	table  *pin.Table
	gate   *bus.Gate
	files  *flash.Store
	pool   *vm.Pool
	agent  *vm.Machine
	core   *core.Core
	front  *front
	addr   string
	estop  chan os.Signal

	running atomic.Pointer[core.Core] // for notices, which may come before core is made
}

// start makes the parts and returns when the terminal serves and its machine can run code.
func (s *station) start(ctx context.Context) error {
	if runtime.GOOS != "linux" {
		return fmt.Errorf("terminals run on Linux, where guest code can be locked in: use pal on %s as a client of one, with --device", runtime.GOOS)
	}
	if err := micropython.Available(); err != nil {
		return err
	}
	ignoreBrokenPipes()
	s.estop = make(chan os.Signal, 1)
	notifyEstop(s.estop) // from now on it does not end the process
	for _, step := range []func(context.Context) error{s.takeState, s.openBoard, s.startMachines, s.openDoor, s.listen, s.ready} {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// takeState locks the state folder, so that no second terminal drives the same board, and opens the identities in it.
func (s *station) takeState(context.Context) (err error) {
	if s.folder, err = state.Open(s.cfg.State); err != nil {
		return err
	}
	if s.lock, err = s.folder.Lock(s.cfg.Listen); err != nil {
		return err
	}
	if s.store, err = identity.Open(s.cfg.State, time.Now); err != nil {
		return err
	}
	s.tokens, err = s.store.EnsureLocal()
	return err
}

// openBoard reads the description and takes the hardware. When it returns every output is safe.
func (s *station) openBoard(context.Context) (err error) {
	if s.board, err = loadBoard(s.cfg.Board); err != nil {
		return err
	}
	switch s.board.Driver.Kind {
	case "sim":
		s.driver, err = sim.New(s.board, sim.Options{})
	default:
		err = usagef("board %s wants the driver %q, which is not in this version: use kind sim", s.board.Name, s.board.Driver.Kind)
	}
	return err
}

// loadBoard finds a board by its file or its name.
func loadBoard(word string) (*board.Description, error) {
	if slices.Contains(board.Names(), word) {
		return board.Builtin(word)
	}
	if _, err := os.Stat(word); err != nil {
		return nil, usagef("there is no board file %s, and the boards that come with pal are: %s", word, strings.Join(board.Names(), ", "))
	}
	d, err := board.Load(word)
	if problems, ok := errors.AsType[board.Problems](err); ok && len(problems) > 1 {
		return nil, &failedError{fmt.Sprintf("%v (the first of %d findings: see `pal board lint %s`)", problems[:1], len(problems), shellWord(word))}
	}
	if err != nil {
		return nil, &failedError{err.Error()}
	}
	return d, nil
}

// startMachines starts the processes that run guest code. The first one is not waited for here.
func (s *station) startMachines(context.Context) (err error) {
	if compiled, err := filepath.Glob(filepath.Join(s.cache, "wazero-*", "*")); err == nil && len(compiled) == 0 {
		s.note("pal: compiling the engine, first run only …")
	}
	s.pool, err = vm.NewPool(vm.Config{
		Command: s.machine, CacheDir: s.cache, HeapBytes: int(s.cfg.Heap),
		Board: s.board.Name, Version: productVersion(), Log: s.log,
		Notify: func(label string, n hw.Notice) {
			if c := s.running.Load(); c != nil { // before that nothing could have been driven
				c.Notice(label, n)
			}
		},
	})
	return err
}

// openDoor makes the guard: the pin table, which drives every output safe, and the core before it.
func (s *station) openDoor(context.Context) (err error) {
	ring := events.New()
	if s.table, err = pin.New(s.board, s.driver, pin.Options{Log: s.log, OnEvent: ring.Pin}); err != nil {
		return err
	}
	s.gate = bus.New(s.board, s.driver, s.table, bus.Options{Log: s.log, OnEvent: ring.Bus})
	if s.files, err = flash.Open(filepath.Join(s.cfg.State, "flash")); err != nil {
		return err
	}
	s.agent = s.pool.Executor(core.MachineAgent)
	cfg := core.Config{
		Terminal: s.cfg.Name, Product: product(), Board: s.board, Table: s.table, Bus: s.gate, Flash: s.files, Agent: s.agent,
		Machines: s.machines, Identity: s.store, Events: ring, Log: s.log,
	}
	cfg.Memory = func() int64 { return vm.ResidentBytes(os.Getpid()) }
	cfg.Sim, _ = s.driver.(board.Simulator)
	if s.board.Mode == board.ModeEngineering {
		cfg.BoardVM = s.pool.Executor(core.MachineBoard)
	}
	if s.cfg.NoAuth {
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
func (s *station) machines() []protocol.MachineState {
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
func (s *station) listen(ctx context.Context) error {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", s.cfg.Listen)
	if errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf("%s is in use, perhaps by another terminal (`ss -ltnp` shows who): stop it, or choose another address with --listen", s.cfg.Listen)
	}
	if err != nil {
		return fmt.Errorf("listen at %s: %w: choose another address with --listen", s.cfg.Listen, err)
	}
	s.addr = l.Addr().String()
	s.front = newFront(l, s.core, s.log)
	return s.lock.Tell(s.addr)
}

// ready waits for a machine, checks its sandbox and tells the other commands where the terminal is.
func (s *station) ready(ctx context.Context) error {
	if err := s.agent.Ready(ctx); err != nil {
		return fmt.Errorf("the machine does not start: %w: see `pal doctor`", err)
	}
	if m := s.agent.Status(); !slices.Contains(m.Sandbox, "seccomp") && !s.noSandbox {
		return fmt.Errorf("the sandbox of the machine is incomplete (%s): programs could reach this computer; --unsafe-no-sandbox serves all the same", strings.Join(m.Missing, "; "))
	}
	s.front.ready.Store(true)
	if s.cfg.Main {
		s.core.RunMain()
	}
	return s.folder.Publish(client.Terminal{Addr: s.addr, URL: s.url(), PID: os.Getpid()})
}

// url is the terminal's address for clients on this machine.
func (s *station) url() string {
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

// wait returns when the terminal is told to end (nil) or cannot serve any more. Meanwhile the e-stop signal is heard.
func (s *station) wait(ctx context.Context) error {
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

// stop ends what start made, outputs first. It gives up waiting after limits.ShutdownTimeout; the outputs are safe by then
// and the kernel ends the machines with this process.
func (s *station) stop() error {
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

func (s *station) end(ctx context.Context) error {
	if s.estop != nil {
		stopNotify(s.estop)
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
	if s.lock != nil {
		errs = append(errs, s.folder.Withdraw(), s.lock.Release())
	}
	return errors.Join(errs...)
}

// checkSafe reads every output back once the guard is done with it: whoever ended the terminal relies on it.
func (s *station) checkSafe() error {
	var errs []error
	for i := range s.board.Pins {
		p := &s.board.Pins[i]
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
		s.log.Info("every output is safe")
	}
	return errors.Join(errs...)
}
