package core

import (
	"context"
	"errors"
	"time"

	"github.com/go-json-experiment/json/jsontext"

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
	for {
		select {
		case w := <-c.work:
			c.do(w)
		case <-c.ctx.Done():
			select { // admission may have handed over something at the same moment
			case w := <-c.work:
				c.do(w)
			default:
			}
			return
		}
	}
}

func (c *Core) do(w work) {
	switch {
	case w.exec != nil:
		r := c.runExec(w.exec, w.forget)
		c.execs.Add(1)
		a := c.written(r)
		// Answer and end are one step of admission: nothing that follows from the end (the next exec's output, the refusal
		// of what was queued behind an error) can overtake the answer.
		if !c.post(func() { c.deliver(w.exec, a); c.queue.ended(c, w.exec, r.Error) }) {
			c.deliver(w.exec, a)
		}
		return
	case w.edge != nil:
		c.runHandler(w.edge)
	case w.reset != nil:
		w.reset.err = c.cfg.Agent.Reset(c.ctx)
		if c.cfg.BoardVM != nil {
			w.reset.err = errors.Join(w.reset.err, c.cfg.BoardVM.Reset(c.ctx))
		}
		close(w.reset.done)
	}
	c.post(func() { c.queue.ended(c, nil, false) })
}

// runExec runs one exec to its end and makes safe what must not outlive it.
func (c *Core) runExec(j *job, forget []string) protocol.Result {
	start := time.Now()
	ctx, done := context.WithTimeoutCause(j.ctx, j.timeout, errDeadline)
	defer done()
	s := newSink(c, j, start)
	hwJob := hw.Job{
		Kind: hw.JobExec, Session: j.key, Drop: forget, Code: j.exec.Code, Single: echoes(j.exec), Eval: j.exec.Eval,
		MaxOutput: limits.OutputDefault,
	}
	if j.exec.MaxOutput != nil {
		hwJob.MaxOutput = int(*j.exec.MaxOutput)
	}
	out := c.onAgent(ctx, hwJob, s)
	if out.Rung != hw.RungNone || out.Died {
		s.keep(c.cfg.Table.Safe(causeEnded, func(d pin.Driven) bool { return d.Caller.Run == j.run }))
	}
	s.flush()
	return c.result(j, s, out, context.Cause(ctx), time.Since(start))
}

// echoes decides whether expression statements print their value: as at a prompt for code of one line, unless asked
// otherwise.
func echoes(e *protocol.Exec) bool {
	if e.Echo != nil {
		return *e.Echo
	}
	for i := range len(e.Code) {
		if e.Code[i] == '\n' && i < len(e.Code)-1 {
			return false
		}
	}
	return !e.Eval
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
		"machine": machine, "class": out.Exception.Class, "message": protocol.Text([]byte(out.Exception.Message)), "line": out.Exception.Line,
	})
}

// callBoard runs a function of board.py in its own machine on behalf of the agent code behind s.
func (c *Core) callBoard(ctx context.Context, s *sink, name string, args []byte) hw.Reply {
	if c.cfg.BoardVM == nil {
		return hw.Reply{Errno: errnoACCES, Text: "board functions are called directly in open mode"}
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
	return hw.Reply{Errno: errnoIO, Text: e.Class + ": " + e.Message, Data: encodeRaised(e.Class, e.Message)}
}

func encodeRaised(class, message string) []byte {
	b, err := jsontext.AppendQuote(nil, protocol.Text([]byte(class)))
	if err != nil {
		return nil
	}
	b = append([]byte("["), append(b, ',')...)
	m, err := jsontext.AppendQuote(nil, protocol.Text([]byte(message)))
	if err != nil {
		return nil
	}
	return append(append(b, m...), ']')
}

// runHandler lets the idle machine handle one interrupt, under the session that armed it.
func (c *Core) runHandler(e *edgeJob) {
	if e.reg.cancelled() || c.cfg.Agent.Generation() != e.reg.generation {
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
	if out.Exception != nil || out.Rung != hw.RungNone {
		data := map[string]any{"pin": e.reg.pin, "actor": e.reg.caller.Name, "rung": int(out.Rung)}
		if out.Exception != nil {
			data["class"], data["message"] = out.Exception.Class, protocol.Text([]byte(out.Exception.Message))
		}
		c.cfg.Events.Emit("handler_error", data)
	}
}
