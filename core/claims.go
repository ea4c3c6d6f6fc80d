package core

import (
	"time"

	"github.com/pal-terminal/pal/desk"
	"github.com/pal-terminal/pal/lease"
	"github.com/pal-terminal/pal/limits"
	"github.com/pal-terminal/pal/pin"
	"github.com/pal-terminal/pal/protocol"
)

// leaseRequest takes, renews, releases or lists leases.
func (c *Core) leaseRequest(k *conn, w *who, req *protocol.Request) (protocol.Answer, error) {
	a, ended, err := desk.Leases(c.cfg.Claims, w.Actor, k.ID, req)
	if ended != nil && ended.Actor != w.Actor.Name {
		c.unleased([]lease.Claim{*ended}, "released by "+w.Actor.Name)
	}
	select {
	case c.leases <- struct{}{}:
	default: // it is awake already
	}
	c.gone(k.ID) // it may have left meanwhile
	return a, err
}

// NewClaims makes the book of claims on the pins of a table, which is made after it: what is no longer claimed becomes safe before
// anybody else can have it.
func NewClaims(table func() *pin.Table) *lease.Book {
	return lease.New(lease.Options{
		Resolve: func(name string) ([]pin.Handle, string, error) { return table().Lines(name) },
		Safe: func(gone []lease.Claim) {
			pins := map[pin.Handle]bool{}
			for _, l := range gone {
				for _, h := range l.Pins {
					pins[h] = true
				}
			}
			table().Safe(causeLease, func(d pin.Driven) bool { return pins[d.Handle] })
		},
	})
}

// unleased tells of leases that ended without their holder's wish.
func (c *Core) unleased(gone []lease.Claim, why string) {
	for _, l := range gone {
		c.cfg.Events.Emit("lease_expired", map[string]any{"lease_id": l.ID, "holder": l.Actor, "cause": why})
	}
}

// keepLeases is the goroutine that ends leases in time.
func (c *Core) keepLeases() {
	timer := time.NewTimer(limits.LeaseLongest)
	defer timer.Stop()
	for {
		if next := c.cfg.Claims.Next(); !next.IsZero() {
			timer.Reset(time.Until(next))
		}
		select {
		case <-timer.C:
			c.unleased(c.cfg.Claims.Expire(time.Now()), "expired")
		case <-c.leases:
		case <-c.ctx.Done():
			return
		}
	}
}

// Approve is asked by the pin table about drives of high danger; it is made for pin.Options.Approve.
func (c *Core) Approve(caller pin.Caller, h pin.Handle) (bool, string, *pin.Refusal) {
	if err := c.cfg.Ledger.Sync(c.ctx); err != nil {
		return false, "", &pin.Refusal{Errno: errnoNOSPC, Code: string(err.Code), Rule: err.Rule, Message: err.Message}
	}
	return c.cfg.Approvals.Use(caller.Name, caller.Code, c.sources.Text(caller.Code), c.cfg.Board.Pins[h].Label(), caller.Run)
}
