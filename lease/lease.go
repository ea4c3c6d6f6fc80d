// Package lease says who has what to himself: leases of actors and the resources of tasks.
//
// # Model
//
// A [Book] holds claims on pins. A claim to drive is exclusive; claims to read are shared and stand in nobody's way. A lease is
// an actor's, on whatever connection and in its tasks; it ends by time, by release, or with the connection that took it unless it is
// to be kept. A task's claim ends with the task and keeps its own actor's other programs out too; it may lie on pins that the actor
// has leased, and outlives that lease. The pin table asks the book at every drive ([Book.Holder]); a bus is claimed by its lines.
// A claim that ends is at first nobody's: its outputs are made safe ([Options.Safe]) before another can have them. Claims are
// kept in memory only: at the start all outputs are safe, and nobody holds anything.
//
// # What it refuses
//
// To let two hold the same thing; the refusal names the holder and since when. More leases than limits.Leases, lives longer than
// limits.LeaseLongest, and to renew what has ended. It drives nothing.
package lease

import (
	"cmp"
	"crypto/rand"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pal-terminal/pal/limits"
	"github.com/pal-terminal/pal/pin"
)

// Use is a resource that is asked for.
type Use struct {
	Resource string // id, name or alias of a pin, or a bus: "i2c0"; in a Claim as its label
	Drive    bool   // else to read
}

// Claim is what an actor or a task holds. Its slices are the book's too: nobody changes them.
type Claim struct {
	ID      string // of the lease or the task
	Actor   string
	Task    string // task id, empty for a lease
	Uses    []Use
	Pins    []pin.Handle // those claimed for driving
	Since   time.Time
	Expires time.Time // zero for a task's
	Conn    uint64    // 0 when it is to be kept, and for a task's
}

// Holder is the holder as refusals name it: "agent-7", or "task 003 (agent-7)".
func (c *Claim) Holder() string {
	if c.Task != "" {
		return "task " + c.Task + " (" + c.Actor + ")"
	}
	return c.Actor
}

// Options of a Book.
type Options struct {
	// Now is the clock, time.Now when nil. Its times must have a monotonic reading, as those of time.Now do: a jump of the wall clock
	// neither cuts nor lengthens a lease.
	Now func() time.Time
	// Resolve finds the pins of a resource, with the word for it towards people. Its errors are passed on.
	Resolve func(resource string) (pins []pin.Handle, label string, err error)
	// Most is how many leases there are at once, limits.Leases when 0.
	Most int
	// Safe makes the outputs of claims that have just ended safe: nobody can drive or claim them until it returns. It is called
	// without locks. Nil leaves that to the caller.
	Safe func([]Claim)
}

// Book is who holds what. Its methods are safe from any goroutine.
type Book struct {
	o Options

	// view is what Holder looks at, by handle: never changed, only replaced. Nil when nothing is claimed.
	view atomic.Pointer[[]holding]

	mu     sync.Mutex // guards what follows
	claims map[string]*entry
}

// entry is a claim in the book. It is never changed once it is in view, but replaced.
type entry struct {
	Claim
	holder string
	ended  bool // its outputs are being made safe
}

// holding is who holds one pin for driving. A task's claim comes before its actor's lease.
type holding struct{ lease, task *entry }

// over reports whether nobody can use a claim any more.
func (e *entry) over(now time.Time) bool {
	return e.ended || e.Task == "" && !now.Before(e.Expires)
}

// New makes an empty book.
func New(o Options) *Book {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Most == 0 {
		o.Most = limits.Leases
	}
	return &Book{o: o, claims: map[string]*entry{}}
}

// Holder is asked at every drive (pin.Claims): who has claimed h, and may c drive it by that claim? A lease whose time is up is
// nobody's until its outputs are safe.
func (b *Book) Holder(c pin.Caller, h pin.Handle) (held, own bool, holder string, since time.Time) {
	switch on := b.on(h); {
	case on.task != nil:
		e := on.task
		return true, !e.ended && c.Task == e.Task && c.Name == e.Actor, e.holder, e.Since
	case on.lease != nil:
		e := on.lease
		return true, c.Name == e.Actor && !c.Shared && !e.over(b.o.Now()), e.holder, e.Since
	}
	return false, false, "", time.Time{}
}

// Holds reports whether an actor holds anything, by a lease or a task.
func (b *Book) Holds(actor string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, e := range b.claims {
		if e.Actor == actor {
			return true
		}
	}
	return false
}

