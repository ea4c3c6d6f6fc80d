package client

import (
	"runtime"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/pal-terminal/pal/limits"
	"github.com/pal-terminal/pal/protocol"
	"github.com/pal-terminal/pal/transport/transporttest"
)

// acking acknowledges subscriptions and answers everything else politely.
func acking(f *fake, r *protocol.Request) {
	switch r.Type {
	case protocol.TypeSubscribe, protocol.TypeUnsubscribe:
		f.ack(r)
	default:
		polite(f, r)
	}
}

func wantEvents(t *testing.T, events <-chan protocol.Event, want ...uint64) {
	t.Helper()
	var got []uint64
	for range want {
		e, ok := <-events
		if !ok {
			break
		}
		got = append(got, e.Seq)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("seqs of events (-want +got):\n%s", diff)
	}
}

func mustSubscribe(t *testing.T, c *Client, since *uint64, names ...string) (<-chan protocol.Event, func()) {
	t.Helper()
	events, cancel, err := c.Subscribe(t.Context(), names, since)
	if err != nil {
		t.Fatalf("Subscribe: %v", err)
	}
	return events, cancel
}

// TestSubscribe: subscribers of one connection get what each asked for, once, in order, also when a replay for one of them passes.
func TestSubscribe(t *testing.T) {
	c, f := overPipe(t, acking)
	all, cancelAll := mustSubscribe(t, c, nil)
	f.event(10, "pin_change")
	f.event(11, "trip")
	wantEvents(t, all, 10, 11)

	since := uint64(8)
	trips, cancelTrips := mustSubscribe(t, c, &since, "trip", "estop")
	for _, e := range []struct {
		seq  uint64
		name string
	}{{9, "trip"}, {10, "pin_change"}, {11, "trip"}, {12, "pin_change"}, {13, "estop"}} {
		f.event(e.seq, e.name)
	}
	wantEvents(t, trips, 9, 11, 13)
	wantEvents(t, all, 12, 13)

	want := []any{
		&protocol.Subscribe{Events: []string{"*"}},
		&protocol.Subscribe{Events: []string{"*", "estop", "trip"}, Since: &since},
	}
	var got []any
	for _, r := range f.requests(protocol.TypeSubscribe) {
		got = append(got, r.Body)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("subscribe requests (-want +got):\n%s", diff)
	}

	cancelAll()
	cancelAll() // twice is fine
	if e, ok := <-all; ok {
		t.Errorf("after cancel: got %+v, want the channel closed", e)
	}
	f.event(14, "trip")
	wantEvents(t, trips, 14)
	if got := len(f.requests(protocol.TypeUnsubscribe)); got != 0 {
		t.Errorf("unsubscribe while another one reads: got %d requests, want none", got)
	}
	cancelTrips()
	if err := c.Ping(t.Context()); err != nil { // the terminal has read everything before it
		t.Fatalf("Ping: %v", err)
	}
	unsubscribed := f.requests(protocol.TypeUnsubscribe)
	if len(unsubscribed) != 1 {
		t.Fatalf("unsubscribe after the last cancel: got %d requests, want 1", len(unsubscribed))
	}
	if diff := cmp.Diff(&protocol.Subscribe{Events: []string{"*", "estop", "trip"}}, unsubscribed[0].Body); diff != "" {
		t.Errorf("unsubscribe (-want +got):\n%s", diff)
	}
}

// TestSubscribeReplayAtOnce: events that come in the same breath as the acknowledgement are not lost.
func TestSubscribeReplayAtOnce(t *testing.T) {
	c, _ := overPipe(t, func(f *fake, r *protocol.Request) {
		f.event(4, "boot") // before the acknowledgement: somebody else's
		acking(f, r)
		f.event(5, "boot")
		f.event(6, "boot")
	})
	since := uint64(4)
	events, cancel := mustSubscribe(t, c, &since)
	defer cancel()
	wantEvents(t, events, 5, 6)
}

// TestSlowSubscriber: who does not read loses the oldest, is told how many in the right place, and holds up nobody.
func TestSlowSubscriber(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, f := overPipe(t, acking)
		slow, cancelSlow := mustSubscribe(t, c, nil)
		defer cancelSlow()
		const over = 7
		const n = 1 + limits.EventRing + over // one is in the hand of the pump
		f.event(1, "pin_change")
		synctest.Wait()
		for seq := uint64(2); seq <= n; seq++ {
			f.event(seq, "pin_change")
		}
		if err := c.Ping(t.Context()); err != nil {
			t.Fatalf("Ping: %v", err)
		}
		var dropped, got uint64
		for want := uint64(1); want <= n; want++ {
			e := <-slow
			dropped += e.Dropped
			got++
			if e.Seq != want+dropped {
				t.Fatalf("event %d: got seq %d with %d dropped so far, want seq %d", got, e.Seq, dropped, want+dropped)
			}
			if e.Seq == n {
				break
			}
		}
		if dropped != over || got != n-over {
			t.Errorf("got %d events and %d dropped, want %d and %d", got, dropped, n-over, over)
		}
	})
}

// TestDroppedByTerminal: losses that the terminal reports with an event of another name reach the subscriber too.
func TestDroppedByTerminal(t *testing.T) {
	c, f := overPipe(t, acking)
	trips, cancel := mustSubscribe(t, c, nil, "trip")
	defer cancel()
	id := "evt_1"
	h := protocol.NewHeader(&id, protocol.AnswerEvent)
	f.say(&protocol.Event{Header: h, Event: "pin_change", Seq: 9, Dropped: 3})
	f.say(&protocol.Event{Header: h, Event: "trip", Seq: 12, Dropped: 2})
	f.say(&protocol.Event{Header: h, Event: "trip", Seq: 13})
	if got := (<-trips).Dropped; got != 5 {
		t.Errorf("Dropped: got %d, want 5", got)
	}
	if got := (<-trips).Dropped; got != 0 {
		t.Errorf("Dropped of the next: got %d, want 0", got)
	}
}

// TestEventsBeforeEnd: what came before the connection ended is read first, then the channel is closed.
func TestEventsBeforeEnd(t *testing.T) {
	c, f := overPipe(t, acking)
	events, cancel := mustSubscribe(t, c, nil)
	defer cancel()
	for seq := uint64(1); seq <= 20; seq++ {
		f.event(seq, "boot")
	}
	f.hangUp("shutting down")
	<-c.Done()
	for want := uint64(1); want <= 20; want++ {
		wantEvents(t, events, want)
	}
	if e, ok := <-events; ok {
		t.Errorf("after the last: got %+v, want the channel closed", e)
	}
}

// TestCloseLeavesNothing: Close waits for everything the client started, also for subscriptions nobody reads or cancels.
func TestCloseLeavesNothing(t *testing.T) {
	goroutines := runtime.NumGoroutine()
	t.Run("use", func(t *testing.T) {
		for range 10 {
			c, f := overPipe(t, acking)
			events, _ := mustSubscribe(t, c, nil)
			f.event(1, "boot")
			if err := c.Ping(t.Context()); err != nil {
				t.Fatalf("Ping: %v", err)
			}
			if err := c.Close(); err != nil {
				t.Errorf("Close: %v", err)
			}
			for range events { // closed, after at most what was under way
			}
		}
	})
	transporttest.Eventually(t, "no goroutine is left", func() bool { return runtime.NumGoroutine() <= goroutines })
}
