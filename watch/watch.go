// Package watch tells connections of what they asked to be told of: edges of a pin, and analogue inputs that cross a threshold.
//
// # Model
//
// A [Set] is what one connection watches. Edges come from pin.Table; analogue inputs are sampled every limits.WatchSampling by one
// goroutine of the set, which lives as long as there is one to sample. A threshold is crossed once, until the value has come back
// by the hysteresis. What comes faster than limits.WatchRate is counted in the next event that is told (missed).
//
// It only looks: it refuses inputs that cannot be read and more than limits.Watches.
package watch

import (
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pal-terminal/pal/board"
	"github.com/pal-terminal/pal/hw"
	"github.com/pal-terminal/pal/limits"
	"github.com/pal-terminal/pal/pin"
	"github.com/pal-terminal/pal/protocol"
)

// Set is what one connection watches. Its methods are safe for concurrent use; Close ends its goroutine.
type Set struct {
	table  *pin.Table
	board  *board.Description
	caller pin.Caller
	tell   func(event string, data map[string]any) // must not block
	total  *atomic.Int64                           // of the terminal

	mu      sync.Mutex
	watches map[key]*watch
	closed  bool
	sampler sync.WaitGroup
	stop    chan struct{} // closed to end the sampler; nil while there is none
}

type key struct {
	h   pin.Handle
	adc bool
}

// watch is one of them.
type watch struct {
	pin          *board.Pin
	cancel       func()
	above, below *float64
	hysteresis   float64
	state        string // "above", "below", "unreadable", or "" between the thresholds
	known        bool   // state has been looked at

	mu     sync.Mutex // guards what follows
	ended  bool       // nothing is told any more
	second time.Time
	told   int
	missed int
}

// New returns an empty set. total counts the watches of all sets of a terminal.
func New(t *pin.Table, d *board.Description, c pin.Caller, total *atomic.Int64, tell func(event string, data map[string]any)) *Set {
	return &Set{table: t, board: d, caller: c, total: total, tell: tell, watches: map[key]*watch{}}
}

// Add begins to watch; the same pin or input again replaces what was asked for before.
func (s *Set) Add(w *protocol.Watch) error {
	k, err := s.key(w)
	if err != nil {
		return err
	}
	n := &watch{pin: &s.board.Pins[k.h], cancel: func() {}, above: w.Above, below: w.Below}
	if k.adc {
		err = s.thresholds(n, k.h, w)
	}
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return &protocol.Error{Code: protocol.CodeUnavailable, Message: "the connection has ended"}
	}
	old := s.watches[k]
	if old == nil && (len(s.watches) >= limits.Watches || s.total.Load() >= limits.WatchesTerminal) {
		return &protocol.Error{Code: protocol.CodeFull, Message: "there are as many watches as may be; unwatch one"}
	}
	if !k.adc {
		edges := map[string]hw.Edges{"rising": hw.EdgeRising, "falling": hw.EdgeFalling}[w.Edge]
		if edges == 0 {
			edges = hw.EdgeRising | hw.EdgeFalling
		}
		if n.cancel, err = s.table.Watch(s.caller, k.h, edges, func(e hw.Edge) { s.edge(n, e) }); err != nil {
			return err
		}
	}
	if old != nil {
		old.end()
	} else {
		s.total.Add(1)
	}
	s.watches[k] = n
	if k.adc && s.stop == nil {
		stop := make(chan struct{})
		s.stop = stop
		s.sampler.Go(func() { s.sample(stop) })
	}
	return nil
}

// key finds what a request is about.
func (s *Set) key(w *protocol.Watch) (k key, err error) {
	if w.ADC != nil {
		k.adc = true
		k.h, err = s.table.Resolve(string(*w.ADC))
	} else {
		k.h, err = s.table.Resolve(string(*w.Pin))
	}
	return k, err
}

// thresholds checks what an analogue watch asks for.
func (s *Set) thresholds(n *watch, h pin.Handle, w *protocol.Watch) error {
	if w.Above == nil && w.Below == nil {
		return &protocol.Error{Code: protocol.CodeBadRequest, Message: "adc needs above, below or both"}
	}
	if w.Above != nil && w.Below != nil && *w.Above < *w.Below {
		return &protocol.Error{Code: protocol.CodeBadRequest, Message: "above must not lie under below"}
	}
	if w.Hysteresis != nil {
		n.hysteresis = *w.Hysteresis
	}
	return s.table.CheckADC(s.caller, h)
}

