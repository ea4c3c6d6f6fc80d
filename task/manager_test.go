package task

import (
	"context"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pal-terminal/pal/protocol"
)

// bubble is the clock of a synctest bubble: its boot clock is the bubble's time.
type bubble struct {
	start time.Time
	step  atomic.Int64
}

func (b *bubble) Now() Time {
	now := time.Now()
	return Time{Wall: now.Add(time.Duration(b.step.Load())), Boot: now.Sub(b.start) + time.Second}
}

func (b *bubble) Timer() (Timer, error) {
	t := &bubbleTimer{b: b, c: make(chan struct{}, 1)}
	t.t = time.AfterFunc(time.Hour, func() { poke(t.c) })
	return t, nil
}

type bubbleTimer struct {
	b *bubble
	t *time.Timer
	c chan struct{}
}

func (t *bubbleTimer) Set(boot time.Duration) { t.t.Reset(boot - t.b.Now().Boot) }
func (t *bubbleTimer) C() <-chan struct{}     { return t.c }
func (t *bubbleTimer) Stop()                  { t.t.Stop() }

// locked is a disk for several goroutines.
type locked struct {
	mu sync.Mutex
	d  *disk
}

func (l *locked) Put(key string, value []byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.d.Put(key, value)
}

func (l *locked) Delete(key string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.d.Delete(key)
}

func mustNew(t *testing.T, o Options) *Manager {
	t.Helper()
	m, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// Five ticks of 200 ms with 50 ms of work each start at 200, 400, … exactly.
func TestManagerKeepsPhase(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		var starts []time.Duration
		m := mustNew(t, Options{Clock: &bubble{start: begin.Add(-time.Hour)}, Run: func(context.Context, Run) Outcome {
			starts = append(starts, time.Since(begin))
			<-time.After(50 * time.Millisecond)
			return Outcome{}
		}})
		id, _, err := m.Register(Owner{Actor: "a"}, every(200*time.Millisecond), "x")
		ok(t, err)
		time.Sleep(1100 * time.Millisecond) //nolint:forbidigo // in a bubble
		ok(t, m.Close(t.Context()))
		for i, s := range starts {
			if want := time.Duration(i+1) * 200 * time.Millisecond; s != want {
				t.Errorf("run %d: got start %v, want %v", i, s, want)
			}
		}
		if len(starts) != 5 {
			t.Errorf("got %d runs, want 5", len(starts))
		}
		if info, err := m.Get(id, true); err != nil || info.Code != "x" || info.Lateness == nil || info.Lateness.MaxUS != 0 || info.Lateness.Count != 5 {
			t.Errorf("got %+v, %v", info, err)
		}
	})
}

// A cancel ends the run under way; an urgent hold reaches the disk by itself; a close leaves exact ids behind.
func TestManagerCancelAndWrites(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &locked{d: newDisk()}
		var safe, released atomic.Int32
		o := Options{
			Clock: &bubble{start: time.Now().Add(-time.Hour)}, Records: d,
			Run:     func(ctx context.Context, _ Run) Outcome { <-ctx.Done(); return Outcome{Code: "interrupted"} },
			Safe:    func(string, string) { safe.Add(1) },
			Release: func(string) { released.Add(1) },
		}
		o.Clock.(*bubble).step.Store(int64(30 * year)) // bubbles begin in 2000
		m := mustNew(t, o)
		id, _, err := m.Register(Owner{Actor: "a"}, persistent(every(time.Second)), "x")
		ok(t, err)
		other, _, err := m.Register(Owner{Actor: "a"}, persistent(every(time.Second)), "x")
		ok(t, err)
		time.Sleep(1500 * time.Millisecond) //nolint:forbidigo // in a bubble
		if info, _ := m.Get(id, false); info.State != "running" {
			t.Errorf("got state %s, want running", info.State)
		}
		ok(t, m.Cancel(id))
		synctest.Wait()
		if safe.Load() != 2 || released.Load() != 1 || d.d.records["task-"+id] != nil {
			t.Errorf("got %d times safe, before and after the run's end, %d released", safe.Load(), released.Load())
		}
		m.Hold(HoldEstop)
		synctest.Wait()
		if text := string(d.d.records["tasks"]); !strings.Contains(text, `"holds":["estop"]`) {
			t.Errorf("got %s, want the hold on disk", text)
		}
		ok(t, m.Close(t.Context()))
		ok(t, m.Close(t.Context()))
		_, _, err = m.Register(Owner{}, every(time.Second), "x")
		mustCode(t, err, protocol.CodeUnavailable)
		o.Loaded = d.d.records
		m = mustNew(t, o)
		if info, err := m.Get(other, false); err != nil || info.State != "held" {
			t.Errorf("got %+v, %v, want it held", info, err)
		}
		if id, _, err := m.Register(Owner{}, every(time.Second), "x"); err != nil || id != "003" {
			t.Errorf("got id %s, %v, want 003", id, err)
		}
		ok(t, m.Close(t.Context()))
	})
}

