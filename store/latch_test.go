package store_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/pal-terminal/pal/limits"
	"github.com/pal-terminal/pal/store"
	"github.com/pal-terminal/pal/store/crash"
)

const latchFile = "estop"

var noon = time.Date(2026, 12, 1, 12, 0, 0, 123456789, time.UTC)

// latch opens a latch whose file is there.
func latch(t *testing.T, d store.Disk) (*store.Latch, store.LatchState) {
	t.Helper()
	l, state, err := store.OpenLatch(d, latchFile, true)
	must(t, err)
	return l, state
}

func fresh(t *testing.T, d store.Disk) *store.Latch {
	t.Helper()
	l, state, err := store.OpenLatch(d, latchFile, false)
	must(t, err)
	if state != (store.LatchState{}) {
		t.Fatalf("a new latch is %+v", state)
	}
	return l
}

func TestLatch(t *testing.T) {
	for name, d := range map[string]store.Disk{"memory": crash.New(1), "folder": folder(t, t.TempDir())} {
		t.Run(name, func(t *testing.T) {
			l := fresh(t, d)
			for range 2 {
				must(t, l.Set("smoke", "ada", noon))
				must(t, l.Set("later", "bob", noon.Add(time.Hour)))
				_, got := latch(t, d)
				if want := (store.LatchState{Set: true, Reason: "smoke", Actor: "ada", At: noon}); got != want {
					t.Errorf("got %+v, want %+v", got, want)
				}
				must(t, l.Clear())
				must(t, l.Clear())
				if _, got := latch(t, d); got != (store.LatchState{}) {
					t.Errorf("cleared: got %+v", got)
				}
			}
			if b, err := store.Read(d, latchFile, 1000); err != nil || len(b) != limits.LatchBytes {
				t.Errorf("got %d bytes, %v", len(b), err)
			}
		})
	}
}

func TestLatchSparesTheDisk(t *testing.T) {
	d := crash.New(1)
	l := fresh(t, d)
	must(t, l.Clear())
	before := d.Ops()
	must(t, l.Set("smoke", "ada", noon))
	if n := d.Ops() - before; n != 3 { // write, sync, sync of the folder
		t.Errorf("Set took %d operations", n)
	}
	for range 1000 {
		must(t, l.Set("again", "ada", noon))
	}
	if n := d.Ops() - before; n != 3 {
		t.Errorf("%d operations for a latch that is set", n-3)
	}
}

func TestLatchTexts(t *testing.T) {
	long := strings.Repeat("ä", limits.ReasonBytes)
	for _, c := range []struct {
		reason, actor, wantReason, wantActor string
		at                                   time.Time
	}{
		{"", "", "", "", time.Time{}},
		{"two\nlines\n", "a\nb", "two\nlines\n", "a b", noon},
		{"broken \xff", "\xff", "broken ", "", noon},
		{long, strings.Repeat("a", 100), long[:348], strings.Repeat("a", limits.NameBytes), time.Date(9999, 12, 31, 23, 59, 59, 999999999, time.UTC)},
		{"clear\n", "clear", "clear\n", "clear", noon},
	} {
		d := crash.New(1)
		must(t, fresh(t, d).Set(c.reason, c.actor, c.at.In(time.FixedZone("", 3600))))
		_, got := latch(t, d)
		if !got.Set || got.Damaged != "" || got.Actor != c.wantActor || !got.At.Equal(c.at) {
			t.Errorf("%.20q: got %+v", c.reason, got)
		}
		if got.Reason != c.wantReason && (len(c.reason) < 400 || len(got.Reason) < 340 || !strings.HasPrefix(long, got.Reason)) {
			t.Errorf("%.20q: got the reason %q", c.reason, got.Reason)
		}
	}
	d := crash.New(1)
	must(t, fresh(t, d).Set("a time that no one can write", "", time.Unix(1<<60, 0)))
	if _, got := latch(t, d); !got.Set || got.Damaged == "" {
		t.Errorf("got %+v", got)
	}
}

