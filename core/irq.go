package core

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pal-terminal/pal/hw"
	"github.com/pal-terminal/pal/limits"
	"github.com/pal-terminal/pal/pin"
	"github.com/pal-terminal/pal/toolset"
)

// armKey says what an interrupt is about: a pin, a timer of the program, a bus. Each has one handler, as a board has one
// vector for each.
type armKey struct {
	source hw.Source
	number uint16
}

// registration is one armed interrupt: who armed it, for which session of which machine.
type registration struct {
	key        armKey
	caller     pin.Caller
	session    string
	generation uint64
	epoch      uint64 // of the e-stop: what was armed before a release drives nothing after it
	once       bool   // a timer that is due once
	cancel     func() // ends what calls edge; it does not wait for a call under way
	off        atomic.Bool
	lost       atomic.Uint32 // edges that found no room since the last one that did
	again      atomic.Bool   // an edge of a UART that found no room is tried once more
	waiting    bool          // it has an edge in queue.edges; owned by the admission goroutine
}

// irqs holds the armed interrupts.
type irqs struct {
	mu    sync.Mutex // guards armed; taken before the locks of pin table and bus gate, which call edge
	armed map[armKey]*registration
}

// forget disarms the interrupts that match.
func (q *irqs) forget(match func(*registration) bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for key, r := range q.armed {
		if match(r) {
			delete(q.armed, key)
			r.off.Store(true)
			r.cancel()
		}
	}
}

// forget closes and disarms what callers have that are gone.
func (c *Core) forget(match func(pin.Caller) bool) {
	c.irqs.forget(func(r *registration) bool { return match(r.caller) })
	c.tools.Load().Drop(func(o toolset.Owner) bool { return match(pin.Caller{Name: o.Actor, Machine: MachineAgent}) })
	c.cfg.Bus.Forget(match)
}

// forgetActor closes and disarms what an actor has.
func (c *Core) forgetActor(name string) {
	c.forget(func(o pin.Caller) bool { return o.Name == name })
}

// forgetSessions drops what code of namespaces armed and offered that are gone.
func (c *Core) forgetSessions(keys []string) {
	c.irqs.forget(func(r *registration) bool { return slices.Contains(keys, r.session) })
	c.tools.Load().Drop(func(o toolset.Owner) bool { return slices.Contains(keys, o.Key) })
}

// arm starts, changes or ends an interrupt for the code behind s. Only the runner comes here. The set-up of board.py, which belongs
// to no run, arms none in either mode: its handler would have board.py's rights in a machine where others can change what it calls.
func (c *Core) arm(s *sink, call hw.Call) error {
	if s.caller.Machine != MachineAgent || s.caller.Run == 0 {
		rule, message := "board.no_irq", "board.py cannot arm interrupts; its functions run when they are called"
		if s.caller.Machine == MachineTasks {
			rule, message = "task.no_irq", "a task arms no interrupts and timers: it runs when it is due, by its brief"
		}
		return &pin.Refusal{Errno: errnoACCES, Code: "denied", Rule: rule, Message: message}
	}
	r := &registration{caller: s.caller, session: s.session, generation: c.agent.vm.Generation(), epoch: s.epoch}
	r.key = armKey{map[hw.Op]hw.Source{hw.OpPinIRQ: hw.SourcePin, hw.OpTimer: hw.SourceTimer, hw.OpUARTIRQ: hw.SourceUART}[call.Op], call.Pin}
	old := func(o *registration) bool { return o.key == r.key }
	if call.A == 0 {
		c.irqs.forget(old)
		return nil
	}
	var err error
	switch call.Op {
	case hw.OpPinIRQ:
		r.cancel, err = c.cfg.Table.Watch(s.caller, pin.Handle(call.Pin), hw.Edges(clampByte(call.A)), func(e hw.Edge) { c.edge(r, e) })
	case hw.OpUARTIRQ:
		r.cancel, err = c.cfg.Bus.Watch(s.caller, call.Pin, func() { c.edge(r, c.edgeOf(r)) })
	default:
		err = c.armTimer(r, call)
	}
	if err != nil {
		return err
	}
	c.irqs.forget(old)
	c.irqs.mu.Lock()
	defer c.irqs.mu.Unlock()
	c.irqs.armed[r.key] = r
	return nil
}