// The system's clock and timer: a task of 10 ms for a second. PAL_TASK_LATENESS says for how long to measure instead.
func TestSystemClock(t *testing.T) {
	span := time.Second
	if text := os.Getenv("PAL_TASK_LATENESS"); text != "" {
		var err error
		if span, err = time.ParseDuration(text); err != nil {
			t.Fatal(err)
		}
	}
	enough := make(chan struct{})
	var once sync.Once
	m := mustNew(t, Options{Run: func(_ context.Context, r Run) Outcome {
		if r.Number >= uint64(span/(10*time.Millisecond))*9/10 {
			once.Do(func() { close(enough) })
		}
		return Outcome{}
	}})
	id, _, err := m.Register(Owner{Actor: "a"}, every(10*time.Millisecond), "x")
	ok(t, err)
	<-enough
	info, err := m.Get(id, false)
	ok(t, err)
	ok(t, m.Close(t.Context()))
	t.Logf("10 ms, nothing done: lateness %+v, missed %v", *info.Lateness, info.Missed)
	if info.Lateness.P50US > 5000 {
		t.Errorf("got a median lateness of %d µs: the timer does not wake in time", info.Lateness.P50US)
	}
}

// All doors at once, under the race detector.
func TestHammerManager(t *testing.T) {
	goroutines := runtime.NumGoroutine()
	defer func() {
		for i := 0; runtime.NumGoroutine() > goroutines && i < 1_000_000; i++ {
			runtime.Gosched()
		}
		if n := runtime.NumGoroutine(); n > goroutines {
			t.Errorf("got %d goroutines after the close, want %d", n, goroutines)
		}
	}()
	d := &locked{d: newDisk()}
	var inside atomic.Int32
	m := mustNew(t, Options{
		Records: d, Tasks: 64, Ready: func() error { return nil },
		Event: func(string, map[string]any) {}, Safe: func(string, string) {},
		Run: func(context.Context, Run) Outcome {
			if inside.Add(1) != 1 {
				t.Error("two runs at once")
			}
			defer inside.Add(-1)
			return Outcome{}
		},
	})
	var wg sync.WaitGroup
	for worker := range 8 {
		wg.Go(func() {
			for i := range 100 {
				b := every(10 * time.Millisecond)
				if i%2 == 0 {
					b = persistent(b)
				}
				id, _, err := m.Register(Owner{Actor: "a"}, b, "x")
				if err != nil {
					t.Errorf("register: %v", err)
					return
				}
				_ = m.Trigger(id)
				switch worker {
				case 0:
					m.Hold(HoldStorage)
					_ = m.Unhold(HoldStorage)
				case 1:
					m.Hold(HoldEstop)
					_ = m.Unhold(HoldEstop)
					_ = m.Resume(id, true)
				case 2:
					m.List()
				}
				_, _ = m.Get(id, true)
				_, _ = m.Results(id, 0)
				if err := m.Cancel(id); err != nil {
					t.Errorf("cancel: %v", err)
				}
			}
		})
	}
	wg.Wait()
	ok(t, m.Close(t.Context()))
	for key := range d.d.records {
		if key != "tasks" {
			t.Errorf("got record %s left", key)
		}
	}
}
