package core

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/pal-terminal/pal/board"
	"github.com/pal-terminal/pal/identity"
	"github.com/pal-terminal/pal/limits"
	"github.com/pal-terminal/pal/pin"
	"github.com/pal-terminal/pal/protocol"
)

// change answers the requests that change something and are not exec.
func (c *Core) change(k *conn, w *who, req *protocol.Request) protocol.Answer {
	var err error
	ack := protocol.Ack{Header: protocol.NewHeader(req.ID, protocol.AnswerAck)}
	switch body := req.Body.(type) {
	case *protocol.PinSet:
		return c.pinSet(k, w, req, body)
	case *protocol.Target:
		err = c.interrupt(k, w, body.Target)
	case *protocol.EstopClear:
		if err = c.cfg.Table.Clear(); err == nil {
			c.tellEstop(false, w.actor.Name, body.Reason)
			if again, reason, _ := c.cfg.Table.Stopped(); again { // the newest event must not say otherwise
				c.tellEstop(true, "", reason)
			}
			ack.Message = "cleared; outputs stay safe until they are driven again"
		}
	case *protocol.Token:
		return c.token(req.ID, body)
	case *protocol.Sim:
		return c.sim(req.ID, body)
	case *protocol.Conn:
		return c.conns(k, w, req.ID, body)
	case *protocol.Reset:
		err = c.resetSession(w, body.Session)
	default:
		err = fmt.Errorf("request type %s has no handler", req.Type)
	}
	if err != nil {
		return protocol.Refuse(req.ID, asProtocol(err))
	}
	return ack
}

// asProtocol turns a refusal of the pin table into the protocol's.
func asProtocol(err error) error {
	var r *pin.Refusal
	if !errors.As(err, &r) {
		return err
	}
	return &protocol.Error{
		Code: protocol.Code(r.Code), Message: r.Message, Rule: r.Rule, Resource: r.Resource, Holder: r.Holder, Nearest: r.Nearest,
	}
}

// pinSet drives a pin without the machine, by the same rules.
func (c *Core) pinSet(k *conn, w *who, req *protocol.Request, body *protocol.PinSet) protocol.Result {
	start := time.Now()
	h, err := c.cfg.Table.Resolve(string(body.Pin))
	var e pin.Effect
	if err == nil {
		caller := callerOf(w, k)
		caller.Run = c.traces.Add(1)
		e, err = c.cfg.Table.Write(caller, h, int(body.Value))
	}
	if err != nil {
		c.refusals.Add(1)
		r := protocol.Refuse(req.ID, asProtocol(err))
		r.Guard, r.EffectsRefused, r.Meta = guardKind, 1, req.Meta
		return r
	}
	r := c.plainResult(req, start)
	r.Effects = []protocol.Effect{effectOf(e, start)}
	r.Value = fmt.Appendf(nil, "%d", e.To)
	return r
}

// pinRead reads a pin without the machine: the level, or the raw value of an analogue input.
func (c *Core) pinRead(k *conn, w *who, req *protocol.Request, body *protocol.PinRead) protocol.Result {
	start := time.Now()
	h, err := c.cfg.Table.Resolve(string(body.Pin))
	var v int
	if err == nil {
		if c.cfg.Board.Pins[h].Can.Has(board.CapADC) {
			v, _, err = c.cfg.Table.ReadADC(callerOf(w, k), h)
		} else {
			v, err = c.cfg.Table.Read(callerOf(w, k), h)
		}
	}
	if err != nil {
		r := protocol.Refuse(req.ID, asProtocol(err))
		r.Meta = req.Meta
		return r
	}
	r := c.plainResult(req, start)
	r.Value = fmt.Appendf(nil, "%d", v)
	return r
}

// plainResult is a result without a program.
func (c *Core) plainResult(req *protocol.Request, start time.Time) protocol.Result {
	return protocol.Result{
		Header: protocol.NewHeader(req.ID, protocol.AnswerResult), ExecTimeMS: time.Since(start).Milliseconds(), Guard: guardKind, Meta: req.Meta,
	}
}

