package identity

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestHammerStore lets many goroutines make, use and revoke tokens at once. Each holds the store to what it promised that
// goroutine; at the end memory and disk agree.
func TestHammerStore(t *testing.T) {
	const workers, rounds = 8, 40
	d := newMemDisk()
	s := mustOpen(t, d)
	var cuts atomic.Int64
	s.Watch(func(string) { cuts.Add(1) })
	keeper := mustCreate(t, s, "keeper", Human, 0, Read)
	done := make(chan struct{})
	var readers, writers sync.WaitGroup
	for range 2 {
		readers.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				if _, _, ok := s.Lookup(keeper); !ok {
					t.Error("got the keeper refused")
					return
				}
				s.List()
				s.Expire()
			}
		})
	}
	for w := range workers {
		writers.Go(func() {
			for r := range rounds {
				name := fmt.Sprintf("w%d-%d", w, r)
				token, _, err := s.Create(name, Agent, []Scope{Read}, false, time.Hour)
				if err != nil {
					t.Errorf("create %s: %v", name, err)
					return
				}
				if actor, _, ok := s.Lookup(token); !ok || actor.Name != name {
					t.Errorf("%s: got %v %v after Create, want it accepted", name, actor, ok)
				}
				if r == rounds-1 {
					continue // the last one stays
				}
				if err := s.Revoke(name); err != nil {
					t.Errorf("revoke %s: %v", name, err)
				}
				if _, _, ok := s.Lookup(token); ok {
					t.Errorf("%s: got it accepted after Revoke", name)
				}
			}
		})
	}
	writers.Wait()
	close(done)
	readers.Wait()
	if got, want := cuts.Load(), int64(workers*(rounds-1)); got != want {
		t.Errorf("got %d calls of the watcher, want %d", got, want)
	}
	want := s.List()
	if len(want) != workers+1 {
		t.Errorf("got %d tokens, want %d", len(want), workers+1)
	}
	if diff := cmp.Diff(want, mustOpen(t, d.crash(false)).List()); diff != "" {
		t.Errorf("after a restart: memory -, disk +:\n%s", diff)
	}
}
