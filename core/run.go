package core

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/pal-terminal/pal/board"
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
)

// machineStates remembers which generation of each machine has board.py set up. The runner owns it.
type machineStates struct {
	agent, board uint64
	functions    []byte // JSON list of the board machine's public functions
}

// runner is the goroutine that waits for machines, one piece of work at a time.
func (c *Core) runner() {
	for w := range c.work {
		switch {
		case w.exec != nil:
			c.runExec(w)
		case w.edge != nil:
			c.runHandler(w.edge)
			c.post(func() { c.queue.ended(c) })
		case w.reset != nil:
			c.runReset(w.reset)
		}
	}
}

// runReset replaces the machines and forgets what they held.
func (c *Core) runReset(r *resetJob) {
	err := c.cfg.Agent.Reset(c.ctx)
	if c.cfg.BoardVM != nil {
		err = errors.Join(err, c.cfg.BoardVM.Reset(c.ctx))
	}
	c.irqs.forget(func(*registration) bool { return true })
	c.cfg.Table.Safe(causeLost, func(d pin.Driven) bool { return d.Caller.Machine != "" })
	if err == nil {
		c.cfg.Events.Emit("core1_restarted", map[string]any{"machine": MachineAgent, "cause": "reset by " + r.actor})
	} else {
		err = fmt.Errorf("reset machine: %w", err)
	}
	c.post(func() {
		c.queue.sessions.init()
		c.queue.forget = nil
		r.answer(err)
		c.queue.ended(c)
	})
}

