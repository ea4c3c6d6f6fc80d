package core

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/pal-terminal/pal/answers"
	"github.com/pal-terminal/pal/desk"
	"github.com/pal-terminal/pal/flash"
	"github.com/pal-terminal/pal/hw"
	"github.com/pal-terminal/pal/limits"
	"github.com/pal-terminal/pal/pin"
	"github.com/pal-terminal/pal/protocol"
)

// Causes of effects that core asks the pin table for.
const (
	causeLost       = "vm_lost"
	causeDisconnect = "disconnect"
	causeEnded      = "exec_ended"
	causeLease      = "lease_ended"
	causeTask       = "task_ended"
)

// machine is an executor and what was set up in it. Whoever holds turn owns all but vm.
type machine struct {
	vm    hw.Executor
	label string
	turn  chan struct{} // of size one
	ready uint64        // the generation that has board.py

	rights flash.Rights // of all code that ran in generation ran
	actor  string       // whose it was, "" when it was several actors'
	ran    uint64
}

// separate sees that code of different rights never meets in one machine. All that runs there shares a heap: a method of Pin or
// a built-in name that one actor's code replaced would run with the rights of the next, and so would its interrupt handlers.
// Actors of the same rights share the machine and can only do what each may do anyway, but for one that has something of his own: a
// lease, a task's outputs, approvals. He gets a machine that ran nobody else's code.
func (c *Core) separate(ctx context.Context, m *machine, caller pin.Caller) error {
	own, used := desk.Rights(caller), m.ran == m.vm.Generation()
	cause := ""
	switch {
	case used && m.rights != own:
		cause = "code of other rights ran in it"
	case used && c.strange(m, caller):
		cause = "code of other actors ran in it, and " + caller.Name + " holds what they do not"
	case used && m.actor != caller.Name:
		m.actor = ""
		return nil
	}
	if cause != "" {
		c.forget(func(o pin.Caller) bool { return o.Machine == m.label })
		if err := m.vm.Reset(ctx); err != nil {
			return fmt.Errorf("machine for %s: %w", caller.Name, err)
		}
		c.cfg.Events.Emit("core1_restarted", map[string]any{"machine": m.label, "cause": cause})
	}
	m.rights, m.actor = own, caller.Name
	return nil
}

// strange reports whether a machine ran code of others than a caller that has something of his own.
func (c *Core) strange(m *machine, caller pin.Caller) bool {
	return m.actor != caller.Name && (caller.Ask || c.cfg.Claims.Holds(caller.Name))
}

// runner is the goroutine that waits for machines, one piece of work at a time.
func (c *Core) runner() {
	for work := range c.work {
		work()
	}
}

// runReset replaces the machines and forgets what they held.
func (c *Core) runReset(r *resetJob) {
	// Before anything is waited for: the machines run nothing now, and a new one can be long in coming.
	c.lost(MachineAgent)
	c.lost(MachineBoard)
	err := c.agent.reset(c.ctx)
	if c.board.vm != nil {
		err = errors.Join(err, c.board.reset(c.ctx))
	}
	if err == nil {
		c.cfg.Events.Emit("core1_restarted", map[string]any{"machine": MachineAgent, "cause": "reset by " + r.actor})
	} else {
		err = fmt.Errorf("reset machine: %w", err)
	}
	c.post(func() {
		c.queue.sessions.Clear()
		c.queue.forget = nil
		r.answer(err)
		c.queue.ended(c)
	})
}

// runExec runs one exec to its end, makes safe what must not outlive it, and answers.
func (c *Core) runExec(j *job) {
	start := time.Now()
	ctx, done := context.WithTimeoutCause(j.ctx, j.timeout, errDeadline)
	defer done()
	s := newSink(c, j, start)
	s.work = c.cfg.Ledger.Intend(j.who.Actor, j.who.Client, j.req, j.trace)
	defer c.sources.Add(j.code, j.exec.Code)()
	m, work := &c.agent, hw.Job{Kind: hw.JobExec, Session: j.key, Code: j.exec.Code, Single: echoes(j.exec), Eval: j.exec.Eval}
	if j.call != nil {
		work = *j.call
		if work.Session == "" && c.board.vm != nil { // a function of board.py, whose machine alone may drive
			m, s.caller.Board, s.caller.Machine = &c.board, true, MachineBoard
		}
	}
	work.Drop, work.MaxOutput = j.forget, s.limit
	out := c.run(ctx, m, work, s)
	if j.call != nil && out.Exception != nil { // which a program would have printed
		s.Output(hw.Stderr, []byte(out.Exception.Traceback))
	}
	switch {
	case out.Died:
		// The executor's notice does the same at the same moment, but the answer says that it is done. So that it is no matter
		// of luck what a client reads, the loss of a machine is told by events alone.
		c.lost(m.label)
	case out.Rung != hw.RungNone:
		if errors.Is(context.Cause(ctx), errReleased) { // also what it armed in the moment that it had to end in
			c.forget(func(o pin.Caller) bool { return o.Run == j.run })
		}
		for _, e := range c.cfg.Table.Safe(causeEnded, func(d pin.Driven) bool { return d.Caller.Run == j.run }) {
			s.effect(e)
		}
	}
	c.gone(j.conn.ID)
	r := c.result(j, s, out, context.Cause(ctx), time.Since(start))
	c.execs.Add(1)
	if j.done != nil {
		defer j.done(r)
	}
	a := answers.Write(r)
	a.Keep = a.Keep || out.Started // what was done must not be done again, whatever came of it
	slow, ready := context.WithTimeoutCause(context.WithoutCancel(ctx), limits.ConnWriteTimeout, errSlowDisk)
	c.recorded(s.work.Done(slow, r, !a.Keep))
	ready()
	// Answer and end are one step of admission: nothing that follows from the end (the next exec's output, the refusal of
	// what was queued behind an error) can overtake the answer.
	c.post(func() {
		c.deliver(j.conn, j.entry, a)
		j.cancel(nil)
		c.queue.execEnded(c, j, out.Started, r.Error)
	})
}