// interrupt cancels an exec: by the id its own client gave it, or by trace for humans and admins.
func (c *Core) interrupt(k *conn, w *who, target string) error {
	others := w.actor.Class == identity.Human || w.actor.Can(identity.Admin)
	client := clientName(k, w)
	n := 0
	c.ask(func(q *queue) {
		n = q.interrupt(c, errInterrupted, func(j *job) bool {
			own := j.who.actor.Name == w.actor.Name
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
		gone := q.sessions.remove(w.actor.Name, func(o string) bool { return o == name })
		q.forget = append(q.forget, gone...)
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
	r := &resetJob{actor: w.actor.Name, answer: func(err error) {
		var a protocol.Answer = protocol.Ack{Header: protocol.NewHeader(req.ID, protocol.AnswerAck)}
		if err != nil {
			a = protocol.Refuse(req.ID, err)
		}
		raw := write(a)
		c.answers.finish(entry, raw.kept, raw.keep, time.Now())
		k.send(outgoing{message: raw.sent})
	}}
	c.post(func() { c.queue.reset(c, r) })
}

func (q *queue) reset(c *Core, r *resetJob) {
	switch {
	case q.closed:
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

// token manages identities.
func (c *Core) token(id *string, body *protocol.Token) protocol.Answer {
	answer := protocol.Tokens{Header: protocol.NewHeader(id, protocol.AnswerToken), Tokens: []protocol.ActorInfo{}}
	switch body.Op {
	case "create":
		var ttl time.Duration
		if body.TTLMS != nil {
			ttl = time.Duration(*body.TTLMS) * time.Millisecond
		}
		scopes := make([]identity.Scope, len(body.Scopes))
		for i, s := range body.Scopes {
			scopes[i] = identity.Scope(s)
		}
		secret, _, err := c.cfg.Identity.Create(body.Name, identity.Class(body.Class), scopes, body.Ask, ttl)
		if err != nil {
			return protocol.Refuse(id, tokenError(err))
		}
		answer.Token = secret
	case "revoke":
		if err := c.cfg.Identity.Revoke(body.Name); err != nil {
			return protocol.Refuse(id, tokenError(err))
		}
	}
	for _, info := range c.cfg.Identity.List() {
		answer.Tokens = append(answer.Tokens, tokenInfo(info))
	}
	return answer
}

// sim hands a request to the simulated world.
func (c *Core) sim(id *string, body *protocol.Sim) protocol.Answer {
	if c.cfg.Sim == nil {
		return protocol.Refuse(id, &protocol.Error{Code: protocol.CodeUnavailable, Message: "this board is not simulated"})
	}
	answer, err := c.cfg.Sim.Sim(body.Op, body.Name, body.Value)
	if err != nil {
		code := protocol.CodeBadRequest
		if errors.Is(err, board.ErrUnknownName) {
			code = protocol.CodeNotFound
		}
		return protocol.Refuse(id, &protocol.Error{Code: code, Message: err.Error(), Resource: body.Name})
	}
	raw, err := json.Marshal(answer, json.Deterministic(true))
	if err != nil {
		return protocol.Refuse(id, fmt.Errorf("encode sim answer: %w", err))
	}
	return protocol.SimAnswer{Header: protocol.NewHeader(id, protocol.AnswerSim), Sim: raw}
}

// conns lists live connections, after it has cut one when that was asked for.
func (c *Core) conns(k *conn, w *who, id *string, body *protocol.Conn) protocol.Answer {
	live := c.slots.list()
	if body.Op == "kick" {
		if body.Conn == nil {
			return protocol.Refuse(id, &protocol.Error{Code: protocol.CodeBadRequest, Message: "kick needs conn, a number from `pal conn ls`"})
		}
		i := slices.IndexFunc(live, func(o *conn) bool { return o.id == *body.Conn })
		if i < 0 {
			return protocol.Refuse(id, &protocol.Error{Code: protocol.CodeNotFound, Message: "no such connection", Resource: fmt.Sprint(*body.Conn)})
		}
		live[i].close("cut by " + w.actor.Name)
	}
	answer := protocol.Conns{Header: protocol.NewHeader(id, protocol.AnswerConn), Conns: []protocol.ConnInfo{}}
	for _, o := range live {
		if o.ctx.Err() == nil {
			answer.Conns = append(answer.Conns, o.info(k))
		}
	}
	return answer
}
