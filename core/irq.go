package core

import (
	"sync"
	"sync/atomic"

	"github.com/pal-terminal/pal/hw"
	"github.com/pal-terminal/pal/limits"
	"github.com/pal-terminal/pal/pin"
)

// registration is one armed pin interrupt: who armed it, for which session of which machine.
type registration struct {
	handle     pin.Handle
	caller     pin.Caller
	session    string
	generation uint64
	cancel     func()
	off        atomic.Bool
	lost       atomic.Uint32 // edges that found no room since the last one that did
}

// irqs holds the armed interrupts, one for each pin, as a board has one vector for each.
type irqs struct {
	mu    sync.Mutex // guards armed; taken before the locks of the pin table, which calls edge
	armed map[pin.Handle]*registration
}

// forget disarms the interrupts that match, as those of a machine that is gone.
func (q *irqs) forget(match func(*registration) bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for h, r := range q.armed {
		if match(r) {
			delete(q.armed, h)
			r.off.Store(true)
			r.cancel()
		}
	}
}

// forgetActor disarms what an actor armed.
func (c *Core) forgetActor(name string) {
	c.irqs.forget(func(r *registration) bool { return r.caller.Name == name })
}

// arm starts, changes or ends the interrupt of a pin for the code behind s. Only the runner comes here.
func (c *Core) arm(s *sink, h pin.Handle, edges hw.Edges) error {
	if s.caller.Machine != MachineAgent {
		return &pin.Refusal{Errno: errnoACCES, Code: "denied", Rule: "board.no_irq", Message: "board.py cannot arm interrupts; its functions run when they are called"}
	}
	old := func(r *registration) bool { return r.handle == h }
	if edges == 0 {
		c.irqs.forget(old)
		return nil
	}
	r := &registration{handle: h, caller: s.caller, session: s.session, generation: c.agent.vm.Generation()}
	cancel, err := c.cfg.Table.Watch(s.caller, h, edges, func(e hw.Edge) { c.edge(r, e) })
	if err != nil {
		return err
	}
	r.cancel = cancel
	c.irqs.forget(old)
	c.irqs.mu.Lock()
	defer c.irqs.mu.Unlock()
	c.irqs.armed[h] = r
	return nil
}

// edge takes in a level change. The driver calls it and must not wait: without room the change is counted and told with
// the next one that finds room.
func (c *Core) edge(r *registration, e hw.Edge) {
	if r.off.Load() {
		return
	}
	lost := r.lost.Swap(0)
	e.Label, e.Lost = r.session, e.Lost+lost
	if !c.tryPost(func() { c.queue.edge(c, r, e) }) {
		r.lost.Add(lost + 1)
	}
}

// edge delivers a level change to the running exec, or lets the idle machine handle it. A handler runs within the exec of
// its own actor only: within another's, its hardware calls would be made with that one's rights.
func (q *queue) edge(c *Core, r *registration, e hw.Edge) {
	if r.generation != c.agent.vm.Generation() { // its machine was lost in the moment of arming
		c.irqs.forget(func(o *registration) bool { return o == r })
		return
	}
	if j := q.running; j != nil && j.who.actor.Name == r.caller.Name && c.agent.vm.Edge(e) {
		return
	}
	if len(q.edges) >= limits.EdgeQueue {
		r.lost.Add(e.Lost + 1)
		return
	}
	q.edges = append(q.edges, &edgeJob{reg: r, edge: e})
	q.next(c)
}