// Remove ends a watch.
func (s *Set) Remove(w *protocol.Watch) error {
	k, err := s.key(w)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.watches[k]
	if n == nil {
		return &protocol.Error{Code: protocol.CodeNotFound, Message: "this is not being watched", Resource: string(s.board.Pins[k.h].ID)}
	}
	n.end()
	s.total.Add(-1)
	delete(s.watches, k)
	for other := range s.watches {
		if other.adc {
			return nil
		}
	}
	s.end()
	return nil
}

// end tells the sampler to end; s.mu is held.
func (s *Set) end() {
	if s.stop != nil {
		close(s.stop)
		s.stop = nil
	}
}

// Close ends all watches and waits for the sampler.
func (s *Set) Close() {
	s.mu.Lock()
	for k, n := range s.watches {
		n.end()
		s.total.Add(-1)
		delete(s.watches, k)
	}
	s.closed = true
	s.end()
	s.mu.Unlock()
	s.sampler.Wait()
}

// end sees that nothing more is told of a watch, also not by what looks at its input right now.
func (n *watch) end() {
	n.cancel()
	n.mu.Lock()
	defer n.mu.Unlock()
	n.ended = true
}

// edge tells of a level change. The table calls it.
func (s *Set) edge(n *watch, e hw.Edge) {
	value := 0
	if e.Rose {
		value = 1
	}
	n.say(s, "pin_change", map[string]any{"value": value})
}

// say tells an event unless too many were told in this second.
func (n *watch) say(s *Set, event string, data map[string]any) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.ended {
		return
	}
	if now := time.Now(); now.Sub(n.second) >= time.Second {
		n.second, n.told = now, 0
	}
	if n.told >= limits.WatchRate {
		n.missed++
		return
	}
	n.told++
	if n.missed > 0 {
		data["missed"], n.missed = n.missed, 0
	}
	data["pin"] = string(n.pin.ID)
	if n.pin.Name != "" {
		data["name"] = n.pin.Name
	}
	s.tell(event, data)
}

// sample looks at the analogue inputs until stop is closed.
func (s *Set) sample(stop chan struct{}) {
	tick := time.NewTicker(limits.WatchSampling)
	defer tick.Stop()
	for {
		for k, n := range s.analogue(stop) {
			s.look(k.h, n)
		}
		select {
		case <-tick.C:
		case <-stop:
			return
		}
	}
}

// analogue lists what the sampler that ends by stop is to look at: nothing once there is another, so that no two look at one input.
func (s *Set) analogue(stop chan struct{}) map[key]*watch {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := map[key]*watch{}
	if s.stop != stop {
		return list
	}
	for k, n := range s.watches {
		if k.adc {
			list[k] = n
		}
	}
	return list
}

// look takes one sample. The first one only says where the value is when that is beyond a threshold.
func (s *Set) look(h pin.Handle, n *watch) {
	raw, _, err := s.table.ReadADC(s.caller, h)
	value := math.NaN()
	if err == nil {
		value = n.pin.Reading(raw)
	}
	state := n.next(value)
	if state == n.state && n.known {
		return
	}
	quiet := !n.known && state == ""
	n.state, n.known = state, true
	if quiet {
		return
	}
	if state == "" {
		state = "between"
	}
	data := map[string]any{"state": state}
	if !math.IsNaN(value) && !math.IsInf(value, 0) {
		data["value"] = value
	}
	if n.pin.Unit != "" {
		data["unit"] = n.pin.Unit
	}
	n.say(s, "adc_threshold", data)
}

// next returns the state for a value. Leaving a state takes the hysteresis, but for the other threshold: a hysteresis wider than
// the room between them hides neither.
func (n *watch) next(value float64) string {
	switch {
	case math.IsNaN(value):
		return "unreadable"
	case n.above != nil && value > *n.above:
		return "above"
	case n.below != nil && value < *n.below:
		return "below"
	case n.state == "above" && value > *n.above-n.hysteresis:
		return "above"
	case n.state == "below" && value < *n.below+n.hysteresis:
		return "below"
	default:
		return ""
	}
}
