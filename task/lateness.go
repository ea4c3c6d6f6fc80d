package task

import (
	"math"
	"slices"
	"time"

	"github.com/pal-terminal/pal/limits"
	"github.com/pal-terminal/pal/protocol"
)

// lateness keeps by how much runs started after their time, in microseconds.
type lateness struct {
	count   uint64
	longest int64
	newest  []uint32 // a ring when it is full
}

func (l *lateness) add(d time.Duration) {
	us := max(d.Microseconds(), 0)
	l.longest = max(l.longest, us)
	sample := uint32(min(us, math.MaxUint32))
	if len(l.newest) < limits.TaskLateness {
		l.newest = append(l.newest, sample)
	} else {
		l.newest[l.count%limits.TaskLateness] = sample
	}
	l.count++
}

// figures sorts l.newest: it is called on a copy.
func (l *lateness) figures() *protocol.Lateness {
	if l.count == 0 {
		return nil
	}
	slices.Sort(l.newest)
	at := func(percent int) int64 { return int64(l.newest[(len(l.newest)*percent+99)/100-1]) }
	return &protocol.Lateness{Count: l.count, P50US: at(50), P99US: at(99), MaxUS: l.longest}
}
