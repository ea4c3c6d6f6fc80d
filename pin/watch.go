package pin

import (
	"slices"
	"sync"
	"time"

	"github.com/pal-terminal/pal/board"
	"github.com/pal-terminal/pal/hw"
	"github.com/pal-terminal/pal/limits"
)

// fan spreads the edges of one line to those who watch it. The driver is asked once, at the first watcher.
type fan struct {
	start  sync.Mutex // held while the driver is being asked
	mu     sync.Mutex // held while an edge is spread, so that edges keep their order and cancel means no more
	list   []*watcher
	cancel func() // of the driver's watch; nil while there is none
	ended  bool

	second time.Time // in which the last event was told
	told   int       // events in it
}

type watcher struct {
	edges hw.Edges
	fn    func(hw.Edge)
}

// Watch reports level changes of an input to fn, in order, until cancel. fn must not block and must not call the table; when
// cancel has returned it is not called again. cancel may be called twice, but not from fn. The Edge's Label is left to the
// caller to fill. Watching configures nothing, so it is allowed in engineering mode as reading is.
func (t *Table) Watch(_ Caller, h Handle, e hw.Edges, fn func(hw.Edge)) (cancel func(), err error) {
	p, err := t.at(h)
	if err != nil {
		return nil, err
	}
	if e == 0 || e&^(hw.EdgeRising|hw.EdgeFalling) != 0 {
		return nil, refusal(p, einval, codeBadRequest, RuleArgument, "%s: %d is no set of edges", p.name(), e)
	}
	if err := t.can(p, board.CapIn|board.CapCount|board.CapEncoder, "an input to be watched"); err != nil {
		return nil, err
	}
	f := &p.fan
	f.start.Lock()
	defer f.start.Unlock()
	if f.cancel == nil { // set below only
		r := &request{verb: verbWatch, edge: func(rose bool, at time.Time) { t.spread(p, rose, at) }}
		if err := t.do(p, r); err != nil {
			return nil, err
		}
		f.begin(r.cancel)
	}
	w := &watcher{edges: e, fn: fn}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ended {
		return nil, closedRefusal(p)
	}
	if len(f.list) >= limits.PinWatchers {
		return nil, refusal(p, ebusy, codeConflict, RuleBusy, "%s has %d watchers already", p.name(), len(f.list))
	}
	f.list = append(f.list, w)
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.list = slices.DeleteFunc(slices.Clone(f.list), func(x *watcher) bool { return x == w })
	}, nil
}

// spread hands one edge to the watchers that want it.
func (t *Table) spread(p *pin, rose bool, at time.Time) {
	edge, level := hw.EdgeFalling, 0
	if rose {
		edge, level = hw.EdgeRising, 1
	}
	f := &p.fan
	f.mu.Lock()
	defer f.mu.Unlock()
	wanted := false
	for _, w := range f.list {
		if w.edges&edge != 0 {
			wanted = true
			w.fn(hw.Edge{Pin: uint16(p.h), Rose: rose, AtUS: at.Sub(t.started).Microseconds()})
		}
	}
	if wanted && f.tells(at) {
		t.emit(p, Event{Kind: EventPinChange, Level: level, At: at})
	}
}

// tells bounds how many edges of a line become events: a flow meter must not wash everything else out of the ring. Whoever watches
// the line is told of every edge all the same. Callers hold mu.
func (f *fan) tells(at time.Time) bool {
	if since := at.Sub(f.second); since >= time.Second || since < 0 {
		f.second, f.told = at, 0
	}
	f.told++
	return f.told <= limits.WatchRate
}

// begin keeps how to end the driver's watch, or ends it when the table was closed meanwhile.
func (f *fan) begin(cancel func()) {
	f.mu.Lock()
	ended := f.ended
	f.cancel = cancel
	f.mu.Unlock()
	if ended {
		cancel()
	}
}

// end stops the driver's watch and forgets the watchers.
func (f *fan) end() {
	f.mu.Lock()
	f.ended, f.list = true, nil
	cancel := f.cancel
	f.mu.Unlock()
	if cancel != nil {
		cancel() // without mu: the driver may wait here for an edge that is being spread
	}
}