// echoes decides whether expression statements print their value: as at a prompt for code of one line, unless asked
// otherwise.
func echoes(e *protocol.Exec) bool {
	if e.Echo != nil {
		return *e.Echo
	}
	return !e.Eval && !strings.Contains(strings.TrimSuffix(e.Code, "\n"), "\n")
}

// run runs a job on a machine after board.py was set up in it. The machine can be replaced between the two: then the job is not
// started and both are done again.
func (c *Core) run(ctx context.Context, m *machine, j hw.Job, s *sink) hw.Outcome {
	if err := m.take(ctx); err != nil {
		return hw.Outcome{Cause: err.Error()}
	}
	defer m.leave()
	for {
		var gen uint64
		var err error
		if m != &c.board { // what runs in that one is called from the others
			err = c.separate(ctx, m, s.caller)
			s.caller.Shared = m.actor == ""
		}
		if err == nil {
			gen, err = c.ready(ctx, m)
		}
		if err != nil {
			return hw.Outcome{Cause: err.Error()} // whatever became of the set-up, the job was not started
		}
		j.Generation, m.ran = gen, gen
		if out := m.vm.Run(ctx, j, s); !out.Stale {
			return out
		}
	}
}

func newMachine(vm hw.Executor, label string) machine {
	return machine{vm: vm, label: label, turn: make(chan struct{}, 1)}
}

