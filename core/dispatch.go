package core

import (
	"fmt"
	"time"

	"github.com/pal-terminal/pal/identity"
	"github.com/pal-terminal/pal/limits"
	"github.com/pal-terminal/pal/protocol"
)

// scopes says what an actor needs for each request type. A type that is not here needs nothing but an identity.
var scopes = map[string]identity.Scope{
	protocol.TypeExec: identity.Exec, protocol.TypeInterrupt: identity.Exec, protocol.TypeReset: identity.Exec,
	protocol.TypeFetch: identity.Read, protocol.TypeResultQuery: identity.Read, protocol.TypeDescribe: identity.Read, protocol.TypeStatus: identity.Read,
	protocol.TypePins: identity.Read, protocol.TypePinRead: identity.Read, protocol.TypeBoard: identity.Read,
	protocol.TypeSubscribe: identity.Read, protocol.TypeUnsubscribe: identity.Read,
	protocol.TypePinSet: identity.Actuate,
	protocol.TypeToken:  identity.Admin, protocol.TypeSim: identity.Admin, protocol.TypeConn: identity.Admin,
}

// onReserved are the types that a connection beyond the limit may send.
var onReserved = map[string]bool{
	protocol.TypeHello: true, protocol.TypeStop: true, protocol.TypePing: true, protocol.TypeStatus: true,
}

// handle answers one message. It runs in the connection's read loop and waits for nothing but room.
func (c *Core) handle(k *conn, message []byte) {
	req, err := protocol.Decode(message)
	if err != nil {
		var id *string
		if req != nil {
			id = req.ID
		}
		k.answer(protocol.Refuse(id, err))
		return
	}
	if hello, ok := req.Body.(*protocol.Hello); ok {
		c.hello(k, req, hello)
		return
	}
	w := k.who.Load()
	if err := c.allowed(k, w, req.Type); err != nil {
		k.answer(protocol.Refuse(req.ID, err))
		return
	}
	switch body := req.Body.(type) {
	case *protocol.Exec:
		c.exec(k, w, req, body)
	case *protocol.Unavailable:
		k.answer(protocol.Refuse(req.ID, &protocol.Error{Code: protocol.CodeUnavailable, Message: req.Type + " is part of the protocol and comes with a later version"}))
	case *protocol.Subscribe:
		c.subscribe(k, req, body)
	case *protocol.Target:
		if req.Type == protocol.TypeInterrupt {
			c.once(k, w, req)
			return
		}
		c.fetch(k, w, req, body)
	case *protocol.Reset:
		if body.Session != "" {
			c.once(k, w, req)
			return
		}
		c.reset(k, w, req)
	default:
		if answer, ok := c.look(k, w, req); ok {
			k.answer(answer)
			return
		}
		c.once(k, w, req)
	}
}

// allowed checks identity, slot and scope.
func (c *Core) allowed(k *conn, w *who, typ string) error {
	if w == nil {
		return &protocol.Error{Code: protocol.CodeUnauthorized, Message: "send hello with a token first, or connect with `Authorization: Bearer TOKEN`"}
	}
	if k.reserved() && !onReserved[typ] {
		return &protocol.Error{Code: protocol.CodeBusy, Message: fmt.Sprintf("all %d connections are taken; this one serves hello, stop, ping and status only", limits.Connections)}
	}
	if typ == protocol.TypeEstopClear && w.actor.Class != identity.Human {
		return &protocol.Error{Code: protocol.CodeDenied, Rule: "estop.human", Message: "only a human may clear the e-stop"}
	}
	if need, ok := scopes[typ]; ok && !w.actor.Can(need) {
		return &protocol.Error{Code: protocol.CodeDenied, Rule: "scope." + string(need), Message: fmt.Sprintf("%s lacks the scope %s", w.actor.Name, need)}
	}
	return nil
}

