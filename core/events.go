package core

import (
	"context"
	"fmt"
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
		select {
		case r.wake <- struct{}{}:
		default: // it is awake already
		}
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

// reader walks the ring from a position on.
type reader struct {
	events *Events
	names  map[string]bool // nil: all
	next   uint64
	wake   chan struct{}
}

// reader starts after since; events that the ring no longer holds count as dropped. A since that lies ahead of the ring
// belongs to an earlier run of the terminal: everything the ring holds is new to that client.
func (e *Events) reader(names []string, since *uint64) *reader {
	e.mu.Lock()
	defer e.mu.Unlock()
	r := &reader{events: e, next: e.last + 1, wake: make(chan struct{}, 1)}
	if since != nil {
		r.next = *since + 1
		if *since > e.last {
			r.next = 1
		}
	}
	for _, n := range names {
		if n == "*" {
			r.names = nil
			break
		}
		if r.names == nil {
			r.names = map[string]bool{}
		}
		r.names[n] = true
	}
	e.wakes[r] = struct{}{}
	return r
}

func (r *reader) stop() {
	r.events.mu.Lock()
	defer r.events.mu.Unlock()
	delete(r.events.wakes, r)
}

// read returns the next wanted event, waiting for it. Events passed over because nobody asked for their name are not
// counted as dropped.
func (r *reader) read(ctx context.Context) (protocol.Event, error) {
	var dropped uint64
	for {
		ev, lost, ok := r.poll()
		dropped += lost
		if ok {
			ev.Dropped = dropped
			return ev, nil
		}
		select {
		case <-r.wake:
		case <-ctx.Done():
			return protocol.Event{}, context.Cause(ctx)
		}
	}
}

func (r *reader) poll() (ev protocol.Event, lost uint64, ok bool) {
	e := r.events
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.last >= limits.EventRing && r.next <= e.last-limits.EventRing {
		oldest := e.last - limits.EventRing + 1
		lost = oldest - r.next
		r.next = oldest
	}
	for r.next <= e.last {
		ev = e.ring[r.next%limits.EventRing]
		r.next++
		if r.names == nil || r.names[ev.Event] {
			return ev, lost, true
		}
	}
	return protocol.Event{}, lost, false
}