// edgeOf is an edge of now, of a source that has no more to tell.
func (c *Core) edgeOf(r *registration) hw.Edge {
	return hw.Edge{Source: r.key.source, Pin: r.key.number, AtUS: time.Since(c.booted).Microseconds()}
}

// armTimer starts a timer of a program. Its turns are counted from the start: one that comes late does not move the others.
func (c *Core) armTimer(r *registration, call hw.Call) error {
	least := limits.TimerLeast.Microseconds()
	r.once = call.B == 0
	if r.once {
		call.A = max(call.A, least)
	}
	if call.A < least || call.A > limits.TimerLongest.Microseconds() {
		return &pin.Refusal{
			Errno: errnoINVAL, Code: "bad_request", Rule: "timer.period",
			Message: fmt.Sprintf("the period of a timer is from %v to %v", limits.TimerLeast, limits.TimerLongest),
		}
	}
	c.irqs.mu.Lock()
	n := 0
	for key := range c.irqs.armed {
		if key.source == hw.SourceTimer && key != r.key {
			n++
		}
	}
	c.irqs.mu.Unlock()
	if n >= limits.Timers {
		return &pin.Refusal{Errno: errnoNOMEM, Code: "full", Rule: "timer.number", Message: fmt.Sprintf("%d timers run already", n)}
	}
	period, start, turns := time.Duration(call.A)*time.Microsecond, time.Now(), time.Duration(0)
	var timer *time.Timer
	timer = time.AfterFunc(limits.TimerLongest, func() { // reset below, once timer is set
		now := time.Since(start) / period
		e := c.edgeOf(r)
		e.Lost = uint32(min(now-turns-1, 1<<31))
		turns = now
		if !r.off.Load() && !r.once {
			timer.Reset(time.Until(start.Add((turns + 1) * period)))
		}
		c.edge(r, e)
	})
	timer.Reset(period)
	r.cancel = func() { timer.Stop() }
	return nil
}

// edge takes in a level change, a turn of a timer, bytes. Who calls it must not wait: without room the edge is counted and
// told with the next one that finds room.
func (c *Core) edge(r *registration, e hw.Edge) {
	if r.off.Load() {
		return
	}
	lost := r.lost.Swap(0)
	e.Label, e.Lost = r.session, e.Lost+lost
	if c.tryPost(func() { c.queue.edge(c, r, e) }) {
		return
	}
	r.lost.Add(e.Lost + 1)
	// Arrivals: this one may be the last, and its bytes would never be read.
	if r.key.source == hw.SourceUART && c.ctx.Err() == nil && r.again.CompareAndSwap(false, true) {
		time.AfterFunc(limits.TimerLeast, func() { r.again.Store(false); c.edge(r, c.edgeOf(r)) })
	}
}

// edge delivers an edge to the running exec, or lets the idle machine handle it. A handler runs within the exec of its own
// actor only: within another's, its hardware calls would be made with that one's rights. Edges of a pin are kept in a line; a
// timer or a UART has one in it at most, since another would tell nothing new.
func (q *queue) edge(c *Core, r *registration, e hw.Edge) {
	// Its machine was lost in the moment of arming, or the e-stop was released.
	if now := c.cfg.Table.Epoch(); r.generation != c.agent.vm.Generation() || r.epoch != now && now&1 == 0 {
		c.irqs.forget(func(o *registration) bool { return o == r })
		return
	}
	if j := q.running; j != nil && j.who.Actor.Name == r.caller.Name && c.agent.vm.Edge(e) {
		r.done(c)
		return
	}
	if r.key.source == hw.SourcePin && len(q.edges) >= limits.EdgeQueue || r.key.source != hw.SourcePin && r.waiting {
		r.lost.Add(e.Lost + 1)
		return
	}
	r.waiting = true
	q.edges = append(q.edges, &edgeJob{reg: r, edge: e})
	q.next(c)
}

// done ends a timer that was due once, when its edge was delivered.
func (r *registration) done(c *Core) {
	if r.once {
		c.irqs.forget(func(o *registration) bool { return o == r })
	}
}
