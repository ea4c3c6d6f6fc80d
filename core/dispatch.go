package core

import (
	"fmt"
	"time"

	"github.com/pal-terminal/pal/answers"
	"github.com/pal-terminal/pal/desk"
	"github.com/pal-terminal/pal/events"
	"github.com/pal-terminal/pal/protocol"
	"github.com/pal-terminal/pal/rights"
)

// handle answers one message. It runs in the connection's read loop and waits for nothing but room.
func (c *Core) handle(k *conn, message []byte) {
	req, err := protocol.Decode(message)
	if err != nil {
		var id *string
		if req != nil {
			id = req.ID
		}
		k.Answer(protocol.Refuse(id, err))
		return
	}
	if hello, ok := req.Body.(*protocol.Hello); ok {
		c.hello(k, req, hello)
		return
	}
	w := k.Who.Load()
	if err := rights.Allowed(w, c.slots.Reserved(k), req); err != nil {
		k.Answer(protocol.Refuse(req.ID, err))
		return
	}
	switch body := req.Body.(type) {
	case *protocol.Exec:
		c.exec(k, w, req, body, nil)
		return
	case *protocol.Tool:
		c.tool(k, w, req, body)
		return
	case *protocol.FS:
		c.fs(k, w, req, body)
		return
	case *protocol.Unavailable:
		k.Answer(protocol.Refuse(req.ID, &protocol.Error{Code: protocol.CodeUnavailable, Message: req.Type + " is part of the protocol and comes with a later version"}))
		return
	case *protocol.Subscribe:
		c.subscribe(k, req, body)
		return
	case *protocol.Target:
		if req.Type != protocol.TypeInterrupt {
			c.fetch(k, w, req, body)
			return
		}
	case *protocol.Board:
		if body.Op == "apply" {
			c.applyBoard(k, w, req)
			return
		}
	case *protocol.Reset:
		if body.Session == "" {
			c.reset(k, w, req)
			return
		}
	}
	switch r := rights.Of(req.Type); {
	case r.Disk:
		c.byClerk(k, w, req)
	case r.Look:
		k.Answer(c.act(k, w, req))
	default:
		c.once(k, w, req)
	}
}

// hello identifies the connection and names its client. A second hello may name the client again but not become another
// actor: an identity that could change would make every earlier check worthless.
func (c *Core) hello(k *conn, req *protocol.Request, h *protocol.Hello) {
	w := k.Who.Load()
	actor, err := c.identify(h.Token)
	switch {
	case err != nil:
	case h.Terminal != "" && h.Terminal != c.cfg.Terminal:
		err = &protocol.Error{Code: protocol.CodeNotFound, Message: fmt.Sprintf("this terminal is called %q", c.cfg.Terminal)}
	case w == nil && h.Token == "":
		err = &protocol.Error{Code: protocol.CodeUnauthorized, Message: "hello needs a token on this connection"}
	case w == nil:
		w = &who{Actor: actor}
		if err = c.become(k, w, h.Token); err != nil {
			defer k.Close(err.Error()) // after the answer
		}
	case h.Token != "" && w.Actor.Name != actor.Name:
		err = &protocol.Error{Code: protocol.CodeDenied, Message: "this connection is identified already; connect again to be somebody else"}
	}
	if err != nil {
		k.Answer(protocol.Refuse(req.ID, err))
		return
	}
	if h.Client != "" {
		w = &who{Actor: w.Actor, Client: h.Client}
		k.Who.Store(w)
	}
	k.Answer(protocol.Welcome{
		Header: protocol.NewHeader(req.ID, protocol.AnswerWelcome), Versions: []string{protocol.Version}, Terminal: c.cfg.Terminal,
		Product: c.cfg.Product, Guard: guardKind, Actor: desk.Actor(w.Actor), Conn: k.ID, Frames: []string{"line"}, Limits: desk.Limits(c.cfg.Board),
	})
}

// fetch repeats a stored answer as the answer to another request.
func (c *Core) fetch(k *conn, w *who, req *protocol.Request, body *protocol.Target) {
	stored, refusal := c.answers.Fetch(answers.Key{Actor: w.Actor.Name, Client: clientName(k, w), ID: body.Target})
	if refusal != nil {
		k.Answer(protocol.Refuse(req.ID, refusal))
		return
	}
	m, err := protocol.Readdress(stored, req.ID)
	if err != nil {
		k.Answer(protocol.Refuse(req.ID, err))
		return
	}
	k.SendWait(m)
}

// once runs a request that changes something, at most once for its id.
func (c *Core) once(k *conn, w *who, req *protocol.Request) {
	entry, proceed := c.remember(k, w, req)
	if !proceed {
		return
	}
	a := c.do(k, w, req, c.cfg.Table.Epoch())
	c.answers.Finish(entry, a, time.Now())
	k.SendWait(a.Sent)
}

// byClerk is once, or a look, for what waits for a disk: the read loop must hear a stop meanwhile.
func (c *Core) byClerk(k *conn, w *who, req *protocol.Request) {
	var entry *answers.Entry
	work := func() { k.Send(answers.Encode(c.act(k, w, req))) }
	if !rights.Of(req.Type).Look {
		var proceed bool
		if entry, proceed = c.remember(k, w, req); !proceed {
			return
		}
		epoch := c.cfg.Table.Epoch()
		work = func() { c.deliver(k, entry, c.do(k, w, req, epoch)) }
	}
	c.hand(k, entry, req, work)
}

// remember starts to remember a request under its id. It reports false when the request was a repetition, which it has then
// answered, or will.
func (c *Core) remember(k *conn, w *who, req *protocol.Request) (*answers.Entry, bool) {
	if req.ID == nil {
		return nil, true
	}
	key := answers.Key{Actor: w.Actor.Name, Client: clientName(k, w), ID: *req.ID}
	entry, body, refusal := c.answers.Begin(key, req.Hash, time.Now(), func(m []byte) { k.Send(m) })
	switch {
	case refusal != nil:
		k.Answer(protocol.Refuse(req.ID, refusal))
	case body != nil:
		k.SendWait(body)
	}
	return entry, entry != nil
}

// clientName is the name that ids are remembered under: the one the client gave, or one of its connection, so that clients
// that count from 1 do not meet each other's answers.
func clientName(k *conn, w *who) string {
	if w.Client != "" {
		return w.Client
	}
	return fmt.Sprintf("\x00conn%d", k.ID)
}

// subscribe starts, replaces or (for unsubscribe) ends the connection's subscription, from its answer on.
func (c *Core) subscribe(k *conn, req *protocol.Request, s *protocol.Subscribe) {
	ack := protocol.Ack{Header: protocol.NewHeader(req.ID, protocol.AnswerAck)}
	r := c.cfg.Events.Reader(events.Nothing, nil)
	if req.Type == protocol.TypeSubscribe {
		r = c.cfg.Events.Reader(s.Events, s.Since)
		ack.Seq = r.Seq
	}
	k.Follow(answers.Encode(ack), r)
}
