package store_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pal-terminal/pal/limits"
	"github.com/pal-terminal/pal/store"
	"github.com/pal-terminal/pal/store/crash"
)

const startsFile = "starts"

// begin starts a run and tells how many failed before it and how the last ended.
func begin(t *testing.T, d store.Disk, boot string) (*store.Starts, int, string) {
	t.Helper()
	s := store.OpenStarts(d, startsFile)
	failed, previous, err := s.Begin(boot, noon)
	must(t, err)
	if previous.Damaged != "" {
		t.Errorf("damaged: %s", previous.Damaged)
	}
	if previous.Ending != "" && !previous.Began.Equal(noon.Truncate(time.Second)) {
		t.Errorf("the last began at %v", previous.Began)
	}
	return s, failed, previous.Ending
}

func TestStarts(t *testing.T) {
	type run struct {
		boot   string
		ends   func(s *store.Starts) error
		failed int
		ending string // of the run before
	}
	dies := func(*store.Starts) error { return nil }
	ends := func(cause string) func(*store.Starts) error {
		return func(s *store.Starts) error { return s.End(cause) }
	}
	stable := func(then func(*store.Starts) error) func(*store.Starts) error {
		return func(s *store.Starts) error { return errors.Join(s.Stable(), then(s)) }
	}
	leave := func(s *store.Starts) error { return s.Leave() }
	for name, runs := range map[string][]run{
		"orderly":       {{"k", ends(store.Shutdown), 0, ""}, {"k", ends(store.Shutdown), 0, store.Shutdown}, {"l", dies, 0, store.Shutdown}},
		"crashes":       {{"k", dies, 0, ""}, {"k", dies, 1, store.Crash}, {"k", dies, 2, store.Crash}, {"k", dies, 3, store.Crash}, {"k", dies, 4, store.Crash}},
		"power":         {{"k", dies, 0, ""}, {"l", dies, 1, store.Power}, {"l", dies, 2, store.Crash}},
		"watchdog":      {{"k", ends(store.Watchdog), 0, ""}, {"k", ends(store.Watchdog), 1, store.Watchdog}, {"l", dies, 2, store.Watchdog}},
		"stable":        {{"k", dies, 0, ""}, {"k", stable(dies), 1, store.Crash}, {"k", stable(ends(store.Watchdog)), 0, store.Crash}, {"k", stable(ends(store.Shutdown)), 0, store.Watchdog}, {"k", dies, 0, store.Shutdown}},
		"early orderly": {{"k", dies, 0, ""}, {"k", ends(store.Shutdown), 1, store.Crash}, {"k", ends(store.Shutdown), 1, store.Shutdown}, {"k", dies, 1, store.Shutdown}, {"k", dies, 2, store.Crash}},
		"safe mode stays": {
			{"k", dies, 0, ""}, {"k", dies, 1, store.Crash}, {"k", dies, 2, store.Crash}, {"k", dies, 3, store.Crash},
			{"k", stable(ends(store.Shutdown)), limits.FailedStarts, store.Crash}, {"k", stable(dies), limits.FailedStarts, store.Shutdown},
			{"k", leave, limits.FailedStarts + 1, store.Crash}, {"k", dies, 0, store.Crash},
		},
		"long boot id": {{strings.Repeat("k", 1000), dies, 0, ""}, {strings.Repeat("k", 1000), dies, 1, store.Crash}},
		"no boot id":   {{"", dies, 0, ""}, {"", dies, 1, store.Crash}, {"k \"\n", dies, 2, store.Power}, {"k \"\n", dies, 3, store.Crash}},
	} {
		t.Run(name, func(t *testing.T) {
			d := crash.New(1)
			for n, r := range runs {
				s, failed, ending := begin(t, d, r.boot)
				if failed != r.failed || ending != r.ending {
					t.Errorf("start %d: got %d failed, last ended by %q, want %d, %q", n, failed, ending, r.failed, r.ending)
				}
				must(t, r.ends(s))
				d = d.Restart(uint64(n))
			}
		})
	}
}

