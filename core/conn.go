package core

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/pal-terminal/pal/answers"
	"github.com/pal-terminal/pal/conns"
	"github.com/pal-terminal/pal/identity"
	"github.com/pal-terminal/pal/limits"
	"github.com/pal-terminal/pal/pin"
	"github.com/pal-terminal/pal/protocol"
)

type (
	// Link is what a carrier brings.
	Link = conns.Link
	// Peer is what the carrier knows of the other end.
	Peer = conns.Peer
	conn = conns.Conn
	who  = conns.Who
)

// identify finds the actor of a credential, the zero one of none.
func (c *Core) identify(credential string) (identity.Actor, error) {
	if credential == "" {
		return c.cfg.NoAuth, nil
	}
	actor, _, ok := c.cfg.Identity.Lookup(credential)
	if !ok {
		return actor, &protocol.Error{Code: protocol.CodeUnauthorized, Message: "this token is not known, was revoked or has expired; `pal token ls` lists the valid ones"}
	}
	return actor, nil
}

// Admit says quickly, before a carrier goes to the expense of a connection, whether a peer would be served. Serve decides
// again.
func (c *Core) Admit(p Peer) error {
	if c.ctx.Err() != nil {
		return unavailable()
	}
	actor, err := c.identify(p.Credential)
	if err != nil {
		return err
	}
	if !c.slots.Room(actor.Name) {
		return c.refuseConn()
	}
	return nil
}

// refuseConn counts a refused connection and tells of it.
func (c *Core) refuseConn() error {
	if total, tell := c.slots.Refuse(); tell {
		c.cfg.Events.Emit("connections_refused", map[string]any{"total": total})
	}
	return &protocol.Error{
		Code:    protocol.CodeBusy,
		Message: fmt.Sprintf("all %d connections are taken; try again later, or see `pal conn ls`", limits.Connections),
	}
}

// Serve speaks PAL on link until either side ends it. It owns link from the call on.
func (c *Core) Serve(ctx context.Context, link Link, p Peer) error {
	k := conns.New(ctx, link, p)
	defer k.End()
	defer func() {
		if k.ID != 0 {
			c.slots.Serving.Done()
		}
	}()
	if err := c.enter(k); err != nil {
		c.slots.Release(k)
		wctx, done := context.WithTimeout(ctx, limits.ConnWriteTimeout)
		defer done()
		return errors.Join(err, link.Write(wctx, answers.Encode(protocol.Refuse(nil, err))), link.Close(err.Error()))
	}
	var writer sync.WaitGroup
	writer.Go(func() {
		defer c.faulted()
		k.WriteLoop(ctx, c.cfg.Events)
	})
	defer c.faulted()
	err := c.readLoop(ctx, k)
	k.Close("the client left")
	if k.Watches != nil {
		k.Watches.Close()
	}
	c.slots.Release(k)
	c.gone(k.ID)
	c.post(func() { c.queue.departed(c, k) })
	writer.Wait()
	return err
}

// enter gives a new connection its place.
func (c *Core) enter(k *conn) error {
	actor, err := c.identify(k.Peer.Credential)
	switch {
	case err != nil:
		return err
	case actor.Name == "":
		return c.place(k, "")
	default:
		return c.become(k, &who{Actor: actor, Client: k.Peer.Client}, k.Peer.Credential)
	}
}

// become makes k the connection of an actor that was looked up.
func (c *Core) become(k *conn, w *who, credential string) error {
	if err := c.place(k, w.Actor.Name); err != nil {
		return err
	}
	k.Who.Store(w)
	// Once more: a revocation since the first look would not have found the connection to cut it.
	_, err := c.identify(credential)
	return err
}

// place finds k a place for actor.
func (c *Core) place(k *conn, actor string) error {
	switch {
	case c.slots.Take(k, actor):
		return nil
	case c.ctx.Err() != nil:
		return unavailable()
	default:
		return c.refuseConn()
	}
}

// gone makes safe what a connection that has ended must not leave on. It is also asked after each work that was done in the
// connection's name, which may have driven an output after the connection was gone.
func (c *Core) gone(id uint64) {
	if id != 0 && !c.slots.Has(id) {
		c.cfg.Table.Safe(causeDisconnect, func(d pin.Driven) bool { return d.OnDisconnectSafe && d.Caller.Conn == id })
		c.unleased(c.cfg.Claims.Departed(id), "the connection ended")
	}
}

// readLoop reads and handles messages until the connection ends.
func (c *Core) readLoop(ctx context.Context, k *conn) error {
	for {
		message, err := k.Link.Read(ctx)
		if k.Ctx.Err() != nil {
			return context.Cause(k.Ctx)
		}
		refusal, ok := errors.AsType[*protocol.Error](err)
		switch {
		case ok:
			k.Answer(protocol.Refuse(nil, refusal))
		case err != nil:
			return err
		default:
			k.Requests.Add(1)
			c.handle(k, message)
		}
	}
}

// revoked ends whatever an identity that is no longer valid has here: connections, programs, interrupts, names.
func (c *Core) revoked(name string) {
	for _, k := range c.slots.List() {
		if w := k.Who.Load(); w != nil && w.Actor.Name == name {
			k.Revoked.Store(true)
			k.Close(errRevoked.Error())
		}
	}
	c.forgetActor(name)
	c.unleased(c.cfg.Claims.ActorGone(name), "the token ended")
	c.manager.OwnerGone(name)
	c.post(func() {
		if c.queue.busy {
			c.queue.revoked = append(c.queue.revoked, name)
		}
		c.queue.interrupt(c, errRevoked, func(j *job) bool { return j.who.Actor.Name == name })
		c.queue.forget = append(c.queue.forget, c.queue.sessions.Remove(name, func(string) bool { return true })...)
	})
}