// Take leases resources, all or none, for ttl (limits.LeaseDefault when 0), to end with the connection unless it is to be kept.
func (b *Book) Take(actor string, conn uint64, uses []Use, ttl time.Duration, keep bool) (Claim, error) {
	ttl, err := life(ttl)
	if err != nil {
		return Claim{}, err
	}
	if len(uses) == 0 {
		return Claim{}, refuse("bad_request", pin.RuleArgument, "", "a lease needs a resource")
	}
	c := Claim{ID: "lease_" + strings.ToLower(rand.Text()[:10]), Actor: actor, Since: b.o.Now()}
	c.Expires = c.Since.Add(ttl)
	if !keep {
		c.Conn = conn
	}
	return b.claim(c, uses)
}

// TaskClaim gives a task its resources, all or none, until TaskRelease.
func (b *Book) TaskClaim(id, actor string, uses []Use) error {
	_, err := b.claim(Claim{ID: id, Actor: actor, Task: id, Since: b.o.Now()}, uses)
	return err
}

// TaskRelease ends a task's claim. One that there is not is no matter.
func (b *Book) TaskRelease(id string) { b.end(func(e *entry) bool { return e.Task == id && id != "" }) }

// Renew lets a lease live ttl from now (limits.LeaseDefault when 0). One that has ended is not found, and must be taken anew.
func (b *Book) Renew(id, actor string, ttl time.Duration) (Claim, error) {
	ttl, err := life(ttl)
	if err != nil {
		return Claim{}, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	e, err := b.leaseOf(id, actor, false)
	if err != nil {
		return Claim{}, err
	}
	c := e.Claim
	c.Expires = b.o.Now().Add(ttl)
	return b.put(c), nil
}

// Release ends a lease: its holder's, or anybody's with force.
func (b *Book) Release(id, actor string, force bool) (Claim, error) {
	b.mu.Lock()
	_, err := b.leaseOf(id, actor, force)
	b.mu.Unlock()
	if err != nil {
		return Claim{}, err
	}
	ended := b.end(func(e *entry) bool { return e.ID == id && e.Task == "" })
	if len(ended) == 0 { // somebody else ended it in this very moment
		return Claim{}, notFound(id)
	}
	return ended[0], nil
}

// Departed ends the leases that a connection took and did not want kept.
func (b *Book) Departed(conn uint64) []Claim {
	return b.end(func(e *entry) bool { return e.Task == "" && e.Conn == conn && conn != 0 })
}

// ActorGone ends all leases of an actor whose token was revoked. What its tasks hold ends with them.
func (b *Book) ActorGone(actor string) []Claim {
	return b.end(func(e *entry) bool { return e.Task == "" && e.Actor == actor })
}

// Expire ends the leases whose time is up; now is Options.Now's.
func (b *Book) Expire(now time.Time) []Claim {
	return b.end(func(e *entry) bool { return e.over(now) })
}

// Next is when the next lease ends, zero when none does.
func (b *Book) Next() time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	var next time.Time
	for _, e := range b.claims {
		if e.Task == "" && !e.ended && (next.IsZero() || e.Expires.Before(next)) {
			next = e.Expires
		}
	}
	return next
}

// List returns all claims, the oldest first.
func (b *Book) List() []Claim {
	b.mu.Lock()
	defer b.mu.Unlock()
	list := make([]Claim, 0, len(b.claims))
	for _, e := range b.claims {
		list = append(list, e.Claim)
	}
	slices.SortFunc(list, func(a, b Claim) int { return cmp.Or(a.Since.Compare(b.Since), cmp.Compare(a.ID, b.ID)) })
	return list
}

// claim takes what is asked for into the book, when nothing stands against it.
func (b *Book) claim(c Claim, uses []Use) (Claim, error) {
	if len(uses) > limits.BoardPins {
		return Claim{}, refuse("bad_request", pin.RuleArgument, "", "a claim has at most %d resources", limits.BoardPins)
	}
	labels := map[pin.Handle]string{}
	for _, u := range uses {
		pins, label, err := b.o.Resolve(u.Resource)
		if err != nil {
			return Claim{}, err
		}
		c.Uses = append(c.Uses, Use{label, u.Drive})
		for _, h := range pins {
			if u.Drive {
				labels[h] = label
			}
		}
	}
	c.Pins = slices.Sorted(maps.Keys(labels))
	b.mu.Lock()
	defer b.mu.Unlock()
	leases := 0
	for _, e := range b.claims {
		if e.Task == "" {
			leases++
		}
	}
	switch {
	case b.claims[c.ID] != nil:
		return Claim{}, refuse("conflict", pin.RuleTaskHeld, c.ID, "%s has its resources already", c.ID)
	case c.Task == "" && leases >= b.o.Most:
		return Claim{}, refuse("full", "lease.full", "", "there are %d leases: release one first", leases)
	}
	for _, h := range c.Pins {
		if err := b.free(&c, h, labels[h]); err != nil {
			return Claim{}, err
		}
	}
	return b.put(c), nil
}