func TestStartsAcrossEveryCut(t *testing.T) {
	type found struct {
		failed int
		ending string
	}
	var s *store.Starts
	start := func(d store.Disk) error {
		s = store.OpenStarts(d, startsFile)
		_, _, err := s.Begin("k", noon)
		return err
	}
	states := []found{{0, ""}, {1, store.Crash}, {2, store.Crash}, {0, store.Crash}, {0, store.Shutdown}, {1, store.Crash}, {1, store.Watchdog}}
	for _, full := range []bool{false, true} {
		everyCut(t, func(d store.Disk) { raw(t, d, "other", nil) }, []func(store.Disk) error{
			start, start,
			func(store.Disk) error { return s.Stable() },
			func(store.Disk) error { return s.End(store.Shutdown) },
			func(d store.Disk) error {
				d.(*crash.Disk).Full(full)
				return start(d)
			},
			func(store.Disk) error { return s.End(store.Watchdog) },
		}, func(t *testing.T, d *crash.Disk, done int) {
			failed, previous, err := store.OpenStarts(d, startsFile).Begin("k", noon)
			must(t, err)
			got := found{failed, previous.Ending}
			if full && done >= 4 && done < 6 && got == (found{1, store.Crash}) {
				return // torn in place: it counts as one that failed
			}
			if got != states[done] && (done+1 == len(states) || got != states[done+1]) || previous.Damaged != "" {
				t.Errorf("full %v: got %+v %q, want %+v or the next", full, got, previous.Damaged, states[done])
			}
		})
	}
}

func TestStartsDamaged(t *testing.T) {
	d := crash.New(1)
	begin(t, d, "k")
	begin(t, d, "k")
	whole, err := store.Read(d, startsFile, limits.LatchBytes)
	must(t, err)
	damaged := func(what string, content []byte) {
		t.Helper()
		d := crash.New(1)
		raw(t, d, startsFile, content)
		failed, previous, err := store.OpenStarts(d, startsFile).Begin("k", noon)
		must(t, err)
		if failed != 1 || previous.Ending != store.Crash || previous.Damaged == "" {
			t.Fatalf("%s: got %d, %+v", what, failed, previous)
		}
		if b, err := store.Read(d, "quarantine/starts.1", 1000); len(content) <= limits.LatchBytes && (err != nil || !slices.Equal(b, content)) {
			t.Fatalf("%s: quarantine holds %d bytes, %v", what, len(b), err)
		}
		if _, failed, _ := begin(t, d.Restart(1), "k"); failed != 2 {
			t.Fatalf("%s: the next start found %d failed, want 2", what, failed)
		}
	}
	for n := range whole {
		flipped := slices.Clone(whole)
		flipped[n] ^= 0x10
		damaged(fmt.Sprintf("byte %d", n), flipped)
		damaged(fmt.Sprintf("cut to %d", n), whole[:n])
	}
	damaged("longer", append(whole, 0))
}

func TestStartsFullAndReadOnlyDisk(t *testing.T) {
	d := crash.New(1)
	begin(t, d, "k")
	d.Full(true)
	for want := 1; want < 5; want++ {
		if _, failed, _ := begin(t, d.Restart(1), "k"); failed != want {
			t.Fatalf("full: got %d failed, want %d", failed, want)
		}
		begin(t, d, "k")
	}
	d.ReadOnly(true)
	failed, previous, err := store.OpenStarts(d, startsFile).Begin("k", noon)
	if failed != 5 || previous.Ending != store.Crash || !errors.Is(err, syscall.EROFS) {
		t.Errorf("read-only: got %d, %+v, %v", failed, previous, err)
	}
	d = crash.New(1)
	d.Full(true)
	if failed, previous, err = store.OpenStarts(d, startsFile).Begin("k", noon); failed != 0 || previous != (store.Previous{}) || !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("no room for the first: got %d, %+v, %v", failed, previous, err)
	}
}

// TestStartsMadeUpFor loses a write and has the next bring its effect.
func TestStartsMadeUpFor(t *testing.T) {
	d := crash.New(1)
	begin(t, d, "k")
	s, _, _ := begin(t, d, "k")
	d.ReadOnly(true)
	if s.Stable() == nil {
		t.Error("a failed write was not told")
	}
	d.ReadOnly(false)
	must(t, s.End(store.Shutdown))
	if _, failed, ending := begin(t, d, "k"); failed != 0 || ending != store.Shutdown {
		t.Errorf("got %d, %q", failed, ending)
	}
}

// TestStartsNameIsDurable has the sync of the folder fail when the new file has its name.
func TestStartsNameIsDurable(t *testing.T) {
	for seed := range uint64(50) {
		d := &unsynced{Disk: crash.New(seed)}
		begin(t, d, "k")
		d.fails = 1
		begin(t, d, "k")
		if _, failed, _ := begin(t, d.Restart(seed), "k"); failed != 2 {
			t.Fatalf("got %d failed, want 2", failed)
		}
	}
}