// hello identifies the connection and names its client. A second hello may name the client again but not become another
// actor: an identity that could change would make every earlier check worthless.
func (c *Core) hello(k *conn, req *protocol.Request, h *protocol.Hello) {
	refuse := func(code protocol.Code, text string) {
		k.answer(protocol.Refuse(req.ID, &protocol.Error{Code: code, Message: text}))
	}
	if h.Terminal != "" && h.Terminal != c.cfg.Terminal {
		refuse(protocol.CodeNotFound, fmt.Sprintf("this terminal is called %q", c.cfg.Terminal))
		return
	}
	w := k.who.Load()
	if h.Token != "" {
		actor, err := c.identify(h.Token)
		switch {
		case err != nil:
			k.answer(protocol.Refuse(req.ID, err))
			return
		case w == nil:
			w = &who{actor: *actor}
			if err := c.become(k, w, h.Token); err != nil {
				k.answer(protocol.Refuse(req.ID, err))
				k.close(err.Error())
				return
			}
		case w.actor.Name != actor.Name:
			refuse(protocol.CodeDenied, "this connection is identified already; connect again to be somebody else")
			return
		}
	}
	if w == nil {
		refuse(protocol.CodeUnauthorized, "hello needs a token on this connection")
		return
	}
	if h.Client != "" {
		w = &who{actor: w.actor, client: h.Client}
		k.who.Store(w)
	}
	k.answer(protocol.Welcome{
		Header: protocol.NewHeader(req.ID, protocol.AnswerWelcome), Versions: []string{protocol.Version}, Terminal: c.cfg.Terminal,
		Product: c.cfg.Product, Guard: guardKind, Actor: actorInfo(w.actor), Conn: k.id, Frames: []string{"line"}, Limits: c.limits(),
	})
}

// look answers the requests that change nothing; they are never remembered.
func (c *Core) look(k *conn, w *who, req *protocol.Request) (answer protocol.Answer, ok bool) {
	switch body := req.Body.(type) {
	case nil:
		switch req.Type {
		case protocol.TypePing:
			return protocol.Pong{Header: protocol.NewHeader(req.ID, protocol.AnswerPong)}, true
		case protocol.TypeDescribe:
			return c.describe(req.ID), true
		case protocol.TypePins:
			return protocol.Pins{Header: protocol.NewHeader(req.ID, protocol.AnswerPins), Pins: c.pinStates()}, true
		}
	case *protocol.StatusQuery:
		if body.TaskID != nil {
			return protocol.Refuse(req.ID, &protocol.Error{Code: protocol.CodeUnavailable, Message: "tasks come with a later version"}), true
		}
		return c.status(req.ID), true
	case *protocol.PinRead:
		return c.pinRead(k, w, req, body), true
	case *protocol.Stop:
		if err := c.Stop(w.actor.Name, body.Reason); err != nil {
			return protocol.Refuse(req.ID, fmt.Errorf("the e-stop is latched: %w", err)), true
		}
		return protocol.Ack{Header: protocol.NewHeader(req.ID, protocol.AnswerAck), Message: "outputs are safe; a human clears the latch with estop_clear"}, true
	case *protocol.Board:
		return c.boardAnswer(req.ID, body), true
	}
	return nil, false
}

// fetch repeats a stored answer, byte for byte.
func (c *Core) fetch(k *conn, w *who, req *protocol.Request, body *protocol.Target) {
	stored, err := c.answers.fetch(answerKey{w.actor.Name, clientName(k, w), body.Target})
	if err != nil {
		k.answer(protocol.Refuse(req.ID, err))
		return
	}
	k.sendWait(outgoing{message: stored})
}

// once runs a request that changes something, at most once for its id.
func (c *Core) once(k *conn, w *who, req *protocol.Request) {
	entry, proceed := c.remember(k, w, req)
	if !proceed {
		return
	}
	a := write(c.change(k, w, req))
	c.answers.finish(entry, a.kept, a.keep, time.Now())
	k.sendWait(outgoing{message: a.sent})
}

// remember starts to remember a request under its id. It reports false when the request was a repetition, which it has then
// answered, or will.
func (c *Core) remember(k *conn, w *who, req *protocol.Request) (*answer, bool) {
	if req.ID == nil {
		return nil, true
	}
	key := answerKey{w.actor.Name, clientName(k, w), *req.ID}
	entry, body, refusal := c.answers.begin(key, req.Hash, time.Now(), func(m []byte) { k.send(outgoing{message: m}) })
	switch {
	case refusal != nil:
		k.answer(protocol.Refuse(req.ID, refusal))
	case body != nil:
		k.sendWait(outgoing{message: body})
	}
	return entry, entry != nil
}

// clientName is the name that ids are remembered under: the one the client gave, or one of its connection, so that clients
// that count from 1 do not meet each other's answers.
func clientName(k *conn, w *who) string {
	if w.client != "" {
		return w.client
	}
	return fmt.Sprintf("\x00conn%d", k.id)
}

// subscribe starts, replaces or (for unsubscribe) ends the connection's subscription, from its answer on.
func (c *Core) subscribe(k *conn, req *protocol.Request, s *protocol.Subscribe) {
	ack := protocol.Ack{Header: protocol.NewHeader(req.ID, protocol.AnswerAck)}
	var r *reader
	if req.Type == protocol.TypeSubscribe {
		r = c.cfg.Events.reader(s.Events, s.Since)
		ack.Seq = r.seq
	}
	k.sendWait(outgoing{message: encode(ack), swap: true, reader: r})
}
