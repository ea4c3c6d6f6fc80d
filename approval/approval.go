// Package approval is the queue of what waits for a person's yes: drives of high danger by actors that have to ask.
//
// # Model
//
// A drive is asked for by actor, hash of the code, pin and verb. [Queue.Use] lets it pass when a person has approved exactly that
// and it was not used yet: from then on it holds for the one run that used it. Otherwise the drive is put in the queue, once, and
// its id goes back to whoever asked. A [Request] carries the code as the guard got it, so that what is approved is what runs;
// [Render] is how a person sees it. Each step, waiting, approved, used, ends limits.ApprovalLife after it began. All is in memory
// only, and ids are not used again: a yes from before a restart is for nothing.
//
// # What it refuses
//
// Decisions of anybody but a person, of the requester itself, of what is unknown, decided or too old. Code that has not the hash it
// is asked for with. To ask again for what was denied while the person's no is fresh, and more than a person can read.
package approval

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/pal-terminal/pal/limits"
	"github.com/pal-terminal/pal/pin"
)

// States of a Request.
const (
	Pending  = "pending"
	Approved = "approved"
	Denied   = "denied"
	Used     = "used"
	Expired  = "expired"
)

// Rules a refusal can name.
const (
	RuleApprover = "approver"        // only a person decides, and nobody about what it asked for itself
	RuleDenied   = "approval.denied" // a person has said no
	RuleFull     = "approval.full"   // too much waits, or was asked lately
	RuleState    = "approval.state"  // unknown, decided already, too old, or not of its hash
)

// Request is one drive that waits, or was decided.
type Request struct {
	ID       string
	Actor    string
	CodeHash [32]byte
	Code     string // as the guard got it; empty for a drive without code, and when the request has ended
	Pin      string // label
	Verb     string // "drive"
	Asked    time.Time
	Expires  time.Time // when the state ends, if it does
	State    string
	By       string // who decided
	Reason   string // why, in the words of who decided
	Run      uint64 // the run that used it
}

// Options of a Queue. The zero value works.
type Options struct {
	// Now is the clock, time.Now when nil. Its times must have a monotonic reading.
	Now func() time.Time
	// Event is told of each new request, once: approval_needed. It is called without locks.
	Event func(name string, data map[string]any)
}

// Queue is what waits and what was decided lately. Its methods are safe from any goroutine.
type Queue struct {
	o Options

	mu   sync.Mutex // guards what follows
	list []*Request // the oldest first
}

// New makes an empty queue.
func New(o Options) *Queue {
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Queue{o: o}
}

// Use reports whether actor's code may drive a pin of high danger in this run (0 for none: then for this one drive). When it may not,
// id is what a person has to approve; a refusal says why nobody is asked.
func (q *Queue) Use(actor string, code [32]byte, source, label string, run uint64) (ok bool, id string, refused *pin.Refusal) {
	if (source != "" || code != [32]byte{}) && sha256.Sum256([]byte(source)) != code {
		return false, "", refuse("denied", RuleState, label, "the code is not what its hash says: nobody can approve it")
	}
	r, event, refused := q.use(Request{Actor: actor, CodeHash: code, Code: source, Pin: label, Verb: "drive", Run: run})
	if event != nil && q.o.Event != nil {
		q.o.Event("approval_needed", event)
	}
	return r.State == Used, r.ID, refused
}

