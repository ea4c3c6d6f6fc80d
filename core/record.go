package core

import (
	"context"
	"crypto/sha256"
	"fmt"
	"time"

	"github.com/pal-terminal/pal/answers"
	"github.com/pal-terminal/pal/desk"
	"github.com/pal-terminal/pal/limits"
	"github.com/pal-terminal/pal/pin"
	"github.com/pal-terminal/pal/protocol"
	"github.com/pal-terminal/pal/rights"
)

// trace names a piece of work for records and people.
func (c *Core) trace(run uint64) string { return fmt.Sprintf("t_%s_%d", c.bootID[:8], run) }

// do carries out a request that changes something, with its record: the intent before, the outcome after. It waits for the disk no
// longer than limits.AuditPatience before it refuses: who waits here may be the one that reads a connection's stop. epoch is that of the
// e-stop when the request came: a release while it waited ends it, as it does everything of before.
func (c *Core) do(k *conn, w *who, req *protocol.Request, epoch uint64) answers.Written {
	r := rights.Of(req.Type)
	if !rights.Recorded(req) {
		return answers.Write(c.act(k, w, req))
	}
	work := c.cfg.Ledger.Intend(w.Actor, w.Client, req, c.trace(c.traces.Add(1)))
	ctx, done := context.WithTimeoutCause(c.ctx, limits.AuditPatience, errSlowDisk)
	defer done()
	var a protocol.Answer
	err := work.Durable(ctx)
	if now := c.cfg.Table.Epoch(); err == nil && now != epoch && now&1 == 0 {
		err = interrupted(errReleased)
	}
	if err != nil && !r.Calms {
		refusal := protocol.Refuse(req.ID, err)
		refusal.Meta = req.Meta
		a = refusal
	} else {
		a = c.act(k, w, req)
	}
	out := answers.Write(a)
	c.recorded(work.Done(ctx, a, !out.Keep))
	return out
}

// recorded takes in that an outcome could not be made durable. The client hears of what was done all the same; from here on nothing
// more is driven, since the log says that it is not ready.
func (c *Core) recorded(err error) {
	if err != nil {
		c.log.Error("an outcome is not on the disk", "err", err)
	}
}

// hashOf is the hash of code as approvals and records name it.
func hashOf(code string) [32]byte { return sha256.Sum256([]byte(code)) }

// denied tells observers and the log of a refusal.
func (c *Core) denied(caller pin.Caller, r *pin.Refusal, number uint32) {
	notTold, tell := c.denials.Tell(time.Now())
	if !tell {
		return
	}
	data := map[string]any{"actor": caller.Name, "rule": r.Rule, "code": r.Code, "resource": r.Resource, "refusal": number, "text": desk.Clean(r.Message, limits.NameBytes)}
	if caller.Task != "" {
		data["task_id"] = caller.Task
	}
	if notTold > 0 {
		data["not_told"] = notTold
	}
	c.cfg.Events.Emit("policy_denied", data)
}
