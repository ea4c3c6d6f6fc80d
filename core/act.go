package core

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/pal-terminal/pal/answers"
	"github.com/pal-terminal/pal/board"
	"github.com/pal-terminal/pal/desk"
	"github.com/pal-terminal/pal/identity"
	"github.com/pal-terminal/pal/limits"
	"github.com/pal-terminal/pal/pin"
	"github.com/pal-terminal/pal/protocol"
)

// act does what a request asks, but for those that have a way of their own, and answers it.
func (c *Core) act(k *conn, w *who, req *protocol.Request) protocol.Answer {
	answer, err := c.try(k, w, req)
	if err != nil {
		r := protocol.Refuse(req.ID, desk.Refusal(err))
		r.Meta = req.Meta
		return r
	}
	return answer
}

func (c *Core) try(k *conn, w *who, req *protocol.Request) (protocol.Answer, error) {
	ack := protocol.Ack{Header: protocol.NewHeader(req.ID, protocol.AnswerAck)}
	switch body := req.Body.(type) {
	case nil:
		switch req.Type {
		case protocol.TypePing:
			return protocol.Pong{Header: protocol.NewHeader(req.ID, protocol.AnswerPong)}, nil
		case protocol.TypeDescribe:
			return c.describe(req.ID), nil
		case protocol.TypeList:
			return desk.Tasks(c.manager, w, req)
		case protocol.TypePins:
			return protocol.Pins{Header: protocol.NewHeader(req.ID, protocol.AnswerPins), Pins: desk.Pins(c.cfg.Table, c.cfg.Claims)}, nil
		}
	case *protocol.StatusQuery:
		if body.TaskID != nil {
			return desk.Task(c.manager, req.ID, *body.TaskID, true)
		}
		return c.status(req.ID), nil
	case *protocol.PinRead:
		return c.usePin(k, w, req, body.Pin, nil)
	case *protocol.PinSet:
		return c.usePin(k, w, req, body.Pin, &body.Value)
	case *protocol.Stop:
		if err := c.Stop(w.Actor.Name, body.Reason); err != nil {
			return nil, fmt.Errorf("the e-stop is latched: %w", err)
		}
		ack.Message = "outputs are safe; a human clears the latch with estop_clear"
		return ack, nil
	case *protocol.EstopClear:
		ack.Message = "cleared; outputs stay safe until they are driven again"
		return ack, c.clear(w, body.Reason)
	case *protocol.Target:
		return ack, c.interrupt(k, w, body.Target)
	case *protocol.Reset:
		return ack, c.resetSession(w, body.Session)
	case *protocol.Watch:
		return ack, c.watch(k, w, req.Type, body)
	}
	return c.neighbour(k, w, req)
}

// neighbour is try for what concerns one neighbour of the door.
func (c *Core) neighbour(k *conn, w *who, req *protocol.Request) (protocol.Answer, error) {
	switch body := req.Body.(type) {
	case *protocol.Register, *protocol.TaskRef:
		return desk.Tasks(c.manager, w, req)
	case *protocol.Lease, *protocol.LeaseRelease:
		return c.leaseRequest(k, w, req)
	case *protocol.Approval:
		return desk.Approval(c.cfg.Approvals, w.Actor, req.ID, body)
	case *protocol.Audit:
		ctx, done := context.WithTimeoutCause(c.ctx, limits.ConnWriteTimeout, errSlowDisk)
		defer done()
		return desk.Audit(ctx, c.cfg.Ledger.Log(), req.ID, body)
	case *protocol.SafeMode:
		return c.safeModeRequest(w, req.ID, body)
	case *protocol.Board:
		if body.Op == "apply" {
			return c.changeBoard(w, req.ID, body)
		}
		return c.boardAnswer(req.ID, body), nil
	case *protocol.Token:
		return desk.Token(c.cfg.Identity, req.ID, body)
	case *protocol.Sim:
		return desk.Sim(c.cfg.Sim, req.ID, body)
	case *protocol.Conn:
		return desk.Conns(&c.slots, k, w.Actor.Name, req.ID, body)
	}
	return nil, fmt.Errorf("request type %s has no handler", req.Type)
}

// clear releases the e-stop. What ran or was armed before must not drive by itself the moment it may again: it is ended first. A
// program has a moment to end in; what it drives in that is made safe.
func (c *Core) clear(w *who, reason string) error {
	if stopped, _, _ := c.cfg.Table.Stopped(); stopped {
		c.irqs.forget(func(*registration) bool { return true })
		c.ask(func(q *queue) { q.interrupt(c, errReleased, func(*job) bool { return true }) })
	}
	if err := c.latch.Unhold(); err != nil { // each task stays held until it is resumed
		return err
	}
	if err := c.cfg.Table.Clear(); err != nil {
		c.latch.Hold()
		return err
	}
	slow := c.latch.Settle("")
	c.cfg.Events.Emit("estop", estopEvent(false, w.Actor.Name, reason))
	if again, why, _ := c.cfg.Table.Stopped(); again { // the newest event must not say otherwise
		c.cfg.Events.Emit("estop", estopEvent(true, "", why))
	}
	if slow != nil {
		return &protocol.Error{Code: protocol.CodeStorage, Message: "released, but the disk has not taken it: after a restart the e-stop may be set again: " + slow.Error()}
	}
	return nil
}