func TestLatchAcrossEveryCut(t *testing.T) {
	with := func(f func(l *store.Latch) error) func(store.Disk) error {
		return func(d store.Disk) error {
			l, _, err := store.OpenLatch(d, latchFile, true)
			if err != nil {
				return err
			}
			return f(l)
		}
	}
	open := func(d store.Disk) error {
		_, _, err := store.OpenLatch(d, latchFile, false)
		return err
	}
	set := with(func(l *store.Latch) error { return l.Set("smoke", "ada", noon) })
	clearing := with(func(l *store.Latch) error { return l.Clear() })
	t.Run("first start", func(t *testing.T) {
		everyCut(t, func(store.Disk) {}, []func(store.Disk) error{open}, func(t *testing.T, d *crash.Disk, _ int) {
			if fresh(t, d); t.Failed() {
				t.Error("not clear on a new disk")
			}
		})
	})
	t.Run("set", func(t *testing.T) {
		seen := map[string]bool{}
		everyCut(t, func(d store.Disk) { must(t, open(d)) }, []func(store.Disk) error{set, set}, func(t *testing.T, d *crash.Disk, done int) {
			_, got := latch(t, d)
			whole := store.LatchState{Set: true, Reason: "smoke", Actor: "ada", At: noon}
			if got != whole && (done > 0 || got != (store.LatchState{}) && (!got.Set || got.Damaged == "")) {
				t.Errorf("got %+v", got)
			}
			seen[fmt.Sprint(got.Set, got.Damaged != "")] = true
			_, again := latch(t, d.Restart(1))
			if again.Set != got.Set {
				t.Errorf("read as %v, and after a cut as %v", got.Set, again.Set)
			}
		})
		if len(seen) != 3 {
			t.Errorf("the cuts left only %v", seen)
		}
	})
	t.Run("clear", func(t *testing.T) {
		everyCut(t, func(d store.Disk) { must(t, errors.Join(open(d), set(d))) }, []func(store.Disk) error{clearing, clearing}, func(t *testing.T, d *crash.Disk, done int) {
			_, got := latch(t, d)
			if got.Set && done > 0 {
				t.Errorf("set after it was cleared: %+v", got)
			}
			if _, again := latch(t, d.Restart(1)); again.Set != got.Set {
				t.Errorf("read as %v, and after a cut as %v", got.Set, again.Set)
			}
		})
	})
}

// TestLatchReadIsDurable has a process die between the write of Set and its sync; the next reads set, and a cut does not take it back.
func TestLatchReadIsDurable(t *testing.T) {
	for seed := range uint64(100) {
		d := crash.New(seed)
		l := fresh(t, d)
		d.FailSync(1)
		if l.Set("smoke", "ada", noon) == nil {
			t.Fatal("a failed sync was not told")
		}
		if _, got := latch(t, d); !got.Set {
			t.Fatal("not set")
		}
		if _, got := latch(t, d.Restart(seed)); !got.Set || got.Reason != "smoke" {
			t.Fatalf("seed %d: after a cut %+v", seed, got)
		}
	}
}

func TestLatchFailedSync(t *testing.T) {
	for seed := range uint64(100) {
		d := crash.New(seed)
		l := fresh(t, d)
		for n := range 5 {
			d.FailSync(1)
			if err := l.Set(fmt.Sprintf("try %d", n), "ada", noon); !errors.Is(err, syscall.EIO) {
				t.Fatalf("got %v", err)
			}
		}
		must(t, l.Set("last", "bob", noon))
		if _, got := latch(t, d.Restart(seed)); !got.Set || got.Reason != "try 0" || got.Actor != "ada" {
			t.Fatalf("got %+v, want the first reason", got)
		}
		d.FailSync(1) // Clear fails and sets it again
		if err := l.Clear(); !errors.Is(err, syscall.EIO) {
			t.Fatalf("got %v", err)
		}
		if _, got := latch(t, d.Restart(seed)); !got.Set || got.Reason != "try 0" {
			t.Fatalf("after a failed Clear: got %+v", got)
		}
		d.FailSync(2) // nor can it be set again: a process that starts now finds it set all the same
		if err := l.Clear(); !errors.Is(err, syscall.EIO) {
			t.Fatalf("got %v", err)
		}
		if _, got := latch(t, d); !got.Set || got.Reason != "try 0" {
			t.Fatalf("after a failed Clear: got %+v", got)
		}
		must(t, l.Set("ignored", "", noon))
		must(t, l.Clear())
		if _, got := latch(t, d.Restart(seed)); got.Set {
			t.Fatalf("got %+v", got)
		}
	}
}

