package latch

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pal-terminal/pal/limits"
)

// world is a table and a disk.
type world struct {
	mu      sync.Mutex
	stopped bool
	set     bool
	actor   string
	held    bool
	fail    error
	hang    chan struct{}
	told    []error
}

func (w *world) Set(_, actor string, _ time.Time) error { return w.put(true, actor) }
func (w *world) Clear() error                           { return w.put(false, "") }

func (w *world) put(set bool, actor string) error {
	w.mu.Lock()
	hang := w.hang
	w.mu.Unlock()
	if hang != nil {
		<-hang
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.fail == nil {
		w.set, w.actor = set, actor
	}
	return w.fail
}

// now is what there is: on the disk, by whom, and of the tasks.
func (w *world) now() (set bool, actor string, held bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.set, w.actor, w.held
}

func (w *world) stop(v bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stopped = v
}

func (w *world) keeper() *Keeper {
	return New("", World{
		Disk: w,
		Stopped: func() (bool, string, time.Time) {
			w.mu.Lock()
			defer w.mu.Unlock()
			return w.stopped, "smoke", time.Time{}
		},
		Hold:   func() { w.mu.Lock(); w.held = true; w.mu.Unlock() },
		Unhold: func() error { w.mu.Lock(); w.held = false; w.mu.Unlock(); return nil },
		Tell:   func(err error) { w.told = append(w.told, err) },
	})
}

func run(t *testing.T, w *world, f func(k *Keeper)) {
	synctest.Test(t, func(t *testing.T) {
		k := w.keeper()
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); k.Run(ctx) }()
		f(k)
		cancel()
		<-done
		if w.set != w.stopped || w.held != w.stopped {
			t.Errorf("in the end: disk %v, tasks held %v, table %v: want them alike", w.set, w.held, w.stopped)
		}
	})
}

func TestSetAndClear(t *testing.T) {
	w := &world{}
	run(t, w, func(k *Keeper) {
		w.stop(true)
		err := k.Settle("ann")
		if set, actor, held := w.now(); err != nil || !set || actor != "ann" || !held {
			t.Errorf("after a stop: %v, set %v by %q, held %v", err, set, actor, held)
		}
		w.stop(false)
		err = k.Settle("")
		if set, _, held := w.now(); err != nil || set || held {
			t.Errorf("after a release: %v, set %v, held %v", err, set, held)
		}
	})
}

// A disk that fails is tried again until it takes the latch, and both is told once.
func TestFailingDisk(t *testing.T) {
	w := &world{fail: errors.New("no room")}
	run(t, w, func(k *Keeper) {
		w.stop(true)
		if err := k.Settle("ann"); !errors.Is(err, w.fail) {
			t.Errorf("settle: got %v, want the disk's error", err)
		}
		time.Sleep(10 * time.Second) //nolint:forbidigo // in a bubble: no fact comes but that time has passed
		w.mu.Lock()
		w.fail = nil
		w.mu.Unlock()
		time.Sleep(2 * time.Second) //nolint:forbidigo // likewise
		if set, _, _ := w.now(); !set {
			t.Error("the latch was not written when the disk could take it again")
		}
	})
	if len(w.told) != 2 || w.told[0] == nil || w.told[1] != nil {
		t.Errorf("told %v, want the loss and the return", w.told)
	}
}

// A disk that hangs does not hold up whoever stops, and a release meanwhile is what is on the disk in the end.
func TestHangingDisk(t *testing.T) {
	w := &world{}
	run(t, w, func(k *Keeper) {
		hang := make(chan struct{})
		w.mu.Lock()
		w.hang = hang
		w.mu.Unlock()
		w.stop(true)
		began := time.Now()
		if err := k.Settle("ann"); !errors.Is(err, errSlow) || time.Since(began) > time.Second {
			t.Errorf("settle: got %v after %v, want errSlow soon", err, time.Since(began))
		}
		w.stop(false)
		close(hang)
	})
}

// A disk under load takes longer than a stop waits; a release waits for it, and is not told to have failed.
func TestSlowRelease(t *testing.T) {
	w := &world{set: true, stopped: true}
	run(t, w, func(k *Keeper) {
		hang := make(chan struct{})
		w.mu.Lock()
		w.hang = hang
		w.mu.Unlock()
		w.stop(false)
		time.AfterFunc(4*limits.DriveTimeout, func() { close(hang) })
		if err := k.Settle(""); err != nil {
			t.Errorf("settle: got %v, want a release that waits", err)
		}
	})
}

// Stops and releases that come at once end with what the table says.
func TestAtOnce(t *testing.T) {
	w := &world{}
	run(t, w, func(k *Keeper) {
		var wg sync.WaitGroup
		for i := range 50 {
			wg.Go(func() {
				w.stop(i%2 == 0)
				k.Settle("x") // the end counts
			})
		}
		wg.Wait()
	})
}

// Tasks are held also by a stop that comes while the keeper waits for a disk that hangs.
func TestHoldsWhileTheDiskHangs(t *testing.T) {
	w := &world{}
	run(t, w, func(k *Keeper) {
		hang := make(chan struct{})
		w.mu.Lock()
		w.hang = hang
		w.mu.Unlock()
		if err := k.Settle(""); !errors.Is(err, errSlow) {
			t.Errorf("release: got %v, want errSlow", err)
		}
		w.stop(true)
		if err := k.Settle("ann"); !errors.Is(err, errSlow) {
			t.Errorf("stop: got %v, want errSlow", err)
		}
		if _, _, held := w.now(); !held {
			t.Error("the tasks are not held")
		}
		close(hang)
	})
}
