package bus

import (
	"slices"
	"sync"

	"github.com/pal-terminal/pal/board"
	"github.com/pal-terminal/pal/hw"
	"github.com/pal-terminal/pal/limits"
	"github.com/pal-terminal/pal/pin"
)

// What OpCount does (Call.A).
const (
	countRead = iota
	countSet
	countClose
)

// counter counts edges of one line, or the steps of an encoder on two.
type counter struct {
	by      pin.Caller
	lines   []pin.Handle
	release func()
	cancel  []func() // of the watches

	mu    sync.Mutex // guards what follows
	value int64      // of 63 bits
	// Of encoders: the levels of both lines, and how far the next count is, in quarters of a cycle.
	levels  [2]bool
	quarter int
	per     int // quarters for one count
}

// wrap keeps a value in 63 bits, as a counter of that width would.
func wrap(v int64) int64 { return v << 1 >> 1 }

// pulse takes in an edge of a counter.
func (k *counter) pulse(hw.Edge) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.value = wrap(k.value + 1)
}

// turn takes in an edge of line i of an encoder. The first line leads when it turns forwards. Counts lie where the quarters add
// up, so that a contact that bounces moves the count to and fro and never away.
func (k *counter) turn(i int, rose bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.levels[i] == rose {
		return
	}
	k.levels[i] = rose
	step := 1
	if (k.levels[0] == k.levels[1]) == (i == 0) {
		step = -1
	}
	k.quarter += step
	switch {
	case k.quarter == k.per:
		k.quarter, k.value = 0, wrap(k.value+1)
	case k.quarter < 0:
		k.quarter, k.value = k.per-1, wrap(k.value-1)
	}
}

func (k *counter) close() {
	for _, cancel := range k.cancel {
		cancel()
	}
	if k.release != nil {
		k.release()
	}
}

// openCounter is OpCountOpen. A counter that has the same lines is replaced.
func (g *Gate) openCounter(c pin.Caller, call hw.Call) (hw.Reply, error) {
	first, err := g.t.Resolve(call.Text)
	if err != nil {
		return hw.Reply{}, err
	}
	k := &counter{by: c, lines: []pin.Handle{first}}
	want, name, doing := board.CapCount, "the counter on ", "a counter's input"
	switch {
	case call.B == -1 && call.A >= 1 && call.A <= 3:
	case call.B >= 0 && call.B < int64(len(g.d.Pins)) && call.B != int64(first) && (call.C == 1 || call.C == 2 || call.C == 4):
		k.lines, k.per = append(k.lines, pin.Handle(call.B)), 4/int(call.C)
		want, name, doing = board.CapEncoder, "the encoder on ", "an encoder's input"
	default:
		return hw.Reply{}, bad(call.Text, "a counter has edges 1 to 3; an encoder has two lines and 1, 2 or 4 phases")
	}
	for _, h := range k.lines {
		if err := g.t.CheckCan(h, want, doing); err != nil {
			return hw.Reply{}, err
		}
	}
	if err := g.t.CheckUse(c, k.lines, false); err != nil {
		return hw.Reply{}, err
	}
	for _, old := range g.take(func(o *counter) bool { return slices.Equal(o.lines, k.lines) }) {
		old.close()
	}
	o := pin.Holding{Name: name + g.d.Pins[first].Label(), Free: "its deinit()", Input: true}
	if k.release, err = g.t.Hold(c, o, k.lines); err != nil {
		return hw.Reply{}, err
	}
	if err := g.startCounter(k, hw.Edges(call.A)); err != nil {
		k.close()
		return hw.Reply{}, err
	}
	handle, err := g.addCounter(k)
	if err != nil {
		k.close()
		return hw.Reply{}, err
	}
	return hw.Reply{Value: int64(handle)}, nil
}

// startCounter begins to watch a counter's lines.
func (g *Gate) startCounter(k *counter, edges hw.Edges) error {
	watch := func(h pin.Handle, e hw.Edges, fn func(hw.Edge)) error {
		cancel, err := g.t.Watch(k.by, h, e, fn)
		if err == nil {
			k.cancel = append(k.cancel, cancel)
		}
		return err
	}
	if len(k.lines) == 1 {
		return watch(k.lines[0], edges, k.pulse)
	}
	for i, h := range k.lines {
		level, err := g.t.Read(k.by, h)
		if err != nil {
			return err
		}
		k.mu.Lock()
		k.levels[i] = level == 1
		k.mu.Unlock()
		if err := watch(h, hw.EdgeRising|hw.EdgeFalling, func(e hw.Edge) { k.turn(i, e.Rose) }); err != nil {
			return err
		}
	}
	return nil
}

// addCounter gives a counter a handle.
func (g *Gate) addCounter(k *counter) (uint16, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case g.closed:
		return 0, shutting("")
	case len(g.counters) >= limits.Counters:
		return 0, refuse(ebusy, codeConflict, pin.RuleBusy, "", "%d counters are open: close one first", limits.Counters)
	}
	// Numbers come again as late as can be: whoever still holds that of a counter that is gone must not read another's.
	for g.counters[g.next] != nil {
		g.next++
	}
	handle := g.next
	g.counters[handle] = k
	g.next++
	return handle, nil
}

// take removes the counters that match, for the caller to close.
func (g *Gate) take(match func(*counter) bool) []*counter {
	g.mu.Lock()
	defer g.mu.Unlock()
	var list []*counter
	for handle, k := range g.counters {
		if match(k) {
			delete(g.counters, handle)
			list = append(list, k)
		}
	}
	return list
}

// count is OpCount.
func (g *Gate) count(c pin.Caller, call hw.Call) (hw.Reply, error) {
	g.mu.Lock()
	k := g.counters[call.Pin]
	g.mu.Unlock()
	if k == nil {
		return hw.Reply{}, refuse(einval, codeConflict, RuleClosed, "", "handle %d is no counter that is open", call.Pin)
	}
	if err := g.t.CheckUse(c, k.lines, false); err != nil {
		return hw.Reply{}, err
	}
	k.mu.Lock()
	value := k.value
	switch call.A {
	case countSet:
		if wrap(call.B) != call.B {
			k.mu.Unlock()
			return hw.Reply{}, bad("", "%d does not fit a counter's 63 bits", call.B)
		}
		k.value, k.quarter = call.B, 0
	case countRead, countClose:
	default:
		k.mu.Unlock()
		return hw.Reply{}, bad("", "%d is nothing that a counter does", call.A)
	}
	k.mu.Unlock()
	if call.A == countClose {
		for _, k := range g.take(func(o *counter) bool { return o == k }) {
			k.close()
		}
	}
	return hw.Reply{Value: value}, nil
}