// runExec runs one exec to its end, makes safe what must not outlive it, and answers.
func (c *Core) runExec(w work) {
	j, start := w.exec, time.Now()
	ctx, done := context.WithTimeoutCause(j.ctx, j.timeout, errDeadline)
	defer done()
	s := newSink(c, j, start)
	out := c.onAgent(ctx, hw.Job{
		Kind: hw.JobExec, Session: j.key, Drop: w.forget, Code: j.exec.Code, Single: echoes(j.exec), Eval: j.exec.Eval,
		MaxOutput: s.limit,
	}, s)
	switch mine := func(d pin.Driven) bool { return d.Caller.Run == j.run }; {
	case out.Died:
		// The executor's notice does the same at the same moment. So that it is no matter of luck what a client reads, the
		// loss of a machine is told by the event alone.
		c.cfg.Table.Safe(causeLost, mine)
	case out.Rung != hw.RungNone:
		for _, e := range c.cfg.Table.Safe(causeEnded, mine) {
			s.effect(e)
		}
	}
	c.gone(j.conn.id)
	r := c.result(j, s, out, context.Cause(ctx), time.Since(start))
	c.execs.Add(1)
	a := write(r)
	a.keep = a.keep || out.Started // what was done must not be done again, whatever came of it
	// Answer and end are one step of admission: nothing that follows from the end (the next exec's output, the refusal of
	// what was queued behind an error) can overtake the answer.
	c.post(func() {
		c.deliver(j, a)
		c.queue.execEnded(c, w, out.Started, r.Error)
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

// onAgent runs a job on the agent's machine, after board.py was set up in it. The machine can be replaced between the two:
// then the job is not started and both are done again.
func (c *Core) onAgent(ctx context.Context, j hw.Job, s *sink) hw.Outcome {
	for {
		gen := c.cfg.Agent.Generation()
		if c.machines.agent != gen {
			if out := c.prepare(ctx, gen); out != nil {
				return *out
			}
		}
		j.Generation = gen
		out := c.cfg.Agent.Run(ctx, j, s)
		if !out.Stale {
			return out
		}
	}
}

// prepare gives a fresh agent machine its board module. A nil answer means that it is ready, or that the machine was
// replaced again, which the caller finds out; an outcome is the reason why no machine can be had.
func (c *Core) prepare(ctx context.Context, gen uint64) *hw.Outcome {
	desc := c.cfg.Board
	j := hw.Job{Kind: hw.JobBoard, Code: string(desc.BoardPy), MaxOutput: limits.OutputDefault, Generation: gen}
	if desc.Mode == board.ModeEngineering {
		if out := c.prepareBoard(ctx); out != nil {
			return out
		}
		j.Kind, j.Args = hw.JobProxy, c.machines.functions
	}
	setup := &sink{c: c, caller: c.boardCaller(MachineAgent, desc.Mode == board.ModeEngineering), limit: limits.OutputDefault}
	ctx, done := context.WithTimeoutCause(ctx, limits.BoardInitTimeout, errDeadline)
	defer done()
	out := c.cfg.Agent.Run(ctx, j, setup)
	switch {
	case out.Stale:
		return nil
	case !out.Started || out.Died:
		return &out
	}
	c.machines.agent = gen
	c.reportBoard(MachineAgent, out)
	return nil
}

// prepareBoard runs board.py in the machine of its own.
func (c *Core) prepareBoard(ctx context.Context) *hw.Outcome {
	for {
		gen := c.cfg.BoardVM.Generation()
		if c.machines.board == gen {
			return nil
		}
		ctx, done := context.WithTimeoutCause(ctx, limits.BoardInitTimeout, errDeadline)
		s := &sink{c: c, caller: c.boardCaller(MachineBoard, false), limit: limits.OutputDefault}
		out := c.cfg.BoardVM.Run(ctx, hw.Job{
			Kind: hw.JobBoard, Code: string(c.cfg.Board.BoardPy), MaxOutput: limits.OutputDefault, Generation: gen,
		}, s)
		done()
		switch {
		case out.Stale:
			continue
		case !out.Started || out.Died:
			return &out
		}
		c.machines.board, c.machines.functions = gen, []byte("[]")
		if out.Exception == nil && len(out.Value) > 0 {
			c.machines.functions = out.Value
		}
		c.reportBoard(MachineBoard, out)
		return nil
	}
}

// boardCaller is who board.py is while it is being set up. In engineering mode its own machine holds the grants and the
// agent's machine, which only gets the proxy, holds none.
func (c *Core) boardCaller(machine string, proxy bool) pin.Caller {
	return pin.Caller{Name: "board.py", Drive: !proxy, Board: machine == MachineBoard, Machine: machine}
}

// reportBoard tells when board.py failed: its names are missing then, and somebody must mend it.
func (c *Core) reportBoard(machine string, out hw.Outcome) {
	if out.Exception == nil {
		return
	}
	c.log.Error("board.py failed", "machine", machine, "err", out.Exception.Message)
	c.cfg.Events.Emit("board_error", map[string]any{
		"machine": machine, "class": out.Exception.Class, "message": clean(out.Exception.Message, limits.ReasonBytes), "line": out.Exception.Line,
	})
}

// callBoard runs a function of board.py in its own machine on behalf of the agent code behind s.
func (c *Core) callBoard(ctx context.Context, s *sink, name string, args []byte) hw.Reply {
	if c.cfg.BoardVM == nil || s.caller.Machine == MachineBoard { // board.py's own machine is the one that would have to run it
		return hw.Reply{Errno: errnoACCES, Text: "board functions are called directly here"}
	}
	caller := s.caller
	caller.Board, caller.Machine = true, MachineBoard
	inner := &sink{c: c, caller: caller, job: s.job, parent: s, limit: s.limit}
	for {
		if out := c.prepareBoard(ctx); out != nil {
			return hw.Reply{Errno: errnoIO, Text: "the machine of board.py cannot be had: " + out.Cause}
		}
		out := c.cfg.BoardVM.Run(ctx, hw.Job{
			Kind: hw.JobFunc, Func: name, Args: args, MaxOutput: s.limit, Generation: c.machines.board,
		}, inner)
		s.lost[0] += out.DroppedOut
		s.lost[1] += out.DroppedErr
		switch {
		case out.Stale:
			continue
		case out.Died || !out.Started:
			return hw.Reply{Errno: errnoIO, Text: "board." + name + " did not end: " + out.Cause}
		case out.Exception != nil:
			return inner.raised(out)
		}
		return hw.Reply{Data: out.Value}
	}
}

// raised carries an exception of a board function to the code that called it: a refusal of the guard stays one, with its
// number; anything else is named by class so that the proxy can raise the same one.
func (s *sink) raised(out hw.Outcome) hw.Reply {
	e := out.Exception
	if s.refused != nil && out.Refusal == s.number {
		return hw.Reply{Errno: int32(s.refused.Errno), Refusal: s.number, Text: s.refused.Message}
	}
	class, message := clean(e.Class, limits.NameBytes), clean(e.Message, limits.OutputDefault)
	data, err := json.Marshal([]string{class, message})
	if err != nil {
		return hw.Reply{Errno: errnoIO, Text: err.Error()}
	}
	return hw.Reply{Errno: errnoIO, Text: class + ": " + message, Data: data}
}

// clean makes text of what a guest said, of at most limit of its bytes.
func clean(text string, limit int) string {
	kept, _ := protocol.Cut([]byte(text), limit)
	return protocol.Text(kept)
}

// runHandler lets the idle machine handle one interrupt, under the session that armed it.
func (c *Core) runHandler(e *edgeJob) {
	if e.reg.off.Load() || c.cfg.Agent.Generation() != e.reg.generation {
		return // disarmed, or armed in a machine that is gone
	}
	ctx, done := context.WithTimeoutCause(c.ctx, limits.HandlerTimeout, errDeadline)
	defer done()
	s := &sink{c: c, caller: e.reg.caller, session: e.reg.session, limit: limits.OutputDefault}
	out := c.cfg.Agent.Run(ctx, hw.Job{
		Kind: hw.JobHandler, Session: e.reg.session, Edge: e.edge, MaxOutput: limits.OutputDefault, Generation: e.reg.generation,
	}, s)
	if out.Rung != hw.RungNone || out.Died {
		c.cfg.Table.Safe(causeEnded, func(d pin.Driven) bool { return d.Caller.Run == e.reg.caller.Run && d.Caller.Run != 0 })
	}
	c.gone(e.reg.caller.Conn)
	if out.Exception != nil || out.Rung != hw.RungNone {
		data := map[string]any{"pin": e.reg.pin, "actor": e.reg.caller.Name, "rung": int(out.Rung)}
		if out.Exception != nil {
			data["class"], data["message"] = out.Exception.Class, clean(out.Exception.Message, limits.ReasonBytes)
		}
		c.cfg.Events.Emit("handler_error", data)
	}
}
