package sim

import (
	"container/heap"
	"time"
)

// idleLag is how late the agenda may be served while nobody watches a line or a UART: then nothing is missed by it, and a device
// that does a thousand things a second costs ten turns.
const idleLag = 100 * time.Millisecond

// event is something that is going to happen on the bench.
type event struct {
	due   time.Time // by the host's clock
	seq   uint64    // order of events that are due together
	f     func()
	u     *unit // whose it is; nil: the bench's
	index int   // in the heap, -1 when it is not there
}

// queue is a heap of events, the next one first.
type queue []*event

func (q queue) Len() int { return len(q) }
func (q queue) Less(i, j int) bool {
	if q[i].due.Equal(q[j].due) {
		return q[i].seq < q[j].seq
	}
	return q[i].due.Before(q[j].due)
}
func (q queue) Swap(i, j int) {
	q[i], q[j] = q[j], q[i]
	q[i].index, q[j].index = i, j
}
func (q *queue) Push(x any) {
	e := x.(*event)
	e.index = len(*q)
	*q = append(*q, e)
}
func (q *queue) Pop() any {
	old := *q
	e := old[len(old)-1]
	old[len(old)-1] = nil
	*q = old[:len(old)-1]
	e.index = -1
	return e
}

// now returns the host's time, the same all through one access and, within an event, the time it was due. Callers hold mu.
func (b *Board) now() time.Time {
	if !b.sampled {
		b.at, b.sampled = b.o.Now(), true
	}
	return b.at
}

// schedule has f called at t, or as soon as possible when that has passed. Callers hold mu.
func (b *Board) schedule(t time.Time, u *unit, f func()) *event {
	if now := b.now(); t.Before(now) {
		t = now
	}
	b.seq++
	e := &event{due: t, seq: b.seq, f: f, u: u}
	heap.Push(&b.agenda, e)
	return e
}

// drop takes an event off the agenda, if it is there. Callers hold mu.
func (b *Board) drop(e *event) {
	if e.index >= 0 {
		heap.Remove(&b.agenda, e.index)
		e.index = -1
	}
}

// run does everything that is due. Callers hold mu.
func (b *Board) run(now time.Time) {
	for len(b.agenda) > 0 && !b.agenda[0].due.After(now) {
		e := heap.Pop(&b.agenda).(*event)
		if e.u != nil {
			e.u.pending--
		}
		b.at, b.sampled = e.due, true
		e.f()
	}
	b.at, b.sampled = now, true
}

// enter takes mu and brings the bench up to the present. It fails when the board is closed; otherwise the caller calls leave.
func (b *Board) enter() error {
	b.mu.Lock()
	if b.done {
		b.mu.Unlock()
		return errClosed
	}
	if len(b.agenda) > 0 {
		b.run(b.o.Now())
	}
	return nil
}

// leave does what the access has made due, sees to it that the rest is done in time, and gives mu back.
func (b *Board) leave() {
	if len(b.agenda) > 0 {
		b.run(b.now())
		b.arm()
	}
	b.sampled = false
	b.mu.Unlock()
}

// arm sets the timer to the next event, unless it goes off before that anyway.
func (b *Board) arm() {
	if len(b.agenda) == 0 {
		return
	}
	due := b.agenda[0].due
	if b.watchers == 0 {
		due = due.Add(idleLag)
	}
	if !b.armed.IsZero() && !due.Before(b.armed) {
		return
	}
	if b.timer != nil && b.timer.Stop() {
		b.firing.Done()
	}
	b.armed = due
	b.firing.Add(1)
	b.timer = time.AfterFunc(due.Sub(b.o.Now()), b.fire)
}

// fire is called by the timer.
func (b *Board) fire() {
	defer b.firing.Done()
	b.mu.Lock()
	if b.done {
		b.mu.Unlock()
		return
	}
	b.armed = time.Time{}
	b.run(b.o.Now())
	b.leave()
}

// disarm stops the timer for good and waits until it does nothing any more. Callers have set done and do not hold mu.
func (b *Board) disarm() {
	if b.timer != nil && b.timer.Stop() {
		b.firing.Done()
	}
	b.firing.Wait()
}
