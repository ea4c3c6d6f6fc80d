package audit

import (
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pal-terminal/pal/limits"
	"github.com/pal-terminal/pal/store"
	"github.com/pal-terminal/pal/store/crash"
)

// slow is a disk whose files take a while to sync.
type slow struct {
	store.Disk
	mu   sync.Mutex
	take time.Duration
}

type slowFile struct {
	store.File
	d *slow
}

func (s *slow) Open(name string, create bool) (store.File, error) {
	f, err := s.Disk.Open(name, create)
	return slowFile{f, s}, err
}

func (f slowFile) Sync() error {
	f.d.mu.Lock()
	take := f.d.take
	f.d.mu.Unlock()
	<-time.After(take)
	return f.File.Sync()
}

// A disk that does not answer makes the log not ready after limits.AuditPatience, also while nobody waits for an entry, and ready again
// when it has answered. What came of what was begun is taken meanwhile, and written.
func TestStuckDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &slow{Disk: crash.New(1)}
		var states []error
		l, _, err := Open(d, "audit", Options{Terminal: "t", OnState: func(err error) { states = append(states, err) }})
		if err != nil {
			t.Fatal(err)
		}
		set := func(take time.Duration) { d.mu.Lock(); d.take = take; d.mu.Unlock() }
		set(10 * time.Second)
		l.Lazy(intent(1))
		after := func(d time.Duration) error {
			<-time.After(d)
			synctest.Wait()
			return l.Ready()
		}
		if err := after(limits.AuditSync + limits.AuditPatience - time.Millisecond); err != nil {
			t.Errorf("a slow disk: got %v", err)
		}
		if err := after(2 * time.Millisecond); !errors.Is(err, errStuck) {
			t.Errorf("a disk that hangs: got %v, want %v", err, errStuck)
		}
		if err := l.Append(intent(2)).Wait(t.Context()); !errors.Is(err, errStuck) {
			t.Errorf("an intent meanwhile: got %v", err)
		}
		r := l.Append(outcome(1))
		set(0)
		if err := r.Wait(t.Context()); err != nil {
			t.Errorf("an outcome meanwhile: got %v", err)
		}
		if err := after(time.Millisecond); err != nil {
			t.Errorf("a disk that works again: got %v", err)
		}
		if len(states) != 2 || !errors.Is(states[0], errStuck) || states[1] != nil {
			t.Errorf("told %v, want once that it hangs and once that it works", states)
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		mustVerify(t, d, nil)
	})
}
