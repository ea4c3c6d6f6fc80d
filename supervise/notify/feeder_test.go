package notify

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pal-terminal/pal/limits"
)

// fakeDog is a watchdog with a patience of its own, which notes when it was fed.
type fakeDog struct {
	mu       sync.Mutex
	patience time.Duration
	refuse   error
	fed      []time.Time
	closed   []bool
}

func (d *fakeDog) name() string { return "dog" }

func (d *fakeDog) arm(want time.Duration) (time.Duration, error) { return min(want, d.patience), nil }

func (d *fakeDog) feed() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.refuse == nil {
		d.fed = append(d.fed, time.Now())
	}
	return d.refuse
}

func (d *fakeDog) close(orderly bool) error {
	d.closed = append(d.closed, orderly)
	return nil
}

func (d *fakeDog) last() time.Time {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.fed[len(d.fed)-1]
}

func (d *fakeDog) count() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.fed)
}

// told notes what OnState heard.
type told struct {
	mu    sync.Mutex
	lines []string
}

func (s *told) hear(name string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lines = append(s.lines, fmt.Sprint(name, ": ", err))
}

func (s *told) want(t *testing.T, lines ...string) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Equal(s.lines, lines) {
		t.Errorf("OnState heard %q, want %q", s.lines, lines)
	}
}

func TestArithmetic(t *testing.T) {
	if worst := limits.WatchdogTimeout + limits.WatchdogProbe + limits.WatchdogAbort; worst >= limits.GuardWatchdog {
		t.Errorf("from a hang to the kill: %v, want less than %v", worst, limits.GuardWatchdog)
	}
	if rounds := 3*limits.WatchdogPeriod + limits.WatchdogProbe; rounds > limits.WatchdogTimeout {
		t.Errorf("the third round comes after %v, the watchdog bites after %v", rounds, limits.WatchdogTimeout)
	}
	for _, c := range []struct{ patience, period, deadline time.Duration }{
		{7 * time.Second, 2 * time.Second, time.Second},
		{time.Minute, 2 * time.Second, time.Second},
		{3500 * time.Millisecond, time.Second, 500 * time.Millisecond},
	} {
		if period, deadline := Rhythm(c.patience); period != c.period || deadline != c.deadline {
			t.Errorf("Rhythm(%v): got %v and %v, want %v and %v", c.patience, period, deadline, c.period, c.deadline)
		}
	}
}

// TestHang hangs a probe at a moment of each round, in the ways that code hangs, and wants the supervisor's time to be up within the limit.
func TestHang(t *testing.T) {
	for _, forever := range []bool{false, true} {
		for at := 4 * time.Second; at < 6*time.Second; at += 100 * time.Millisecond {
			t.Run(fmt.Sprint(forever, at), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { hang(t, forever, at) })
			})
		}
	}
}

func hang(t *testing.T, forever bool, at time.Duration) {
	fake, heard := &fakeDog{patience: time.Minute}, &told{}
	hung, release := time.Now().Add(at), make(chan struct{})
	var mended atomic.Bool
	var running atomic.Int32
	slow := func(context.Context) error { // passes as late as it may
		<-time.After(limits.WatchdogProbe - time.Millisecond)
		return nil
	}
	check := func(ctx context.Context) error {
		if time.Now().Before(hung) || mended.Load() {
			return nil
		}
		running.Add(1)
		if forever {
			<-release
			return nil
		}
		<-ctx.Done()
		return ctx.Err()
	}
	f := start(Options{OnState: heard.hear, Probes: []Probe{{"slow", slow}, {"admission", check}}}, []dog{fake})
	<-time.After(at + 60*time.Second)
	if bite := fake.last().Add(limits.WatchdogTimeout + limits.WatchdogAbort).Sub(hung); bite > limits.GuardWatchdog {
		t.Errorf("killed %v after the hang, want at most %v", bite, limits.GuardWatchdog)
	}
	if fed := fake.last(); fed.After(hung.Add(limits.WatchdogProbe)) {
		t.Errorf("fed %v after the hang", fed.Sub(hung))
	}
	if forever {
		heard.want(t, "admission: no answer for 1s")
		if n := running.Load(); n != 1 {
			t.Errorf("%d goroutines hang in a probe, want 1", n)
		}
	}
	mended.Store(true)
	close(release)
	before := fake.count()
	<-time.After(2*limits.WatchdogPeriod + limits.WatchdogProbe)
	if fake.count() == before {
		t.Error("the probe passes again and nothing was fed")
	}
	if err := f.Close(true); err != nil || !slices.Equal(fake.closed, []bool{true}) {
		t.Errorf("Close: %v, the dog was closed %v", err, fake.closed)
	}
	if n := len(heard.lines); n != 2 || heard.lines[1] != "admission: <nil>" {
		t.Errorf("OnState heard %q, want a failure and its end", heard.lines)
	}
}

func TestFeedsInTime(t *testing.T) {
	for _, patience := range []time.Duration{time.Second, 7 * time.Second, time.Minute} {
		synctest.Test(t, func(t *testing.T) {
			fake := &fakeDog{patience: patience}
			f := start(Options{Probes: []Probe{{"ok", func(context.Context) error { return nil }}}}, []dog{fake})
			<-time.After(time.Minute)
			if err := f.Close(false); err != nil || !slices.Equal(fake.closed, []bool{false}) {
				t.Errorf("Close: %v, the dog was closed %v", err, fake.closed)
			}
			for i, at := range fake.fed[1:] {
				if gap := at.Sub(fake.fed[i]); gap > fake.patience/3 {
					t.Errorf("patience %v: fed after %v", patience, gap)
				}
			}
			if len(fake.fed) < 30 {
				t.Errorf("patience %v: fed %d times in a minute", patience, len(fake.fed))
			}
		})
	}
}

func TestToldOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fake, heard := &fakeDog{patience: time.Minute, refuse: errors.New("gone")}, &told{}
		var broken atomic.Bool
		latch := func(context.Context) error {
			if broken.Load() {
				return errors.New("unreadable")
			}
			return nil
		}
		f := start(Options{Period: time.Second, OnState: heard.hear, Probes: []Probe{{"latch", latch}}}, []dog{fake})
		defer f.Close(true)
		<-time.After(3500 * time.Millisecond)
		heard.want(t, "dog: gone")
		fake.mu.Lock()
		fake.refuse = nil
		fake.mu.Unlock()
		<-time.After(3 * time.Second)
		broken.Store(true)
		<-time.After(3 * time.Second)
		fed := fake.count()
		<-time.After(3 * time.Second)
		if fake.count() != fed {
			t.Error("fed although a probe fails")
		}
		heard.want(t, "dog: gone", "dog: <nil>", "latch: unreadable")
	})
}
