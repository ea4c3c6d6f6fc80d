package start

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pal-terminal/pal/limits"
)

func TestDecide(t *testing.T) {
	for failed := range 10 {
		safe, why := Decide(failed, "crash")
		if want := failed >= 4; safe != want || want != strings.Contains(why, "crash") || want != strings.Contains(why, "pal safe-mode leave") {
			t.Errorf("after %d failed starts: got %v, %q", failed, safe, why)
		}
	}
	if safe, why := Decide(limits.FailedStarts, ""); !safe || !strings.Contains(why, "nobody knows") {
		t.Errorf("got %v, %q", safe, why)
	}
}

func TestEnded(t *testing.T) {
	file := filepath.Join(t.TempDir(), EndedFile)
	for text, c := range map[string]struct {
		want string
		bad  bool
	}{
		"watchdog\n": {"watchdog", false}, "oom-kill\n": {"oom-kill", false}, "": {"", false},
		"rm -rf /\n": {"", true}, strings.Repeat("a", 1000): {"", true}, "\x00": {"", true},
	} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := Ended(file); got != c.want || (err != nil) != c.bad {
			t.Errorf("%q: got %q, %v, want %q", text, got, err, c.want)
		}
		if got, err := Ended(file); got != "" || err != nil {
			t.Errorf("%q, the second time: got %q, %v, want nothing", text, got, err)
		}
	}
}

func TestStable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var up atomic.Bool
		var calls atomic.Int32
		up.Store(true)
		began := time.Now()
		var stableAt time.Time
		timer := NewStableTimer(up.Load, func() error {
			stableAt = time.Now()
			if calls.Add(1) < 3 {
				return errors.New("the disk is full")
			}
			return nil
		}, slog.New(slog.DiscardHandler))
		<-time.After(25*time.Second + time.Millisecond)
		up.Store(false)
		<-time.After(10 * time.Second) // the network is lost at 25 s and back after 35 s
		up.Store(true)
		<-time.After(29 * time.Second)
		if n := calls.Load(); n != 0 {
			t.Errorf("told stable %d times, %v after the start", n, time.Since(began))
		}
		<-time.After(time.Minute)
		timer.Close()
		if n := calls.Load(); n != 3 {
			t.Errorf("told stable %d times, want 3: until it succeeds", n)
		}
		if took := stableAt.Sub(began); took != 67*time.Second {
			t.Errorf("told stable the last time after %v, want 67s", took)
		}
	})
}

func TestStableWithoutNetwork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls atomic.Int32
		timer := NewStableTimer(nil, func() error { calls.Add(1); return nil }, slog.New(slog.DiscardHandler))
		defer timer.Close()
		<-time.After(limits.StableAfter - time.Millisecond)
		if calls.Load() != 0 {
			t.Error("told stable too early")
		}
		<-time.After(limits.StableLook)
		if calls.Load() != 1 {
			t.Errorf("told stable %d times, want once", calls.Load())
		}
	})
}

func TestStableClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		timer := NewStableTimer(nil, func() error { t.Error("told stable after Close"); return nil }, slog.New(slog.DiscardHandler))
		timer.Close()
		<-time.After(time.Minute)
	})
}