// take waits for a machine's turn: the machine of board.py is called from those of execs and of tasks.
func (m *machine) take(ctx context.Context) error {
	select {
	case m.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (m *machine) leave() { <-m.turn }

func (m *machine) reset(ctx context.Context) error {
	if err := m.take(ctx); err != nil {
		return err
	}
	defer m.leave()
	return m.vm.Reset(ctx)
}

// ready sets up a machine, unless that was done, and returns its generation.
func (c *Core) ready(ctx context.Context, m *machine) (generation uint64, err error) {
	for {
		gen := m.vm.Generation()
		if m.ready == gen {
			return gen, nil
		}
		if err := c.setUp(ctx, m, gen); err != nil {
			return 0, err
		}
	}
}

// setUp gives a fresh machine its board module. In engineering mode board.py runs in its own machine, which alone holds the
// grants; the agent's gets a proxy that holds none. That the machine was replaced again is no error: ready finds out.
func (c *Core) setUp(ctx context.Context, m *machine, gen uint64) error {
	j := hw.Job{Kind: hw.JobBoard, Code: string(*c.boardPy.Load()), MaxOutput: limits.OutputDefault, Generation: gen}
	proxy := c.board.vm != nil && m != &c.board
	if proxy {
		if err := c.board.take(ctx); err != nil {
			return err
		}
		_, err := c.ready(ctx, &c.board)
		j.Kind, j.Args = hw.JobProxy, c.functions
		c.board.leave()
		if err != nil {
			return err
		}
	}
	s := &sink{c: c, limit: j.MaxOutput, lazy: true, epoch: c.cfg.Table.Epoch(), caller: pin.Caller{Name: "board.py", Drive: !proxy, Board: m == &c.board, Machine: m.label}}
	own, done := context.WithTimeoutCause(ctx, limits.BoardInitTimeout, errDeadline)
	defer done()
	out := m.vm.Run(own, j, s)
	switch {
	case out.Stale:
		return nil
	case !out.Started || out.Died:
		return errors.New(out.Cause)
	case out.Rung != hw.RungNone && ctx.Err() != nil: // whoever it was done for has no time left; the next one does it again
		return context.Cause(ctx)
	}
	if m.ready = gen; m == &c.board {
		c.functions = []byte("[]")
		if out.Exception == nil && len(out.Value) > 0 {
			c.functions = out.Value
		}
	}
	c.reportBoard(m.label, out)
	return nil
}

// reportBoard tells when board.py failed: its names are missing then, and somebody must mend it.
func (c *Core) reportBoard(machine string, out hw.Outcome) {
	if out.Exception == nil {
		return
	}
	c.log.Error("board.py failed", "machine", machine, "class", out.Exception.Class, "err", out.Exception.Message)
	c.cfg.Events.Emit("board_error", map[string]any{
		"machine": machine, "class": out.Exception.Class, "message": desk.Clean(out.Exception.Message, limits.ReasonBytes), "line": out.Exception.Line,
	})
}

// callBoard runs a function of board.py in its own machine on behalf of the agent code behind s.
func (c *Core) callBoard(ctx context.Context, s *sink, name string, args []byte) hw.Reply {
	if c.board.vm == nil || s.caller.Machine == MachineBoard { // board.py's own machine is the one that would have to run it
		return hw.Reply{Errno: errnoACCES, Text: "board functions are called directly here"}
	}
	caller := s.caller
	caller.Board, caller.Machine = true, MachineBoard
	inner := &sink{c: c, caller: caller, job: s.job, parent: s, limit: s.limit}
	out := c.run(ctx, &c.board, hw.Job{Kind: hw.JobFunc, Func: name, Args: args, MaxOutput: s.limit}, inner)
	s.text.Lose(out.DroppedOut, out.DroppedErr)
	switch {
	case !out.Started:
		return hw.Reply{Errno: errnoIO, Text: "the machine of board.py cannot be had: " + out.Cause}
	case out.Died:
		return hw.Reply{Errno: errnoIO, Text: "board." + name + " did not end: " + out.Cause}
	case out.Exception != nil:
		return inner.raised(out)
	}
	return hw.Reply{Data: out.Value}
}

// raised carries an exception of a board function to the code that called it: a refusal of the guard stays one, with its
// number; anything else is named by class so that the proxy can raise the same one.
func (s *sink) raised(out hw.Outcome) hw.Reply {
	e := out.Exception
	if s.refused != nil && out.Refusal == s.number {
		return hw.Reply{Errno: int32(s.refused.Errno), Refusal: s.number, Text: s.refused.Message}
	}
	class, message := desk.Clean(e.Class, limits.NameBytes), desk.Clean(e.Message, limits.OutputDefault)
	data, err := json.Marshal([]string{class, message})
	if err != nil {
		return hw.Reply{Errno: errnoIO, Text: err.Error()}
	}
	return hw.Reply{Errno: errnoIO, Text: class + ": " + message, Data: data}
}

// runHandler lets the idle machine handle one interrupt, under the session that armed it.
func (c *Core) runHandler(e *edgeJob) {
	defer c.post(func() { e.reg.done(c); c.queue.ended(c) })
	if e.reg.off.Load() || c.agent.vm.Generation() != e.reg.generation {
		return // disarmed, or armed in a machine that is gone
	}
	if c.strange(&c.agent, e.reg.caller) {
		c.irqs.forget(func(r *registration) bool { return r == e.reg })
		c.cfg.Events.Emit("handler_error", map[string]any{"actor": e.reg.caller.Name, "message": "disarmed: code of other actors has run in the machine, and its actor holds what they do not"})
		return
	}
	ctx, done := context.WithTimeoutCause(c.ctx, limits.HandlerTimeout, errDeadline)
	defer done()
	s := &sink{c: c, caller: e.reg.caller, session: e.reg.session, limit: limits.OutputDefault, lazy: true, epoch: e.reg.epoch}
	out := c.agent.vm.Run(ctx, hw.Job{
		Kind: hw.JobHandler, Session: e.reg.session, Edge: e.edge, MaxOutput: limits.OutputDefault, Generation: e.reg.generation,
	}, s)
	if out.Rung != hw.RungNone || out.Died {
		c.cfg.Table.Safe(causeEnded, func(d pin.Driven) bool { return d.Caller.Run == e.reg.caller.Run && d.Caller.Run != 0 })
	}
	c.gone(e.reg.caller.Conn)
	if s.count > 0 {
		c.cfg.Ledger.Run(s.caller.Name, "handler", "", map[string]any{"run": s.caller.Run, "effects": s.effects, "effects_count": s.count})
	}
	if out.Exception != nil || out.Rung != hw.RungNone {
		data := map[string]any{"actor": e.reg.caller.Name, "rung": int(out.Rung)}
		switch key := e.reg.key; key.source {
		case hw.SourcePin:
			data["pin"] = string(c.cfg.Board.Pins[key.number].ID)
		case hw.SourceTimer:
			data["timer"] = key.number
		case hw.SourceUART:
			data["uart"] = key.number
		}
		if out.Exception != nil {
			data["class"], data["message"] = out.Exception.Class, desk.Clean(out.Exception.Message, limits.ReasonBytes)
		}
		c.cfg.Events.Emit("handler_error", data)
	}
}
