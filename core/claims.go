package core

import (
	"encoding/hex"
	"time"

	"github.com/pal-terminal/pal/approval"
	"github.com/pal-terminal/pal/identity"
	"github.com/pal-terminal/pal/lease"
	"github.com/pal-terminal/pal/limits"
	"github.com/pal-terminal/pal/pin"
	"github.com/pal-terminal/pal/protocol"
)

// leaseRequest takes, renews, releases or lists leases.
func (c *Core) leaseRequest(k *conn, w *who, req *protocol.Request) (protocol.Answer, error) {
	a := protocol.Leases{Header: protocol.NewHeader(req.ID, protocol.AnswerLease), Leases: []protocol.LeaseInfo{}}
	var claim lease.Claim
	var err error
	switch body := req.Body.(type) {
	case *protocol.LeaseRelease:
		claim, err = c.cfg.Claims.Release(body.LeaseID, w.actor.Name, overrules(w.actor))
		if err == nil && claim.Actor != w.actor.Name {
			c.unleased([]lease.Claim{claim}, "released by "+w.actor.Name)
		}
	case *protocol.Lease:
		ttl := limits.LeaseDefault
		if body.TTLMS != nil {
			ttl = time.Duration(*body.TTLMS) * time.Millisecond
		}
		switch {
		case body.LeaseID != "":
			claim, err = c.cfg.Claims.Renew(body.LeaseID, w.actor.Name, ttl)
		case len(body.Resources) > 0:
			claim, err = c.cfg.Claims.Take(w.actor.Name, k.id, usesOf(body.Resources, body.Verb), ttl, body.Keep)
		default:
			for _, o := range c.cfg.Claims.List() {
				a.Leases = append(a.Leases, leaseInfo(o))
			}
			return a, nil
		}
		select {
		case c.leases <- struct{}{}:
		default: // it is awake already
		}
		c.gone(k.id) // it may have left meanwhile
	}
	if err != nil {
		return nil, err
	}
	a.Leases = append(a.Leases, leaseInfo(claim))
	return a, nil
}

// overrules reports whether an actor may end what belongs to another.
func overrules(a identity.Actor) bool { return a.Class == identity.Human || a.Can(identity.Admin) }

func usesOf(list []protocol.ResourceUse, verb string) []lease.Use {
	uses := make([]lease.Use, len(list))
	for i, u := range list {
		uses[i] = lease.Use{Resource: u.Resource, Drive: u.Verb != "read" && (u.Verb != "" || verb != "read")}
	}
	return uses
}

func leaseInfo(l lease.Claim) protocol.LeaseInfo {
	info := protocol.LeaseInfo{LeaseID: l.ID, Holder: l.Actor, Task: l.Task, SinceMS: l.Since.UnixMilli(), Keep: l.Conn == 0 && l.Task == ""}
	for _, u := range l.Uses {
		verb := protocol.VerbRead
		if u.Drive {
			verb = protocol.VerbDrive
		}
		info.Resources = append(info.Resources, protocol.ResourceUse{Resource: u.Resource, Verb: verb})
	}
	if !l.Expires.IsZero() {
		info.ExpiresMS = l.Expires.UnixMilli()
	}
	return info
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
	return c.cfg.Approvals.Use(caller.Name, caller.Code, c.sources.text(caller.Code), c.cfg.Board.Pins[h].Label(), caller.Run)
}

// approvalRequest lists or decides what waits for a person.
func (c *Core) approvalRequest(w *who, id *string, body *protocol.Approval) (protocol.Answer, error) {
	a := protocol.Approvals{Header: protocol.NewHeader(id, protocol.AnswerApproval), Approvals: []protocol.ApprovalInfo{}}
	q := c.cfg.Approvals
	if body.Op == "ls" {
		for _, r := range q.List() {
			a.Approvals = append(a.Approvals, approvalInfo(r, false))
		}
		return a, nil
	}
	if body.Op != "show" {
		if err := q.Decide(body.ApprovalID, w.actor.Name, string(w.actor.Class), body.Op == "approve", body.Reason); err != nil {
			return nil, err
		}
	}
	r, ok := q.Get(body.ApprovalID)
	if !ok {
		return nil, &protocol.Error{Code: protocol.CodeNotFound, Message: "nothing of that id waits", Resource: body.ApprovalID}
	}
	a.Approvals = append(a.Approvals, approvalInfo(r, true))
	return a, nil
}

func approvalInfo(r approval.Request, code bool) protocol.ApprovalInfo {
	info := protocol.ApprovalInfo{
		ApprovalID: r.ID, Actor: r.Actor, Pin: r.Pin, Verb: r.Verb, CodeSHA256: hex.EncodeToString(r.CodeHash[:]), AskedMS: r.Asked.UnixMilli(),
		State: r.State, By: r.By,
	}
	if !r.Expires.IsZero() {
		info.ExpiresMS = r.Expires.UnixMilli()
	}
	if code {
		info.Code, info.Text = r.Code, approval.Render(r)
	}
	return info
}