// free refuses a claim on a pin that another stands against. Callers hold mu.
func (b *Book) free(c *Claim, h pin.Handle, label string) error {
	on := b.on(h)
	e, rule := on.task, pin.RuleTaskHeld
	if e == nil {
		e, rule = on.lease, pin.RuleLeaseHeld
	}
	own := e != nil && e.Task == "" && e.Actor == c.Actor
	if e == nil || own && c.Task != "" && !e.over(c.Since) { // a task on what its actor has leased
		return nil
	}
	r := refuse("conflict", rule, label, "%s is held by %s since %s", label, e.holder, e.Since.UTC().Format(time.RFC3339))
	if own {
		r.Message += " as " + e.ID + ": renew or release that"
	}
	r.Holder, r.Since = e.holder, e.Since
	return r
}

// on is who holds a pin.
func (b *Book) on(h pin.Handle) holding {
	if view := b.view.Load(); view != nil && int(h) < len(*view) {
		return (*view)[h]
	}
	return holding{}
}

// leaseOf returns a lease that lives and that actor may end. Callers hold mu.
func (b *Book) leaseOf(id, actor string, force bool) (*entry, error) {
	e := b.claims[id]
	switch {
	case e == nil || e.Task != "" || e.over(b.o.Now()):
		return nil, notFound(id)
	case e.Actor != actor && !force:
		r := refuse("denied", pin.RuleLeaseHeld, id, "%s belongs to %s", id, e.holder)
		r.Holder, r.Since = e.holder, e.Since
		return nil, r
	}
	return e, nil
}

// put takes a claim into the book, in the place of an older one with its id. Callers hold mu.
func (b *Book) put(c Claim) Claim {
	b.claims[c.ID] = &entry{Claim: c, holder: c.Holder()}
	b.publish()
	return c
}

// end ends claims: they are nobody's while their outputs are made safe, and then gone.
func (b *Book) end(match func(*entry) bool) []Claim {
	b.mu.Lock()
	var list []Claim
	for id, e := range b.claims {
		if e.ended || !match(e) {
			continue
		}
		b.claims[id] = &entry{Claim: e.Claim, holder: e.holder, ended: true}
		list = append(list, e.Claim)
	}
	if len(list) == 0 {
		b.mu.Unlock()
		return nil
	}
	b.publish()
	for i := range list { // what a task goes on with stays as it is
		list[i].Pins = slices.DeleteFunc(slices.Clone(list[i].Pins), func(h pin.Handle) bool {
			task := b.on(h).task
			return list[i].Task == "" && task != nil && !task.ended
		})
	}
	b.mu.Unlock()
	if b.o.Safe != nil {
		b.o.Safe(list)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, c := range list {
		delete(b.claims, c.ID)
	}
	b.publish()
	return list
}

// publish shows Holder what there is now. Callers hold mu.
func (b *Book) publish() {
	var view []holding
	for _, e := range b.claims {
		for _, h := range e.Pins {
			if int(h) >= len(view) {
				view = append(view, make([]holding, int(h)+1-len(view))...)
			}
			if e.Task != "" {
				view[h].task = e
			} else {
				view[h].lease = e
			}
		}
	}
	b.view.Store(&view)
}

// life checks how long a lease is to live.
func life(ttl time.Duration) (time.Duration, error) {
	if ttl == 0 {
		return limits.LeaseDefault, nil
	}
	if ttl < 0 || ttl > limits.LeaseLongest {
		return 0, refuse("bad_request", pin.RuleArgument, "", "a lease lives at most %s", limits.LeaseLongest)
	}
	return ttl, nil
}

func notFound(id string) *pin.Refusal {
	return refuse("not_found", "lease.unknown", id, "there is no lease %q, or it has ended: take it anew", id)
}

func refuse(code, rule, resource, format string, args ...any) *pin.Refusal {
	errno := 13
	if code == "bad_request" {
		errno = 22
	}
	return &pin.Refusal{Errno: errno, Code: code, Rule: rule, Resource: resource, Message: fmt.Sprintf(format, args...)}
}
