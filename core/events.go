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

// Events is what happened lately, in one numbering from 1: the newest limits.EventRing events and, with room of their own, the
// newest limits.GraveEvents of the grave kinds, so that no program that makes many events can wash an e-stop or a trip out of
// sight. Emitting never blocks and never waits for a reader; a reader that falls behind loses the oldest and is
// told how many. Safe for concurrent use.
type Events struct {
	mu    sync.Mutex // guards what follows
	lanes [2]lane    // all but the grave, the grave
	last  uint64     // seq of the newest, 0 when there is none
	wakes map[*reader]struct{}
}

// grave are the events that no client can make many of in a short time. A stop while the latch is set is not one, see
// [Core.Stop]; nor is a replaced machine, which any client may ask for.
var grave = []string{"boot", "shutdown", "estop", "trip", "output_fault", "watchdog_warning"}

// lane is one ring. Its events count from 0.
type lane struct {
	ring []protocol.Event
	n    uint64 // events so far
}

// oldest is the count of the oldest event that the ring still holds.
func (l *lane) oldest() uint64 {
	if size := uint64(len(l.ring)); l.n > size {
		return l.n - size
	}
	return 0
}

func (l *lane) at(count uint64) *protocol.Event { return &l.ring[count%uint64(len(l.ring))] }

// NewEvents returns an empty ring.
func NewEvents() *Events {
	return &Events{
		wakes: map[*reader]struct{}{},
		lanes: [2]lane{{ring: make([]protocol.Event, limits.EventRing)}, {ring: make([]protocol.Event, limits.GraveEvents)}},
	}
}

// Emit appends an event; data must encode as a JSON object.
func (e *Events) Emit(name string, data any) { e.emit(name, data, slices.Contains(grave, name)) }

func (e *Events) emit(name string, data any, grave bool) {
	raw, err := json.Marshal(data, json.Deterministic(true))
	if err != nil || len(raw) == 0 || raw[0] != '{' {
		raw = fmt.Appendf(nil, `{"error":%q}`, "event data could not be encoded")
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.last++
	id := fmt.Sprintf("evt_%d", e.last)
	l := &e.lanes[0]
	if grave {
		l = &e.lanes[1]
	}
	*l.at(l.n) = protocol.Event{
		Header: protocol.Header{Version: protocol.Version, ID: &id, Type: "event"},
		Event:  name, Data: raw, TimestampMS: time.Now().UnixMilli(), Seq: e.last,
	}
	l.n++
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
	at     [2]uint64       // for each lane, the count of the next event to look at
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
	r.seq = e.last
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
	for {
		var first *protocol.Event
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
		if r.names == nil || r.names[first.Event] {
			ev := *first
			ev.Dropped, r.lost = r.lost, 0
			wake(r)
			return ev, true
		}
	}
}

// wake has a reader look at the ring; it never waits.
func wake(r *reader) {
	select {
	case r.wake <- struct{}{}:
	default: // it is awake already
	}
}