func (q *Queue) use(want Request) (r Request, event map[string]any, refused *pin.Refusal) {
	q.mu.Lock()
	defer q.mu.Unlock()
	now := q.o.Now()
	q.sweep(now)
	live, mine, asked := 0, 0, 0
	var last *Request // the newest that says anything about this drive
	for _, old := range q.list {
		own := old.Actor == want.Actor
		live += count(old.live())
		mine += count(own && old.live())
		asked += count(own && now.Sub(old.Asked) < limits.ApprovalLife)
		switch same := own && old.CodeHash == want.CodeHash && old.Pin == want.Pin && old.Verb == want.Verb; {
		case !same || !now.Before(old.Expires):
		case old.State != Used:
			last = old
		case old.Run == want.Run && want.Run != 0:
			return *old, nil, nil
		}
	}
	switch {
	case last == nil:
	case last.State == Denied:
		return Request{}, nil, refuse("denied", RuleDenied, want.Pin, "%s has denied this drive of %s (%s)", last.By, want.Pin, last.ID)
	case last.State == Approved:
		last.Run = want.Run
		last.end(Used, now)
		return *last, nil, nil
	default:
		return *last, nil, nil
	}
	if live >= limits.Approvals || mine >= limits.ApprovalsActor || asked >= limits.ApprovalAsks {
		return Request{}, nil, refuse("full", RuleFull, want.Pin, "a person must approve driving %s, and too much was asked of people already", want.Pin)
	}
	want.ID, want.Run, want.Asked = strings.ToLower(rand.Text()[:8]), 0, now // short enough for a person to type
	want.end(Pending, now)
	q.list = append(q.list, &want)
	if len(q.list) > limits.ApprovalsKept { // of what lives there are at most limits.Approvals, which are fewer
		i := slices.IndexFunc(q.list, func(r *Request) bool { return !r.live() })
		q.list = slices.Delete(q.list, i, i+1)
	}
	return want, map[string]any{
		"approval_id": want.ID, "actor": want.Actor, "pin": want.Pin, "verb": want.Verb, "code_sha256": hex.EncodeToString(want.CodeHash[:]),
		"expires_ms": want.Expires.UnixMilli(), "waiting": live + 1,
	}, nil
}

func count(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// live reports whether a person's decision is awaited, or can still be used.
func (r *Request) live() bool { return r.State == Pending || r.State == Approved }

// end moves a request on. Callers hold mu.
func (r *Request) end(state string, now time.Time) {
	r.State, r.Expires = state, now.Add(limits.ApprovalLife)
	if !r.live() {
		r.Code = "" // the audit log has it
	}
}

// sweep ends what is too old. Callers hold mu.
func (q *Queue) sweep(now time.Time) {
	for _, r := range q.list {
		if r.live() && !now.Before(r.Expires) {
			r.State, r.Code = Expired, ""
		}
	}
}

// List returns what waits and what was decided lately, the oldest first.
func (q *Queue) List() []Request {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.sweep(q.o.Now())
	list := make([]Request, 0, len(q.list))
	for _, r := range q.list {
		list = append(list, *r)
	}
	return list
}

// Get returns one request.
func (q *Queue) Get(id string) (Request, bool) {
	list := q.List()
	i := slices.IndexFunc(list, func(r Request) bool { return r.ID == id })
	if i < 0 {
		return Request{}, false
	}
	return list[i], true
}

// Decide is a person's yes or no. Actor and class come from the connection of who decides.
func (q *Queue) Decide(id, actor, class string, approve bool, reason string) error {
	if class != "human" {
		return refuse("denied", RuleApprover, id, "only a person decides what waits for a person")
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	now := q.o.Now()
	q.sweep(now)
	i := slices.IndexFunc(q.list, func(r *Request) bool { return r.ID == id })
	if i < 0 {
		return refuse("not_found", RuleState, id, "nothing waits by the id %q", id)
	}
	switch r := q.list[i]; {
	case r.Actor == actor:
		return refuse("denied", RuleApprover, id, "%s has asked for this itself: another person must decide", actor)
	case r.State == Expired:
		return refuse("expired", RuleState, id, "%s is too old: the drive must be asked for anew", id)
	case r.State != Pending:
		return refuse("conflict", RuleState, id, "%s was decided by %s: it is %s", id, r.By, r.State)
	default:
		r.By, r.Reason = actor, strings.ToValidUTF8(reason[:min(len(reason), limits.ReasonBytes)], "")
		r.end(map[bool]string{true: Approved, false: Denied}[approve], now)
	}
	return nil
}

// Sweep ends what is too old; now is Options.Now's. Every other call does so first.
func (q *Queue) Sweep(now time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.sweep(now)
}

func refuse(code, rule, resource, format string, args ...any) *pin.Refusal {
	return &pin.Refusal{Errno: 13, Code: code, Rule: rule, Resource: resource, Message: fmt.Sprintf(format, args...)}
}
