// Package answers is what clients were told: it writes answers, and remembers them so that a repeated request is answered
// again and never acted on again.
//
// # Model
//
// Whoever admits a request calls [Store.Begin] with its id and the hash of its bytes, and [Store.Finish] once, with the answer.
// Entries leave by age and number; their bodies leave first, when they are too many bytes, and the id then answers `expired`. A
// request that still runs never leaves, since its entry is what prevents a second run; few run at a time.
//
// It knows nothing of what a request does, and refuses nothing but a used id with other bytes.
package answers

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/pal-terminal/pal/limits"
	"github.com/pal-terminal/pal/protocol"
)

// Key is what an id is remembered under.
type Key struct{ Actor, Client, ID string }

// Store remembers answers. Its methods are safe for concurrent use.
type Store struct {
	mu      sync.Mutex // guards what follows
	entries map[Key]*Entry
	order   []*Entry // those that have ended, oldest first
	bytes   int      // of all bodies
	bodies  int      // index into order of the oldest entry that may still have a body
}

// New returns an empty store.
func New() *Store { return &Store{entries: map[Key]*Entry{}} }

// Entry is one remembered request. Its fields are guarded by Store.mu.
type Entry struct {
	key     Key
	hash    [32]byte
	ended   time.Time // zero while it runs
	body    []byte    // nil when it has ended: dropped for space
	waiters []func([]byte)
}

// Begin looks an id up. fresh is set when the request is new; the caller must then finish it. Otherwise there is the body of
// an earlier answer, or a refusal, or neither: then deliver will be called once with the answer.
func (a *Store) Begin(key Key, hash [32]byte, now time.Time, deliver func([]byte)) (fresh *Entry, body []byte, refusal *protocol.Error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.trim(now)
	old := a.entries[key]
	switch {
	case old == nil:
		fresh = &Entry{key: key, hash: hash}
		a.entries[key] = fresh
		return fresh, nil, nil
	case old.hash != hash:
		return nil, nil, &protocol.Error{Code: protocol.CodeIDReused, Message: "this id was used for another request; use a new one", Resource: key.ID}
	case !old.ended.IsZero():
		body, refusal = old.kept()
		return nil, body, refusal
	case len(old.waiters) >= limits.RequestsPerConn:
		return nil, nil, &protocol.Error{Code: protocol.CodeBusy, Message: "too many repetitions of a running request"}
	}
	old.waiters = append(old.waiters, deliver)
	return nil, nil, nil
}

// kept returns the answer of a request that has ended.
func (e *Entry) kept() ([]byte, *protocol.Error) {
	if e.body == nil {
		return nil, &protocol.Error{Code: protocol.CodeExpired, Message: "this request was done; its answer is no longer kept", Resource: e.key.ID}
	}
	return e.body, nil
}

// Finish ends a request and tells those who wait for the same one. Unless w.Keep is set it is forgotten: it was refused before
// it was admitted, and its id may be used again.
func (a *Store) Finish(e *Entry, w Written, now time.Time) {
	if e == nil {
		return
	}
	a.mu.Lock()
	waiters := e.waiters
	e.waiters = nil
	if w.Keep {
		e.ended, e.body = now, w.Kept
		a.bytes += len(w.Kept)
		a.order = append(a.order, e)
		a.trim(now)
	} else {
		delete(a.entries, e.key)
	}
	a.mu.Unlock()
	for _, deliver := range waiters {
		deliver(w.Kept)
	}
}

// Fetch returns a stored answer.
func (a *Store) Fetch(key Key) ([]byte, *protocol.Error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	e := a.entries[key]
	switch {
	case e == nil:
		return nil, &protocol.Error{Code: protocol.CodeNotFound, Message: "no request with this id is remembered for this actor and client", Resource: key.ID}
	case e.ended.IsZero():
		return nil, &protocol.Error{Code: protocol.CodeBusy, Message: "the request has not ended yet", Resource: key.ID}
	}
	return e.kept()
}

// trim keeps the bounds; a.mu is held.
func (a *Store) trim(now time.Time) {
	drop := func(e *Entry) {
		a.bytes -= len(e.body)
		e.body = nil
	}
	for ; a.bytes > limits.DedupBytes && a.bodies < len(a.order); a.bodies++ {
		drop(a.order[a.bodies])
	}
	for len(a.order) > limits.DedupIDs || len(a.order) > 0 && now.Sub(a.order[0].ended) > limits.DedupWindow {
		e := a.order[0]
		drop(e)
		delete(a.entries, e.key)
		a.order[0] = nil
		a.order = a.order[1:]
		a.bodies = max(0, a.bodies-1)
	}
}

// Written is an answer as it goes out, and as it is remembered.
type Written struct {
	Sent, Kept []byte
	Keep       bool
}

// beforeAdmission are the codes of requests that may be sent again under the same id.
var beforeAdmission = []protocol.Code{
	protocol.CodeBusy, protocol.CodeUnavailable, protocol.CodeStorage, protocol.CodeUnauthorized, protocol.CodeTooLarge,
}

// Write encodes an answer. What a client gets before its request was admitted is not remembered: it may send the same again.
func Write(a protocol.Answer) Written {
	w := Written{Sent: Encode(a), Keep: true}
	w.Kept = w.Sent
	r, ok := a.(protocol.Result)
	if !ok {
		return w
	}
	w.Keep = !slices.Contains(beforeAdmission, r.Code)
	if len(r.Stdout) > limits.DedupStreamKept || len(r.Stderr) > limits.DedupStreamKept {
		shorten(&r, &r.Stdout)
		shorten(&r, &r.Stderr)
		w.Kept = Encode(r)
	}
	return w
}

// shorten cuts a stream of r for the store of answers and says so in r.
func shorten(r *protocol.Result, text *string) {
	kept, dropped := protocol.Cut([]byte(*text), limits.DedupStreamKept)
	if dropped > 0 {
		*text, r.Truncated = string(kept), true
		r.DroppedBytes += dropped
	}
}

// Encode never fails: what cannot be encoded is answered as an error, which always can.
func Encode(a protocol.Answer) []byte {
	raw, err := protocol.Encode(a)
	if err != nil {
		raw, _ = protocol.Encode(protocol.Refuse(a.Head().ID, fmt.Errorf("encode answer: %w", err)))
	}
	return raw
}
