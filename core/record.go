package core

import (
	"context"
	"crypto/sha256"
	"fmt"
	"sync"
	"time"

	"github.com/pal-terminal/pal/answers"
	"github.com/pal-terminal/pal/limits"
	"github.com/pal-terminal/pal/pin"
	"github.com/pal-terminal/pal/protocol"
)

// trace names a piece of work for records and people.
func (c *Core) trace(run uint64) string { return fmt.Sprintf("t_%s_%d", c.bootID[:8], run) }

// do carries out a request that changes something, with its record: the intent before, the outcome after. It waits for the disk no
// longer than limits.AuditPatience before it refuses: who waits here may be the one that reads a connection's stop.
func (c *Core) do(k *conn, w *who, req *protocol.Request) answers.Written {
	r := rules[req.Type]
	if r.quiet {
		return answers.Write(c.act(k, w, req))
	}
	work := c.cfg.Ledger.Intend(w.Actor, w.Client, req, c.trace(c.traces.Add(1)))
	ctx, done := context.WithTimeoutCause(c.ctx, limits.AuditPatience, errSlowDisk)
	defer done()
	var a protocol.Answer
	if err := work.Durable(ctx); err != nil && !r.calms {
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

// sources holds the text of code that runs, by its hash, for people who are asked to approve what it does.
type sources struct {
	mu   sync.Mutex // guards code
	code map[[32]byte]*source
}

type source struct {
	text string
	runs int
}

// add keeps a text until the function that it returns is called.
func (s *sources) add(hash [32]byte, text string) func() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.code == nil {
		s.code = map[[32]byte]*source{}
	}
	o := s.code[hash]
	if o == nil {
		o = &source{text: text}
		s.code[hash] = o
	}
	o.runs++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if o.runs--; o.runs == 0 {
			delete(s.code, hash)
		}
	}
}

func (s *sources) text(hash [32]byte) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if o := s.code[hash]; o != nil {
		return o.text
	}
	return ""
}

// hashOf is the hash of code as approvals and records name it.
func hashOf(code string) [32]byte { return sha256.Sum256([]byte(code)) }

// denials tells of refusals, a few a second: a program that is refused in a loop must not wash everything else away.
type denials struct {
	mu     sync.Mutex // guards what follows
	since  time.Time
	told   int
	silent int
}

// denied tells observers and the log of a refusal.
func (c *Core) denied(caller pin.Caller, r *pin.Refusal, number uint32) {
	d := &c.denials
	d.mu.Lock()
	if now := time.Now(); now.Sub(d.since) >= time.Second {
		d.since, d.told = now, 0
	}
	d.told++
	if d.told > limits.DenialsTold {
		d.silent++
		d.mu.Unlock()
		return
	}
	silent := d.silent
	d.silent = 0
	d.mu.Unlock()
	data := map[string]any{"actor": caller.Name, "rule": r.Rule, "code": r.Code, "resource": r.Resource, "refusal": number, "text": cutName(r.Message)}
	if caller.Task != "" {
		data["task_id"] = caller.Task
	}
	if silent > 0 {
		data["not_told"] = silent
	}
	c.cfg.Events.Emit("policy_denied", data)
}