// TestLatchEveryByte damages a clear latch and a set one in every way: whatever it was, it is set, stays so across a cut, keeps
// the bytes, and can be cleared.
func TestLatchEveryByte(t *testing.T) {
	d := crash.New(1)
	l := fresh(t, d)
	isClear, err := store.Read(d, latchFile, limits.LatchBytes)
	must(t, err)
	must(t, l.Set("smoke", "ada", noon))
	isSet, err := store.Read(d, latchFile, limits.LatchBytes)
	must(t, err)
	damaged := func(what string, content []byte) {
		d := crash.New(1)
		raw(t, d, latchFile, content)
		l, got := latch(t, d)
		if !got.Set || got.Damaged == "" {
			t.Fatalf("%s: got %+v", what, got)
		}
		if b, err := store.Read(d, "quarantine/estop.1", 1000); err == nil && !slices.Equal(b, content) || err != nil && len(content) <= limits.LatchBytes {
			t.Fatalf("%s: quarantine holds %d bytes, %v", what, len(b), err)
		}
		after, got := latch(t, d.Restart(1))
		if !got.Set || !strings.HasPrefix(got.Reason, "the file of the e-stop was damaged: ") {
			t.Fatalf("%s, after a cut: got %+v", what, got)
		}
		must(t, errors.Join(l.Clear(), after.Clear()))
		if _, got := latch(t, d.Restart(1)); got != (store.LatchState{}) {
			t.Fatalf("%s, cleared: got %+v", what, got)
		}
	}
	for name, whole := range map[string][]byte{"clear": isClear, "set": isSet} {
		for n := range whole {
			for _, mask := range []byte{1, 0x80, 0xff} {
				flipped := slices.Clone(whole)
				flipped[n] ^= mask
				damaged(fmt.Sprintf("%s, byte %d ^ %#x", name, n, mask), flipped)
			}
			damaged(fmt.Sprintf("%s, cut to %d", name, n), whole[:n])
		}
		damaged(name+", longer", append(slices.Clone(whole), 0))
	}
	for _, b := range []byte{0, 0xff} {
		damaged(fmt.Sprintf("all %#x", b), slices.Repeat([]byte{b}, limits.LatchBytes))
	}
}

func TestLatchMissing(t *testing.T) {
	d := crash.New(1)
	fresh(t, d)
	must(t, d.Remove(latchFile))
	l, got := latch(t, d)
	if !got.Set || got.Damaged != "it is not there" {
		t.Errorf("got %+v", got)
	}
	if _, got := latch(t, d.Restart(1)); !got.Set || got.Damaged != "" {
		t.Errorf("after a cut: got %+v", got)
	}
	must(t, l.Clear())
	if _, got := latch(t, d.Restart(1)); got.Set {
		t.Errorf("cleared: got %+v", got)
	}
	must(t, d.Remove(latchFile)) // under the latch's feet
	must(t, l.Set("smoke", "", noon))
	if _, got := latch(t, d.Restart(1)); !got.Set || got.Reason != "smoke" {
		t.Errorf("after its file was removed: got %+v", got)
	}
}

func TestLatchFullDisk(t *testing.T) {
	d := crash.New(1)
	l := fresh(t, d)
	d.Full(true)
	must(t, l.Set("smoke", "ada", noon))
	if _, got := latch(t, d.Restart(1)); !got.Set || got.Reason != "smoke" {
		t.Errorf("got %+v", got)
	}
	l, _ = latch(t, d)
	must(t, l.Clear())
	if _, got := latch(t, d.Restart(1)); got.Set {
		t.Errorf("got %+v", got)
	}
	d = crash.New(1)
	d.Full(true)
	l, got, err := store.OpenLatch(d, latchFile, false)
	if !errors.Is(err, syscall.ENOSPC) || !got.Set || !strings.HasPrefix(got.Damaged, "it cannot be made") {
		t.Errorf("no room for a new one: got %+v, %v", got, err)
	}
	if err := l.Set("smoke", "ada", noon); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("got %v", err)
	}
	if err := l.Clear(); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("got %v", err)
	}
	d.Full(false)
	must(t, l.Set("smoke", "ada", noon))
	if _, got := latch(t, d.Restart(1)); !got.Set || !strings.Contains(got.Reason, "it cannot be made") {
		t.Errorf("got %+v", got)
	}
}

