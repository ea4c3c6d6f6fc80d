package core

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/pal-terminal/pal/limits"
	"github.com/pal-terminal/pal/pin"
	"github.com/pal-terminal/pal/protocol"
)

// Events is the ring of what happened: the newest limits.EventRing events, numbered from 1. Emitting never blocks and never
// waits for a reader; a reader that falls behind loses the oldest and is told how many. Safe for concurrent use.
type Events struct {
	mu    sync.Mutex // guards what follows
	ring  [limits.EventRing]protocol.Event
	last  uint64 // seq of the newest, 0 when there is none
	wakes map[*reader]struct{}
}

// NewEvents returns an empty ring.
func NewEvents() *Events { return &Events{wakes: map[*reader]struct{}{}} }

// Emit appends an event; data must encode as a JSON object.
func (e *Events) Emit(name string, data any) {
	raw, err := json.Marshal(data, json.Deterministic(true))
	if err != nil || len(raw) == 0 || raw[0] != '{' {
		raw = fmt.Appendf(nil, `{"error":%q}`, "event data could not be encoded")
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.last++
	id := fmt.Sprintf("evt_%d", e.last)
	e.ring[e.last%limits.EventRing] = protocol.Event{
		Header: protocol.Header{Version: protocol.Version, ID: &id, Type: "event"},
		Event:  name, Data: raw, TimestampMS: time.Now().UnixMilli(), Seq: e.last,
	}
	for r := range e.wakes {
		wake(r)
	}
}

// Pin takes in what the pin table reports by itself; it is made for pin.Options.OnEvent.
func (e *Events) Pin(ev pin.Event) {
	if ev.Cause == pin.CauseStart {
		return // the event boot shows them all
	}
	data := map[string]any{"pin": ev.Pin, "cause": ev.Cause}
	if ev.Name != "" {
		data["name"] = ev.Name
	}
	if ev.Level >= 0 {
		data["value"] = ev.Level
	}
	if ev.Kind == pin.EventTrip {
		data["reading"] = ev.Value
	}
	if ev.Text != "" {
		data["text"] = ev.Text
	}
	e.Emit(string(ev.Kind), data)
}

// Last returns the seq of the newest event.
func (e *Events) Last() uint64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.last
}

// reader walks the ring from a position on. It is used by one goroutine.
type reader struct {
	events *Events
	names  map[string]bool // nil: all
	seq    uint64          // of the newest event when the reader was made
	at     uint64          // seq of the next event to look at
	lost   uint64          // events lost since the last one that was returned
	wake   chan struct{}   // yields when next is worth asking
}

// nothing are the names of a reader that wants no events.
var nothing = []string{""}

// reader starts after since; events that the ring no longer holds count as dropped. A since that lies ahead of the ring
// belongs to an earlier run of the terminal: everything the ring holds is new to that client.
func (e *Events) reader(names []string, since *uint64) *reader {
	r := &reader{events: e, wake: make(chan struct{}, 1)}
	if len(names) > 0 && !slices.Contains(names, "*") {
		r.names = map[string]bool{}
		for _, n := range names {
			r.names[n] = true
		}
	}
	r.wake <- struct{}{} // the ring may hold something already
	e.mu.Lock()
	defer e.mu.Unlock()
	r.seq, r.at = e.last, e.last+1
	switch {
	case since != nil && *since > e.last:
		r.at = 1
	case since != nil:
		r.at = *since + 1
	}
	return r
}

// start has the reader woken by what comes; whoever starts it stops it.
func (r *reader) start() {
	r.events.mu.Lock()
	defer r.events.mu.Unlock()
	r.events.wakes[r] = struct{}{}
}

func (r *reader) stop() {
	r.events.mu.Lock()
	defer r.events.mu.Unlock()
	delete(r.events.wakes, r)
}

// next returns the next wanted event, false when there is none yet. Events passed over because nobody asked for their name
// are not counted as dropped.
func (r *reader) next() (protocol.Event, bool) {
	e := r.events
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.last >= limits.EventRing && r.at <= e.last-limits.EventRing {
		oldest := e.last - limits.EventRing + 1
		r.lost += oldest - r.at
		r.at = oldest
	}
	for r.at <= e.last {
		ev := e.ring[r.at%limits.EventRing]
		r.at++
		if r.names == nil || r.names[ev.Event] {
			ev.Dropped, r.lost = r.lost, 0
			wake(r)
			return ev, true
		}
	}
	return protocol.Event{}, false
}

// wake has a reader look at the ring; it never waits.
func wake(r *reader) {
	select {
	case r.wake <- struct{}{}:
	default: // it is awake already
	}
}
