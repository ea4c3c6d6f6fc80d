package endure

import (
	"encoding/json"
	"time"

	"github.com/pal-terminal/pal/audit"
	"github.com/pal-terminal/pal/protocol"
)

// checkAudit verifies the log against the newest head that a client saw, and now and then looks for the records of all that was acknowledged.
func (w *world) checkAudit(l *life, human *peer) {
	a, ok := human.ask(protocol.TypeAudit, &protocol.Audit{Op: "verify", Head: w.head}).(*protocol.AuditAnswer)
	switch {
	case !l.power():
		return
	case !ok || a.Report == nil:
		w.failf("got no report of the audit log")
		return
	case a.Report.Problem != "":
		w.count.lost.Add(1)
		w.failf("the audit log does not verify with head %s: entry %d: %s", w.head, a.Report.Bad, a.Report.Problem)
	}
	w.look(human)
	if w.rng.IntN(4) == 0 || w.last {
		w.checkRecords(l)
	}
}

// checkRecords looks in the whole log for what was acknowledged.
func (w *world) checkRecords(l *life) {
	intents, outcomes := w.records(l)
	if !l.power() {
		return
	}
	for _, c := range w.commands {
		drives, _, _ := w.notes.of(c.token)
		key := c.client + " " + c.id
		switch {
		case c.acked == nil || c.void:
		case (c.sure || drives > 0) && !intents[key]:
			w.lose(c, "there is no record of its intent", nil)
		case c.sure && c.code != protocol.CodeInterrupted && !outcomes[key]:
			w.lose(c, "there is no record of its outcome", nil)
		}
	}
}

// records reads the whole log.
func (w *world) records(l *life) (intents, outcomes map[string]bool) {
	intents, outcomes = map[string]bool{}, map[string]bool{}
	since, more := uint64(0), true
	for more {
		list, rest, err := l.state.Ledger.Log().Page(since, 1000)
		if err != nil {
			if l.power() {
				w.failf("read the audit log: %v", err)
			}
			return intents, outcomes
		}
		more = rest && len(list) > 0
		for _, text := range list {
			var e struct {
				Seq              uint64
				Kind, Client, ID string
			}
			must(w.t, json.Unmarshal(text, &e))
			since = e.Seq
			switch key := e.Client + " " + e.ID; e.Kind {
			case audit.KindIntent:
				intents[key] = true
			case audit.KindOutcome:
				outcomes[key] = true
			}
		}
	}
	return intents, outcomes
}

// look keeps the head of the audit log, as a client does that wants to notice a log that was set back.
func (w *world) look(human *peer) {
	one := int64(1)
	if a, ok := human.ask(protocol.TypeAudit, &protocol.Audit{Op: "tail", Limit: &one}).(*protocol.AuditAnswer); ok {
		w.head = a.End
	}
}

// replay sends commands again after a start, one by one, also as somebody who has no token: nothing that was done, or answered, is
// done again.
func (w *world) replay(l *life, which func(i int, c *command) bool) {
	peers := map[string]*peer{}
	nobody := l.dial("", "c0")
	defer func() {
		nobody.leave()
		for _, p := range peers {
			p.leave()
		}
	}()
	for i, c := range w.commands {
		if !which(i, c) || c.acked == nil && c.typ == protocol.TypeEstopClear {
			continue
		}
		p := peers[c.client]
		if p == nil {
			p = l.dial(c.credential, c.client)
			peers[c.client] = p
		}
		drives, _, before := w.notes.of(c.token)
		known := c.acked != nil && !c.void || drives > 0
		if i%7 == 0 {
			w.steal(nobody, c)
		}
		stopped, _, _ := l.table.Stopped()
		w.send(p, c)
		w.count.replays.Add(1)
		if raw := p.gather(map[string]bool{c.id: true})[c.id]; raw != nil {
			w.take(c, raw)
		} else if l.power() {
			w.failf("%s: no answer when it was sent again", c.raw)
		}
		if _, _, after := w.notes.of(c.token); known && after != before {
			w.count.double.Add(1)
			w.failf("%s: it drove something when it was sent again (answer %s)", c.raw, c.acked)
		}
		if now, _, _ := l.table.Stopped(); c.typ == protocol.TypeEstopClear && now != stopped {
			w.failf("%s: it released the e-stop when it was sent again", c.raw)
		}
	}
}

// steal replays a message of somebody else without a token.
func (w *world) steal(nobody *peer, c *command) {
	_, _, before := w.notes.of(c.token)
	nobody.send(c.raw)
	nobody.gather(map[string]bool{c.id: true})
	if _, _, after := w.notes.of(c.token); after != before {
		w.count.double.Add(1)
		w.failf("%s: it drove something for somebody without a token", c.raw)
	}
}

// send sends a command. What its pin does until another command is sent for it, is its doing.
func (w *world) send(p *peer, c *command) {
	if c.set >= 0 {
		w.notes.own(c.set, c.token)
	}
	if c.typ == protocol.TypeCancel {
		c.task.cancel = true
	}
	w.count.sent.Add(1)
	p.send(c.raw)
}

// do sends a command and waits for its answer.
func (w *world) do(p *peer, c *command) {
	w.send(p, c)
	if raw := p.gather(map[string]bool{c.id: true})[c.id]; raw != nil {
		w.take(c, raw)
	}
}

// stop sets the e-stop.
func (w *world) stop(p *peer) {
	if w.latch == mustBeClear {
		w.latch = either
	}
	w.count.stops.Add(1)
	if _, ok := p.ask(protocol.TypeStop, &protocol.Stop{Reason: "a test"}).(*protocol.Ack); ok {
		w.latch = mustBeSet
	}
}

// release clears the e-stop, as a person.
func (w *world) release(human *peer) {
	if w.latch == mustBeSet {
		w.latch = either
	}
	c := w.make("h", w.human, protocol.TypeEstopClear, &protocol.EstopClear{Reason: "a test"}, w.fresh("e"))
	w.send(human, c)
	raw := human.gather(map[string]bool{c.id: true})[c.id]
	if raw == nil {
		return
	}
	if w.take(c, raw); c.acked != nil && c.code == "" {
		w.latch = mustBeClear
	}
}

// resume lets a held task go on, as a person.
func (w *world) resume(human *peer, j *job) {
	if j.id != "" {
		human.ask(protocol.TypeResume, &protocol.TaskRef{TaskID: j.id})
	}
}

// lease takes the pin LEASED for a while.
func (w *world) lease(client string) *command {
	ttl := int64(5 * time.Second / time.Millisecond)
	return w.make(client, w.agent, protocol.TypeLease, &protocol.Lease{
		Resources: []protocol.ResourceUse{{Resource: "LEASED"}}, TTLMS: &ttl,
	}, w.fresh("l"))
}
