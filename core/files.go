package core

import (
	"context"

	"github.com/pal-terminal/pal/answers"
	"github.com/pal-terminal/pal/desk"
	"github.com/pal-terminal/pal/limits"
	"github.com/pal-terminal/pal/protocol"
	"github.com/pal-terminal/pal/watch"
)

// fs looks at files at once. Changes wait for a disk, and the read loop must hear a stop meanwhile: the clerk makes them.
func (c *Core) fs(k *conn, w *who, req *protocol.Request, body *protocol.FS) {
	do := func() protocol.Answer {
		a, err := c.desk.Do(w.Actor.Name+"\x00"+clientName(k, w), desk.Rights(callerOf(w, k)), req.ID, body)
		if err != nil {
			return protocol.Refuse(req.ID, err)
		}
		return a
	}
	if !body.Changes() {
		k.Answer(do())
		return
	}
	entry, proceed := c.remember(k, w, req)
	if !proceed {
		return
	}
	c.hand(k, entry, req, func() {
		work := c.cfg.Ledger.Intend(w.Actor, w.Client, req, c.trace(c.traces.Add(1)))
		a := do()
		out := answers.Write(a)
		ctx, done := context.WithTimeoutCause(c.ctx, limits.AuditPatience, errSlowDisk)
		defer done()
		c.recorded(work.Done(ctx, a, !out.Keep))
		c.deliver(k, entry, out)
	})
}

// hand gives the clerk work, or refuses it when enough waits.
func (c *Core) hand(k *conn, entry *answers.Entry, req *protocol.Request, work func()) {
	select {
	case c.clerk <- work:
	default:
		c.deliver(k, entry, answers.Write(protocol.Refuse(req.ID, &protocol.Error{Code: protocol.CodeBusy, Message: "enough that waits for the disk is waiting already"})))
	}
}

// keepFiles is the clerk: the goroutine that does for clients what waits for a disk.
func (c *Core) keepFiles() {
	for {
		select {
		case f := <-c.clerk:
			f()
		case <-c.ctx.Done():
			return
		}
	}
}

// watch begins or ends to tell a connection of a pin. Only its read loop comes here.
func (c *Core) watch(k *conn, w *who, typ string, body *protocol.Watch) error {
	if k.Watches == nil {
		k.Watches = watch.New(c.cfg.Table, c.cfg.Board, callerOf(w, k), &c.watches, func(event string, data map[string]any) {
			c.cfg.Events.EmitFor(k.ID, event == "pin_change", event, data) // the table tells everybody of pins
		})
	}
	if typ == protocol.TypeUnwatch {
		return k.Watches.Remove(body)
	}
	return k.Watches.Add(body)
}
