// Package events is what happened lately, for whoever looks on.
//
// # Model
//
// A [Ring] numbers events from 1 and keeps the newest limits.EventRing and, with room of their own, the newest
// limits.GraveEvents of the grave kinds, so that no program that makes many events can wash an e-stop or a trip out of sight.
// Emitting never blocks and never waits for a reader; a [Reader] that falls behind loses the oldest and is told how many.
//
// Observers hang on this package, and no command passes through it: what it loses or keeps moves no output.
package events

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/pal-terminal/pal/bus"
	"github.com/pal-terminal/pal/limits"
	"github.com/pal-terminal/pal/pin"
	"github.com/pal-terminal/pal/protocol"
)

// Ring is the events of one run of a terminal. Its methods are safe for concurrent use.
type Ring struct {
	mu    sync.Mutex // guards what follows
	lanes [2]lane    // all but the grave, the grave
	last  uint64     // seq of the newest, 0 when there is none
	wakes map[*Reader]struct{}

	// Also is told of every event that is for everybody, in no order, by whoever emits it: it must not wait. Set before the first.
	Also func(name string, data jsontext.Value)
}

// grave are the events that no client can make many of in a short time. A stop while the latch is set is not one, see
// core.Core.Stop; nor is a replaced machine, which any client may ask for.
var grave = []string{"boot", "shutdown", "estop", "trip", "output_fault", "watchdog_warning"}

// lane is one ring. Its events count from 0.
type lane struct {
	ring []entry
	n    uint64 // events so far
}

// entry is an event and whose it is.
type entry struct {
	protocol.Event
	owner uint64
	only  bool
}

// oldest is the count of the oldest event that the ring still holds.
func (l *lane) oldest() uint64 {
	if size := uint64(len(l.ring)); l.n > size {
		return l.n - size
	}
	return 0
}

func (l *lane) at(count uint64) *entry { return &l.ring[count%uint64(len(l.ring))] }

// New returns an empty ring.
func New() *Ring {
	return &Ring{
		wakes: map[*Reader]struct{}{},
		lanes: [2]lane{{ring: make([]entry, limits.EventRing)}, {ring: make([]entry, limits.GraveEvents)}},
	}
}

// Emit appends an event; data must encode as a JSON object.
func (e *Ring) Emit(name string, data any) { e.EmitAs(name, data, slices.Contains(grave, name)) }

// EmitAs is Emit for an event whose kind alone does not say whether it is grave.
func (e *Ring) EmitAs(name string, data any, grave bool) { e.emit(name, data, grave, 0, false) }

// EmitFor is Emit for an event that the reader of an owner gets also without having asked for its name. With only, nobody else
// gets it, and the owner only unless it asked for the name: the same was emitted for everybody already.
func (e *Ring) EmitFor(owner uint64, only bool, name string, data any) {
	e.emit(name, data, false, owner, only)
}

func (e *Ring) emit(name string, data any, grave bool, owner uint64, only bool) {
	raw, err := json.Marshal(data, json.Deterministic(true))
	if err != nil || len(raw) == 0 || raw[0] != '{' {
		raw = fmt.Appendf(nil, `{"error":%q}`, "event data could not be encoded")
	}
	if e.Also != nil && !only {
		e.Also(name, raw)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.last++
	id := fmt.Sprintf("evt_%d", e.last)
	l := &e.lanes[0]
	if grave {
		l = &e.lanes[1]
	}
	*l.at(l.n) = entry{owner: owner, only: only, Event: protocol.Event{
		Header: protocol.Header{Version: protocol.Version, ID: &id, Type: "event"},
		Event:  name, Data: raw, TimestampMS: time.Now().UnixMilli(), Seq: e.last,
	}}
	l.n++
	for r := range e.wakes {
		wake(r)
	}
}

// Pin takes in what the pin table reports by itself; it is made for pin.Options.OnEvent.
func (e *Ring) Pin(ev pin.Event) {
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

// Bus takes in what the buses' guard reports by itself; it is made for bus.Options.OnEvent.
func (e *Ring) Bus(ev bus.Event) {
	e.Emit(ev.Kind, map[string]any{"bus": ev.Bus, "text": ev.Text})
}

// Last returns the seq of the newest event.
func (e *Ring) Last() uint64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.last
}

// Readers counts the readers that were started and not stopped.
func (e *Ring) Readers() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.wakes)
}

// Reader walks the ring from a position on. It is used by one goroutine.
type Reader struct {
	events *Ring
	names  map[string]bool // nil: all
	Owner  uint64          // gets events that were emitted for it; set before the first Next
	Seq    uint64          // of the newest event when the reader was made
	at     [2]uint64       // for each lane, the count of the next event to look at
	lost   uint64          // events lost since the last one that was returned
	Wake   chan struct{}   // yields when Next is worth asking
}

// Nothing are the names of a reader that wants no events.
var Nothing = []string{""}

// Reader starts after since; events that the ring no longer holds count as dropped. A since that lies ahead of the ring
// belongs to an earlier run of the terminal: everything the ring holds is new to that client.
func (e *Ring) Reader(names []string, since *uint64) *Reader {
	r := &Reader{events: e, Wake: make(chan struct{}, 1)}
	if len(names) > 0 && !slices.Contains(names, "*") {
		r.names = map[string]bool{}
		for _, n := range names {
			r.names[n] = true
		}
	}
	r.Wake <- struct{}{} // the ring may hold something already
	e.mu.Lock()
	defer e.mu.Unlock()
	r.Seq = e.last
	from := e.last
	if since != nil {
		from = *since
		if from > e.last {
			from = 0
		}
	}
	r.lost = e.last - from
	for i := range e.lanes {
		l := &e.lanes[i]
		for r.at[i] = l.n; r.at[i] > l.oldest() && l.at(r.at[i]-1).Seq > from; r.at[i]-- {
			r.lost--
		}
	}
	return r
}

// Start has the reader woken by what comes; whoever starts it stops it.
func (r *Reader) Start() {
	r.events.mu.Lock()
	defer r.events.mu.Unlock()
	r.events.wakes[r] = struct{}{}
}

// Stop ends what Start began; without it, it does nothing.
func (r *Reader) Stop() {
	r.events.mu.Lock()
	defer r.events.mu.Unlock()
	delete(r.events.wakes, r)
}

// Next returns the next wanted event, false when there is none yet. Events passed over because nobody asked for their name
// are not counted as dropped.
func (r *Reader) Next() (protocol.Event, bool) {
	e := r.events
	e.mu.Lock()
	defer e.mu.Unlock()
	for {
		var first *entry
		from := 0
		for i := range e.lanes {
			l := &e.lanes[i]
			if oldest := l.oldest(); r.at[i] < oldest {
				r.lost += oldest - r.at[i]
				r.at[i] = oldest
			}
			if r.at[i] == l.n {
				continue
			}
			if ev := l.at(r.at[i]); first == nil || ev.Seq < first.Seq {
				first, from = ev, i
			}
		}
		if first == nil {
			return protocol.Event{}, false
		}
		r.at[from]++
		asked := r.names == nil || r.names[first.Event.Event]
		own := first.owner != 0 && first.owner == r.Owner
		if first.only && own && !asked || !first.only && (own || asked) {
			ev := first.Event
			ev.Dropped, r.lost = r.lost, 0
			wake(r)
			return ev, true
		}
	}
}

// wake has a reader look at the ring; it never waits.
func wake(r *Reader) {
	select {
	case r.Wake <- struct{}{}:
	default: // it is awake already
	}
}
