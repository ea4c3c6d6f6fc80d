package conns

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pal-terminal/pal/events"
	"github.com/pal-terminal/pal/limits"
)

// fake is a link that keeps what is written, or takes nothing.
type fake struct {
	mu     sync.Mutex
	wrote  []string
	closed string
	hang   bool
}

func (f *fake) Read(ctx context.Context) ([]byte, error) { <-ctx.Done(); return nil, ctx.Err() }

func (f *fake) Write(ctx context.Context, message []byte) error {
	if f.hang {
		<-ctx.Done()
		return ctx.Err()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.wrote = append(f.wrote, string(message))
	return nil
}

func (f *fake) Close(reason string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = reason
	return nil
}

func place(t *testing.T, s *Places, actor string) *Conn {
	t.Helper()
	k := New(t.Context(), &fake{}, Peer{})
	t.Cleanup(k.End)
	if !s.Take(k, actor) {
		return nil
	}
	return k
}

// Regular places run out, then each actor has one of the reserved, and a place that is given up is another's.
func TestPlaces(t *testing.T) {
	var s Places
	var regular []*Conn
	for range limits.Connections {
		regular = append(regular, place(t, &s, "a"))
	}
	first := place(t, &s, "a")
	if first == nil || !s.Reserved(first) {
		t.Fatal("the first beyond the limit got no reserved place")
	}
	if place(t, &s, "a") != nil {
		t.Error("an actor got two reserved places")
	}
	if k := place(t, &s, "b"); k == nil || !s.Reserved(k) {
		t.Error("another actor got no reserved place")
	}
	if s.Room("c") {
		t.Error("there is room when all places are taken")
	}
	if s.Release(regular[0]); !s.Room("c") || s.Has(regular[0].ID) {
		t.Error("a place that was given up is still taken")
	}
	for range limits.Unidentified {
		if place(t, &s, "") == nil {
			t.Fatal("an unidentified connection got no place")
		}
	}
	if place(t, &s, "") != nil {
		t.Error("too many unidentified connections got a place")
	}
	if list := s.List(); len(list) != limits.Connections-1+2+limits.Unidentified || list[0].ID > list[1].ID {
		t.Errorf("got %d connections listed", len(list))
	}
	if s.Shut("over"); s.Room("c") || context.Cause(first.Ctx) == nil {
		t.Error("after the end there is room, or a connection lives")
	}
}

// Those that may not stay are ended in time, and one that becomes regular is not.
func TestMayNotStay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s Places
		silent, known := place(t, &s, ""), place(t, &s, "")
		s.Take(known, "a")
		time.Sleep(limits.HelloTimeout + time.Second) //nolint:forbidigo // in a bubble: no fact comes but that time has passed
		if silent.Ctx.Err() == nil || !strings.Contains(context.Cause(silent.Ctx).Error(), "no hello") {
			t.Errorf("a silent connection: %v", context.Cause(silent.Ctx))
		}
		if known.Ctx.Err() != nil {
			t.Errorf("one that said hello: %v", context.Cause(known.Ctx))
		}
	})
}

func TestRefusalsAreToldSeldom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s Places
		told := 0
		for range 100 {
			if _, tell := s.Refuse(); tell {
				told++
			}
		}
		time.Sleep(limits.RefusedConnsReported) //nolint:forbidigo // in a bubble: no fact comes but that time has passed
		if total, tell := s.Refuse(); told != 1 || !tell || total != 101 {
			t.Errorf("told %d of 100, then %v with %d", told, tell, total)
		}
	})
}

// A connection that ends still says what it owes, and why it ends.
func TestGoodbye(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		link := &fake{}
		k := New(t.Context(), link, Peer{})
		for i := range 5 {
			k.Send(fmt.Append(nil, i))
		}
		k.Close("because")
		k.WriteLoop(t.Context(), events.New())
		if got := strings.Join(link.wrote, ""); got != "01234" || link.closed != "because" {
			t.Errorf("wrote %q, closed for %q", got, link.closed)
		}
	})
}

// A peer that does not read is cut, and its write loop ends although the link hangs.
func TestPeerThatDoesNotRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := New(t.Context(), &fake{hang: true}, Peer{})
		done := make(chan struct{})
		go func() { defer close(done); k.WriteLoop(t.Context(), events.New()) }()
		for i := range limits.ConnWriteQueue + 2 {
			k.Send(fmt.Append(nil, i))
		}
		if k.Ctx.Err() == nil {
			t.Error("the connection lives although nothing is read")
		}
		<-done
	})
}

// Half the queue is kept for results: what the read loop asks for waits, what may be lost is lost.
func TestHalfIsKept(t *testing.T) {
	k := New(t.Context(), &fake{}, Peer{})
	for i := range 10 * limits.ConnWriteQueue {
		k.TrySend(fmt.Append(nil, i))
	}
	if k.Ctx.Err() != nil || len(k.out) != limits.ConnWriteQueue/2 {
		t.Fatalf("%d messages queued, %v; want half the queue and a living connection", len(k.out), k.Ctx.Err())
	}
	for i := range limits.ConnWriteQueue / 2 {
		k.Send(fmt.Append(nil, i))
	}
	if k.Ctx.Err() != nil {
		t.Error("results were cut although half the queue is theirs")
	}
	k.Close("done")
	k.SendWait([]byte("late")) // does not wait for ever
}
