package core

import (
	"sync"
	"time"

	"github.com/pal-terminal/pal/limits"
	"github.com/pal-terminal/pal/protocol"
)

// answerKey is what an id is remembered under.
type answerKey struct{ actor, client, id string }

// answers remembers what was answered, so that a repeated request is answered again and never acted on again. Entries leave
// by age and number; their bodies leave first, when they are too many bytes, and the id then answers `expired`.
type answers struct {
	mu      sync.Mutex // guards what follows
	entries map[answerKey]*answer
	order   []*answer // oldest first
	bytes   int
	bodies  int // index into order of the oldest entry that may still have a body
}

// answer is one remembered request. Its fields are guarded by answers.mu.
type answer struct {
	key     answerKey
	hash    [32]byte
	at      time.Time
	done    bool
	gone    bool   // forgotten: it was refused before admission
	body    []byte // nil when done: dropped for space
	waiters []func([]byte)
}

func (a *answers) init() { a.entries = map[answerKey]*answer{} }

// begin looks an id up. fresh is set when the request is new and must be finished or forgotten by the caller. Otherwise
// either refusal is set, or deliver will be called once with the answer, perhaps before begin returns.
func (a *answers) begin(key answerKey, hash [32]byte, now time.Time, deliver func([]byte)) (fresh *answer, refusal *protocol.Error) {
	a.mu.Lock()
	old, known := a.entries[key]
	if known && now.Sub(old.at) > limits.DedupWindow && old.done {
		known = false // its place in order is dropped when it reaches the front
	}
	if !known {
		fresh = &answer{key: key, hash: hash, at: now}
		a.entries[key] = fresh
		a.order = append(a.order, fresh)
		a.trim(now)
		a.mu.Unlock()
		return fresh, nil
	}
	defer a.mu.Unlock()
	switch {
	case old.hash != hash:
		return nil, &protocol.Error{Code: protocol.CodeIDReused, Message: "this id was used for another request; use a new one", Resource: key.id}
	case !old.done:
		if len(old.waiters) >= limits.RequestsPerConn {
			return nil, &protocol.Error{Code: protocol.CodeBusy, Message: "too many repetitions of a running request"}
		}
		old.waiters = append(old.waiters, deliver)
		return nil, nil
	case old.body == nil:
		return nil, &protocol.Error{Code: protocol.CodeExpired, Message: "this request was done; its answer is no longer kept", Resource: key.id}
	}
	deliver(old.body)
	return nil, nil
}

// finish stores the answer; kept may be a shorter form of what was sent.
func (a *answers) finish(e *answer, kept []byte) {
	if e == nil {
		return
	}
	a.mu.Lock()
	e.done = true
	var waiters []func([]byte)
	waiters, e.waiters = e.waiters, nil
	if !e.gone {
		e.body = kept
		a.bytes += len(kept)
		a.trim(e.at)
	}
	a.mu.Unlock()
	for _, w := range waiters {
		w(kept)
	}
}

// forget removes an entry that was refused before it was admitted; its id may be used again. Those who wait for the same
// request get the same refusal.
func (a *answers) forget(e *answer, refusal []byte) {
	if e == nil {
		return
	}
	a.mu.Lock()
	e.gone = true
	if a.entries[e.key] == e {
		delete(a.entries, e.key)
	}
	a.mu.Unlock()
	a.finish(e, refusal)
}

// fetch returns a stored answer.
func (a *answers) fetch(key answerKey) ([]byte, *protocol.Error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	e, ok := a.entries[key]
	switch {
	case !ok:
		return nil, &protocol.Error{Code: protocol.CodeNotFound, Message: "no request with this id is remembered for this actor and client", Resource: key.id}
	case !e.done:
		return nil, &protocol.Error{Code: protocol.CodeBusy, Message: "the request has not ended yet", Resource: key.id}
	case e.body == nil:
		return nil, &protocol.Error{Code: protocol.CodeExpired, Message: "the answer is no longer kept", Resource: key.id}
	}
	return e.body, nil
}

// trim keeps the bounds; a.mu is held. A running entry is never dropped, since it is what prevents a second run: it goes to
// the back.
func (a *answers) trim(now time.Time) {
	for a.bytes > limits.DedupBytes && a.bodies < len(a.order) {
		e := a.order[a.bodies]
		if e.done || e.gone {
			a.bytes -= len(e.body)
			e.body = nil
		}
		a.bodies++
	}
	for len(a.order) > 0 {
		e := a.order[0]
		full := len(a.order) > limits.DedupIDs
		if !e.gone && !full && (!e.done || now.Sub(e.at) <= limits.DedupWindow) {
			break
		}
		a.order[0] = nil
		a.order = a.order[1:]
		a.bodies = max(0, a.bodies-1)
		if !e.done && !e.gone {
			a.order = append(a.order, e) // few run at a time, so this ends
			continue
		}
		a.bytes -= len(e.body)
		e.body = nil
		if a.entries[e.key] == e {
			delete(a.entries, e.key)
		}
	}
}