// TestLatchFirstTryFails has a new disk take the latch at the second start only: then it is clear.
func TestLatchFirstTryFails(t *testing.T) {
	for syncs := 1; syncs <= 2; syncs++ {
		d := &unsynced{Disk: crash.New(1), fails: syncs - 1}
		d.FailSync(2 - syncs)
		if _, got, err := store.OpenLatch(d, latchFile, false); !errors.Is(err, syscall.EIO) || !got.Set || got.Damaged == "" {
			t.Errorf("got %+v, %v", got, err)
		}
		fresh(t, d)
	}
}

// noDescriptors is a disk on which nothing can be opened while it is told so.
type noDescriptors struct {
	*crash.Disk
	none bool
}

func (d *noDescriptors) Open(name string, create bool) (store.File, error) {
	if d.none {
		return nil, syscall.EMFILE
	}
	return d.Disk.Open(name, create)
}

func TestLatchNeedsNoDescriptor(t *testing.T) {
	d := &noDescriptors{Disk: crash.New(1)}
	l := fresh(t, d)
	d.none = true
	must(t, l.Set("smoke", "ada", noon))
	if _, got := latch(t, d.Restart(1)); !got.Set || got.Reason != "smoke" {
		t.Errorf("got %+v", got)
	}
	must(t, l.Clear())
	unreadable, got, err := store.OpenLatch(d, latchFile, true)
	if !errors.Is(err, syscall.EMFILE) || !got.Set || got.Damaged == "" {
		t.Errorf("unreadable: got %+v, %v", got, err)
	}
	if err := unreadable.Set("", "", noon); !errors.Is(err, syscall.EMFILE) {
		t.Errorf("got %v", err)
	}
	d.none = false
	must(t, unreadable.Set("", "", noon))
	if _, got := latch(t, d.Restart(1)); !got.Set || got.Damaged != "" {
		t.Errorf("got %+v", got)
	}
}

func TestLatchReadOnlyDisk(t *testing.T) {
	d := crash.New(1)
	fresh(t, d)
	d.ReadOnly(true)
	l, got := latch(t, d)
	if got.Set {
		t.Errorf("got %+v", got)
	}
	if err := l.Set("smoke", "ada", noon); !errors.Is(err, syscall.EROFS) {
		t.Errorf("got %v", err)
	}
	d.ReadOnly(false)
	must(t, l.Set("again", "bob", noon))
	d.ReadOnly(true)
	l, got, err := store.OpenLatch(d, latchFile, true)
	if !errors.Is(err, syscall.EROFS) || !got.Set || got.Reason != "smoke" {
		t.Errorf("got %+v, %v", got, err)
	}
	if err := l.Clear(); !errors.Is(err, syscall.EROFS) {
		t.Errorf("got %v", err)
	}
	if _, got, _ := store.OpenLatch(d, latchFile, true); !got.Set {
		t.Errorf("got %+v", got)
	}
}

// TestLatchTogether ends with a Set that returned after every Clear had begun: it must hold.
func TestLatchTogether(t *testing.T) {
	d := crash.New(1)
	l := fresh(t, d)
	var all sync.WaitGroup
	for n := range 8 {
		all.Go(func() {
			for range 50 {
				change := l.Clear
				if n%2 == 0 {
					change = func() error { return l.Set("smoke", "ada", noon) }
				}
				if err := change(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	must(t, l.Set("last", "ada", noon))
	if _, got := latch(t, d.Restart(1)); !got.Set || got.Damaged != "" {
		t.Errorf("got %+v", got)
	}
}
