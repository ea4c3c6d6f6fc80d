package micropython

import (
	"github.com/pal-terminal/pal/hw"
	"github.com/pal-terminal/pal/limits"
)

// edgeQueue holds what handlers are still to be run for, oldest first. Of a timer or a UART there is one entry at most: a callback
// slower than its timer runs once for all the turns that it missed, and the program in between goes on.
type edgeQueue struct {
	ring         [limits.EdgeQueue]hw.Edge
	first, count int
	lost         map[int64]uint32 // by edgeKey: what did not fit, to be told with the next one
	turn         int              // edges that the handlers may still take before the program goes on; -1 between two turns
}

// edgeKey is what handlers are found by.
func edgeKey(s hw.Source, number uint16) int64 { return int64(s)<<16 | int64(number) }

func (q *edgeQueue) at(k int) *hw.Edge { return &q.ring[(q.first+k)%len(q.ring)] }

// reset forgets what waits. What was lost is still told.
func (q *edgeQueue) reset() { q.first, q.count, q.turn = 0, 0, -1 }

func (q *edgeQueue) put(e hw.Edge) {
	key := edgeKey(e.Source, e.Pin)
	if q.count == len(q.ring) || e.Source != hw.SourcePin && q.has(key) {
		q.miss(e)
		return
	}
	e.Lost += q.lost[key]
	delete(q.lost, key)
	*q.at(q.count) = e
	q.count++
}

// miss counts an edge that no handler will see. Bytes of a UART are not lost with it.
func (q *edgeQueue) miss(e hw.Edge) {
	if e.Source == hw.SourceUART {
		return
	}
	if q.lost == nil {
		q.lost = map[int64]uint32{}
	}
	q.lost[edgeKey(e.Source, e.Pin)] += 1 + e.Lost
}

func (q *edgeQueue) has(key int64) bool {
	for k := range q.count {
		if e := q.at(k); edgeKey(e.Source, e.Pin) == key {
			return true
		}
	}
	return false
}

// take removes the oldest. Only what waited when the turn began is given out: edges that come faster than their handlers run must
// not keep the program from going on.
func (q *edgeQueue) take() (e hw.Edge, ok bool) {
	if q.turn < 0 {
		q.turn = q.count
	}
	if q.turn == 0 || q.count == 0 {
		q.turn = -1
		return hw.Edge{}, false
	}
	q.turn--
	e = q.ring[q.first]
	q.first = (q.first + 1) % len(q.ring)
	q.count--
	return e, true
}

// drop removes what waits of one source, and forgets what of it was lost.
func (q *edgeQueue) drop(key int64) {
	kept := 0
	for k := range q.count {
		if e := *q.at(k); edgeKey(e.Source, e.Pin) != key {
			*q.at(kept) = e
			kept++
		}
	}
	q.count, q.turn = kept, min(q.turn, kept)
	delete(q.lost, key)
}

// queueEdge keeps an edge for the running job. When no job runs it is counted as lost.
func (m *machine) queueEdge(e hw.Edge) {
	if !m.running {
		m.edges.miss(e)
		return
	}
	m.edges.put(e)
}

// scheduleHandlers asks the engine to run the handlers between two bytecodes. Programs have no way to the engine's queue but
// by forcing one (micropython.schedule as they know it is the library's); who fills it has forfeited the machine.
func (m *machine) scheduleHandlers() {
	if m.scheduled || !m.inGuest || !m.kicked && m.posting.owed == nil && (m.edges.count == 0 || m.masked) {
		return
	}
	const pythonNone = 3 // any small integer serves as argument; this is 1
	m.eng.args[0], m.eng.args[1] = uint64(m.drain), pythonNone
	if err := m.eng.schedule.CallWithStack(m.ctx, m.eng.args[:]); err != nil {
		panic(fatal{"schedule interrupt handlers: " + err.Error()})
	}
	if m.eng.unwinding.Get() != 0 {
		panic(fatal{"the program filled the engine's callback queue"})
	}
	m.scheduled = true
}

// takeEdge starts on the next edge: its value is the edge's key, or -1 when the handlers' turn is over.
func (m *machine) takeEdge([]record) record {
	if m.inGuest && !m.masked {
		if e, ok := m.edges.take(); ok {
			m.edge = e
			return integer(edgeKey(e.Source, e.Pin))
		}
	}
	m.edges.turn = -1
	m.scheduled, m.kicked = false, false
	return integer(-1)
}

// handlersBroke says that running the handlers ended early: by an interrupt (1), which is meant for the program and is raised
// again there, or for want of memory (0). What waits is run the next time.
func (m *machine) handlersBroke(a []record) record {
	m.scheduled, m.edges.turn = false, -1
	m.wanted = m.wanted || a[0].number() != 0
	return null
}

// maskHandlers holds handlers back (1) or lets them run (0) and answers whether they were held before.
func (m *machine) maskHandlers(a []record) record {
	was := m.masked
	m.masked = a[0].number() != 0
	m.scheduleHandlers()
	return flag(was)
}
