package events

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/pal-terminal/pal/limits"
	"github.com/pal-terminal/pal/protocol"
)

// drain reads what is there without waiting.
func drain(r *Reader) (seqs []uint64, lost uint64) {
	for {
		ev, ok := r.Next()
		if !ok {
			return seqs, lost
		}
		lost += ev.Dropped
		seqs = append(seqs, ev.Seq)
	}
}

// read waits for the next event, as the write loop does.
func (r *Reader) read(ctx context.Context) (protocol.Event, error) {
	for {
		select {
		case <-r.Wake:
			if ev, ok := r.Next(); ok {
				return ev, nil
			}
		case <-ctx.Done():
			return protocol.Event{}, context.Cause(ctx)
		}
	}
}

func seq(n uint64) *uint64 { return &n }

func TestEventsSince(t *testing.T) {
	e := New()
	for i := range 5 {
		e.Emit([]string{"a", "b"}[i%2], map[string]any{"i": i})
	}
	for _, test := range []struct {
		name  string
		names []string
		since *uint64
		want  string
	}{
		{"new-only", nil, nil, "[]"},
		{"all", nil, seq(0), "[1 2 3 4 5]"},
		{"since", []string{"*"}, seq(3), "[4 5]"},
		{"by-name", []string{"b"}, seq(0), "[2 4]"},
		{"unknown-name", []string{"nothing"}, seq(0), "[]"},
		{"another-run", nil, seq(99), "[1 2 3 4 5]"},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := e.Reader(test.names, test.since)
			defer r.Stop()
			got, lost := drain(r)
			if fmt.Sprint(got) != test.want || lost != 0 {
				t.Errorf("got %v and %d lost, want %s and none", got, lost, test.want)
			}
		})
	}
}

func TestEventsSlowReader(t *testing.T) {
	e := New()
	r := e.Reader(nil, nil)
	defer r.Stop()
	for range limits.EventRing + 7 {
		e.Emit("x", struct{}{})
	}
	ev, err := r.read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if ev.Dropped != 7 || ev.Seq != 8 {
		t.Errorf("first event after falling behind: got seq %d dropped %d, want 8 and 7", ev.Seq, ev.Dropped)
	}
	ev, err = r.read(t.Context())
	if err != nil || ev.Dropped != 0 || ev.Seq != 9 {
		t.Errorf("the next: got seq %d dropped %d (%v), want 9 and 0", ev.Seq, ev.Dropped, err)
	}
}

func TestEventsRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := New()
		r := e.Reader([]string{"wanted"}, nil)
		r.Start()
		defer r.Stop()
		ctx, cancel := context.WithCancelCause(t.Context())
		got := make(chan string, 1)
		go func() {
			ev, err := r.read(ctx)
			if err != nil {
				got <- err.Error()
				return
			}
			got <- ev.Event
			_, err = r.read(ctx)
			got <- err.Error()
		}()
		e.Emit("other", struct{}{})
		synctest.Wait()
		if len(got) != 0 {
			t.Fatalf("an event of another name woke the reader: %s", <-got)
		}
		e.Emit("wanted", struct{}{})
		if g := <-got; g != "wanted" {
			t.Errorf("got %s, want wanted", g)
		}
		cancel(errors.New("enough"))
		if g := <-got; g != "enough" {
			t.Errorf("after cancel: got %s, want enough", g)
		}
	})
}

func TestEventsBadData(t *testing.T) {
	e := New()
	e.Emit("x", func() {})
	e.Emit("y", []int{1})
	r := e.Reader(nil, seq(0))
	defer r.Stop()
	for range 2 {
		ev, _ := r.Next()
		if len(ev.Data) == 0 || ev.Data[0] != '{' {
			t.Errorf("data of %s: got %s, want an object", ev.Event, ev.Data)
		}
	}
}

func TestHammerEvents(t *testing.T) {
	e := New()
	var wg sync.WaitGroup
	const writers, each = 4, 2000
	for range writers {
		wg.Go(func() {
			for range each {
				e.Emit("x", struct{}{})
			}
		})
	}
	for range 3 {
		r := e.Reader(nil, seq(0))
		r.Start()
		wg.Go(func() {
			defer r.Stop()
			var next, lost uint64
			for next < writers*each {
				ev, err := r.read(t.Context())
				if err != nil {
					t.Errorf("read: %v", err)
					return
				}
				if ev.Seq != next+ev.Dropped+1 {
					t.Errorf("got seq %d after %d with %d dropped", ev.Seq, next, ev.Dropped)
					return
				}
				next, lost = ev.Seq, lost+ev.Dropped
			}
		})
	}
	wg.Wait()
}

// A flood of one program must not wash what the guard did out of sight.
func TestEventsGraveOutlastFloods(t *testing.T) {
	e := New()
	e.Emit("boot", struct{}{})
	e.Emit("estop", struct{}{})
	const flood = 5000
	for range flood {
		e.Emit("user:x", struct{}{})
	}
	e.Emit("trip", struct{}{})
	r := e.Reader(nil, seq(0))
	var names []string
	var last, lost, count uint64
	for {
		ev, ok := r.Next()
		if !ok {
			break
		}
		if ev.Seq <= last {
			t.Fatalf("got seq %d after %d", ev.Seq, last)
		}
		last, lost, count = ev.Seq, lost+ev.Dropped, count+1
		if ev.Event != "user:x" {
			names = append(names, ev.Event)
		}
	}
	if got := fmt.Sprint(names); got != "[boot estop trip]" {
		t.Errorf("got %s, want all of the guard's own", got)
	}
	if count != limits.EventRing+3 || lost != flood-limits.EventRing {
		t.Errorf("got %d events and %d lost, want %d and %d", count, lost, limits.EventRing+3, flood-limits.EventRing)
	}
}
