package client

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/pal-terminal/pal/limits"
	"github.com/pal-terminal/pal/protocol"
)

// subscription is one reader of events. All but stop, wake and out is guarded by Client.mu.
type subscription struct {
	names   []string // empty: all
	active  bool     // the terminal has acknowledged: what comes now was meant for this one
	newest  uint64   // seq of the newest event that was queued, so that a replay for another one brings nothing twice
	queue   []protocol.Event
	lost    uint64 // events lost since the last one queued
	stopped bool

	stop chan struct{}
	wake chan struct{} // of size one
	out  chan protocol.Event
}

// Subscribe asks for events by name, "*" or no name being all of them, and returns them in order. since, when not nil, replays what
// the terminal still holds after that seq. ctx bounds the request only; cancel ends the subscription, and must be called.
//
// A reader that falls behind by more than limits.EventRing, which is what a replay brings at once, loses the oldest; the next
// event's Dropped counts how many, together with those the terminal dropped. The channel is closed by cancel, by Close, and
// when the connection has ended and what came before was read.
func (c *Client) Subscribe(ctx context.Context, names []string, since *uint64) (events <-chan protocol.Event, cancel func(), err error) {
	s := &subscription{
		names: slices.Clone(names),
		stop:  make(chan struct{}),
		wake:  make(chan struct{}, 1),
		out:   make(chan protocol.Event),
	}
	if len(names) == 0 || slices.Contains(names, "*") {
		s.names = nil
	}
	answer, err := c.subscribe(ctx, s, since)
	if err == nil {
		err = subscribed(answer)
	}
	if err != nil {
		c.cancel(s)
		return nil, nil, err
	}
	c.mu.Lock()
	if s.stopped { // by Close
		c.mu.Unlock()
		close(s.out)
		return s.out, func() {}, nil
	}
	c.pumps.Add(1)
	c.mu.Unlock()
	go c.pump(s)
	return s.out, func() { c.cancel(s) }, nil
}

// subscribe registers s and asks the terminal.
func (c *Client) subscribe(ctx context.Context, s *subscription, since *uint64) (protocol.Answer, error) {
	c.listing.Lock()
	c.mu.Lock()
	c.subs[s] = struct{}{}
	// The terminal has one list for each connection. Asking for all that is wanted here is right whether it adds or replaces.
	for _, name := range s.wanted() {
		c.names[name] = struct{}{}
	}
	body := &protocol.Subscribe{Events: slices.Sorted(maps.Keys(c.names)), Since: since}
	c.mu.Unlock()
	waiting := &call{accepted: func() { s.active = true }}
	id, err := c.send(ctx, protocol.TypeSubscribe, body, waiting)
	c.listing.Unlock()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", protocol.TypeSubscribe, err)
	}
	return c.wait(ctx, id, protocol.TypeSubscribe, waiting)
}

// subscribed returns nil when the answer is the terminal's consent.
func subscribed(answer protocol.Answer) error {
	switch a := answer.(type) {
	case *protocol.Ack:
		return nil
	case *protocol.Result:
		if err := Refusal(a); err != nil {
			return err
		}
	}
	return unexpected(protocol.TypeSubscribe, answer)
}

func (s *subscription) wanted() []string {
	if s.names == nil {
		return []string{"*"}
	}
	return s.names
}

// cancel ends a subscription. With the last one the terminal is told to send no more; until then what nobody wants any more is
// dropped here, because a list that is shared is not worth taking apart.
func (c *Client) cancel(s *subscription) {
	c.listing.Lock()
	defer c.listing.Unlock()
	c.mu.Lock()
	c.dropLocked(s)
	var names []string
	if len(c.subs) == 0 && c.err == nil {
		names = slices.Sorted(maps.Keys(c.names))
		clear(c.names)
	}
	c.mu.Unlock()
	if len(names) == 0 {
		return
	}
	id, err := c.send(c.life, protocol.TypeUnsubscribe, &protocol.Subscribe{Events: names}, &call{})
	if err == nil {
		c.forget(id) // the answer says nothing that could be acted on
	}
}

func (c *Client) dropLocked(s *subscription) {
	delete(c.subs, s)
	if !s.stopped {
		s.stopped = true
		close(s.stop)
	}
}

// deliverLocked queues an event for everybody who wants it.
func (c *Client) deliverLocked(e *protocol.Event) {
	for s := range c.subs {
		if s.active {
			s.put(*e)
		}
	}
}

func (s *subscription) put(e protocol.Event) {
	if e.Seq != 0 {
		if e.Seq <= s.newest {
			return
		}
		s.newest = e.Seq
	}
	if s.names != nil && !slices.Contains(s.names, e.Event) {
		s.lost += e.Dropped // what the terminal dropped before it may have been ours
		return
	}
	e.Dropped += s.lost
	s.lost = 0
	s.queue = append(s.queue, e)
	if len(s.queue) > limits.EventRing {
		s.queue[1].Dropped += s.queue[0].Dropped + 1
		s.queue[0] = protocol.Event{} // let go of its data
		s.queue = s.queue[1:]
	}
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// pump moves a subscription's events to its reader.
func (c *Client) pump(s *subscription) {
	defer c.pumps.Done()
	defer close(s.out)
	for {
		e, ok := c.next(s)
		if !ok {
			return
		}
		select {
		case s.out <- e:
		case <-s.stop:
			return
		}
	}
}

// next waits for the next event of s; false when there will be none.
func (c *Client) next(s *subscription) (protocol.Event, bool) {
	for over := false; ; {
		c.mu.Lock()
		if len(s.queue) > 0 {
			e := s.queue[0]
			s.queue = s.queue[1:]
			c.mu.Unlock()
			return e, true
		}
		c.mu.Unlock()
		if over {
			return protocol.Event{}, false
		}
		select {
		case <-s.wake:
		case <-s.stop:
			return protocol.Event{}, false
		case <-c.done: // the reader has queued its last
			over = true
		}
	}
}
