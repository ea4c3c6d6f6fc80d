package conns

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pal-terminal/pal/limits"
)

// slotKind is the kind of place a connection holds.
type slotKind int

const (
	slotNone     slotKind = iota
	slotUnknown           // not identified yet
	slotRegular           // one of limits.Connections
	slotReserved          // one of limits.ConnectionsReserved: hello, stop, ping and status only
)

// Places counts and lists connections. The zero value is ready; its methods are safe for concurrent use.
type Places struct {
	mu     sync.Mutex // guards what follows
	conns  map[uint64]*Conn
	next   uint64
	closed bool
	told   time.Time // when refusals were last told as an event

	Refused atomic.Uint64
	Serving sync.WaitGroup // the connections that have a place; whoever served one says when it has ended
}

// Room reports whether actor, "" while nobody is identified, would get a place now.
func (s *Places) Room(actor string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.find(actor) != slotNone
}

// find returns the kind of place that actor would get, with mu held. An actor gets one reserved place at a time: else one that opens
// connections without end would keep everybody's stop out.
func (s *Places) find(actor string) slotKind {
	var used [slotReserved + 1]int
	reserved := false
	for _, k := range s.conns {
		used[k.slot]++
		reserved = reserved || k.slot == slotReserved && k.actor == actor
	}
	switch {
	case s.closed:
		return slotNone
	case actor == "" && used[slotUnknown] < limits.Unidentified:
		return slotUnknown
	case actor != "" && used[slotRegular] < limits.Connections:
		return slotRegular
	case actor != "" && used[slotReserved] < limits.ConnectionsReserved && !reserved:
		return slotReserved
	}
	return slotNone
}

// Take moves k into a place for actor, and reports false when there is none. Unidentified and reserved connections may not stay long.
// Only k's read loop comes here.
func (s *Places) Take(k *Conn, actor string) bool {
	switch s.take(k, actor) {
	case slotNone:
		return false
	case slotUnknown:
		k.endIn(limits.HelloTimeout, "no hello came in time")
	case slotReserved:
		k.endIn(limits.ReservedLife, "all connections are taken; this one was for stop and status")
	case slotRegular:
		k.endIn(0, "")
	}
	return true
}

func (s *Places) take(k *Conn, actor string) slotKind {
	s.mu.Lock()
	defer s.mu.Unlock()
	kind := s.find(actor)
	if kind == slotNone {
		return slotNone
	}
	if k.slot == slotNone {
		if s.conns == nil {
			s.conns = map[uint64]*Conn{}
		}
		s.next++
		k.ID = s.next
		s.conns[k.ID] = k
		s.Serving.Add(1)
	}
	k.slot, k.actor = kind, actor
	return kind
}

// Release gives up k's place, if it has one.
func (s *Places) Release(k *Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.conns, k.ID)
}

// List returns the live connections, oldest first.
func (s *Places) List() []*Conn {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.SortedFunc(maps.Values(s.conns), func(a, b *Conn) int { return cmp.Compare(a.ID, b.ID) })
}

// Has reports whether the connection of that number is live.
func (s *Places) Has(id uint64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.conns[id] != nil
}

// Reserved reports whether k has a place beyond the limit.
func (s *Places) Reserved(k *Conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return k.slot == slotReserved
}

// Refuse counts a refused connection. tell says that it should be told: at most once in limits.RefusedConnsReported, so that a flood does
// not wash the ring.
func (s *Places) Refuse() (total uint64, tell bool) {
	total = s.Refused.Add(1)
	s.mu.Lock()
	defer s.mu.Unlock()
	if tell = time.Since(s.told) >= limits.RefusedConnsReported; tell {
		s.told = time.Now()
	}
	return total, tell
}

// Shut lets no connection in any more and cuts those there are.
func (s *Places) Shut(why string) {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	for _, k := range s.List() {
		k.Close(why)
	}
}