// usePin drives a pin, or reads it for a nil level, without the machine and by the same rules.
func (c *Core) usePin(k *conn, w *who, req *protocol.Request, name protocol.PinName, level *protocol.Level) (protocol.Answer, error) {
	r := protocol.Result{Header: protocol.NewHeader(req.ID, protocol.AnswerResult), Guard: guardKind, Meta: req.Meta}
	start, caller := time.Now(), callerOf(w, k)
	value := 0
	h, err := c.cfg.Table.Resolve(string(name))
	switch {
	case err != nil:
	case level != nil && c.safe.Load() && !caller.Human:
		return nil, c.safeModeRefusal()
	case level != nil:
		var e pin.Effect
		source := fmt.Sprintf("pin_set %s %d", name, *level)
		caller.Run, caller.Code = c.traces.Add(1), hashOf(source)
		defer c.sources.Add(caller.Code, source)()
		if e, err = c.cfg.Table.Write(caller, h, int(*level)); err == nil {
			value, r.Effects = e.To, []protocol.Effect{desk.Effect(e, start)}
		}
	case c.cfg.Board.Pins[h].Can.Has(board.CapADC):
		value, _, err = c.cfg.Table.ReadADC(caller, h)
	default:
		value, err = c.cfg.Table.Read(caller, h)
	}
	switch {
	case err != nil && level != nil:
		if refusal, ok := errors.AsType[*pin.Refusal](err); ok {
			c.denied(caller, refusal, c.refusals.Add(1))
		}
		r = protocol.Refuse(req.ID, desk.Refusal(err))
		r.Guard, r.EffectsRefused, r.Meta = guardKind, 1, req.Meta
		return r, nil
	case err != nil:
		return nil, err
	}
	r.ExecTimeMS, r.Value = time.Since(start).Milliseconds(), fmt.Appendf(nil, "%d", value)
	return r, nil
}

// interrupt cancels an exec: by the id its own client gave it, or by trace for humans and admins.
func (c *Core) interrupt(k *conn, w *who, target string) error {
	others := w.Actor.Class == identity.Human || w.Actor.Can(identity.Admin)
	client := clientName(k, w)
	n := 0
	c.ask(func(q *queue) {
		n = q.interrupt(c, errInterrupted, func(j *job) bool {
			own := j.who.Actor.Name == w.Actor.Name
			if j.trace == target {
				return own || others
			}
			return own && clientName(j.conn, j.who) == client && j.req.ID != nil && *j.req.ID == target
		})
	})
	if n == 0 {
		return &protocol.Error{Code: protocol.CodeNotFound, Message: "nothing of that id or trace is waiting or running", Resource: target}
	}
	return nil
}

// resetSession forgets one session.
func (c *Core) resetSession(w *who, name string) error {
	known := false
	c.ask(func(q *queue) {
		gone := q.sessions.Remove(w.Actor.Name, func(o string) bool { return o == name })
		q.forget = append(q.forget, gone...)
		c.forgetSessions(gone)
		known = len(gone) > 0
	})
	if !known {
		return &protocol.Error{Code: protocol.CodeNotFound, Message: "no session of that name", Resource: name}
	}
	return nil
}

// reset replaces the machines: a running exec is interrupted, what waits runs afterwards. That takes a while, and the read
// loop must hear a stop meanwhile, so the answer comes from admission.
func (c *Core) reset(k *conn, w *who, req *protocol.Request) {
	entry, proceed := c.remember(k, w, req)
	if !proceed {
		return
	}
	r := &resetJob{actor: w.Actor.Name, answer: func(err error) {
		var a protocol.Answer = protocol.Ack{Header: protocol.NewHeader(req.ID, protocol.AnswerAck)}
		if err != nil {
			a = protocol.Refuse(req.ID, err)
		}
		c.deliver(k, entry, answers.Write(a))
	}}
	c.post(func() { c.queue.reset(c, r) })
}

func (q *queue) reset(c *Core, r *resetJob) {
	switch {
	case c.ctx.Err() != nil:
		r.answer(unavailable())
		return
	case len(q.resets) >= limits.RequestsPerTerminal:
		r.answer(&protocol.Error{Code: protocol.CodeBusy, Message: "enough resets are waiting already"})
		return
	}
	if q.running != nil {
		q.running.cancel(errReset)
	}
	q.resets = append(q.resets, r)
	q.next(c)
}
