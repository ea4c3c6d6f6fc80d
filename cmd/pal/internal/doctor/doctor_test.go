package doctor

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pal-terminal/pal/limits"
	"github.com/pal-terminal/pal/store"
)

// one returns the check of a name.
func one(t *testing.T, f *Findings, name string) Check {
	t.Helper()
	i := slices.IndexFunc(f.Checks, func(c Check) bool { return c.Name == name })
	if i < 0 {
		t.Fatalf("no check %q in %+v", name, f.Checks)
	}
	return f.Checks[i]
}

func want(t *testing.T, c Check, ok bool, text string) {
	t.Helper()
	if c.OK != ok || !strings.Contains(c.Detail, text) {
		t.Errorf("%s: got %v, %q, want %v, %q", c.Name, c.OK, c.Detail, ok, text)
	}
}

func findings() *Findings { return &Findings{OK: true} }

// contents is all that is in a folder.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, e := range entries {
		b, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		all[e.Name()] = string(b)
	}
	return all
}

func TestDisk(t *testing.T) {
	dir := t.TempDir()
	f := findings()
	f.addDisk(dir)
	want(t, one(t, f, "durable writes"), true, "fsync of a file and its folder in ")
	if c := one(t, f, "free space"); !strings.Contains(c.Detail, "MiB") {
		t.Errorf("got %+v", c)
	}
	if left := contents(t, dir); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
	f = findings()
	f.addDisk(filepath.Join(dir, "none"))
	want(t, one(t, f, "durable writes"), false, "no such file")
	if f.OK {
		t.Error("a folder that cannot be written is not essential")
	}
}

// TestKept has the store itself write what doctor reads, and holds doctor to writing nothing.
func TestKept(t *testing.T) {
	at := time.Date(2026, 12, 1, 5, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		before       func(d store.Disk) error
		latch, start string
		ok           [2]bool
	}{
		"nothing there": {func(store.Disk) error { return nil }, "not set", "0 of 4", [2]bool{true, true}},
		"latched": {func(d store.Disk) error {
			l, _, err := store.OpenLatch(d, "latch", false)
			return errors.Join(err, l.Set("smoke", "mia", at))
		}, "set by mia at 2026-12-01T05:00:00Z (smoke)", "0 of 4", [2]bool{false, true}},
		"cleared": {func(d store.Disk) error {
			l, _, err := store.OpenLatch(d, "latch", false)
			return errors.Join(err, l.Set("smoke", "mia", at), l.Clear())
		}, "not set", "0 of 4", [2]bool{true, true}},
		"damaged": {func(d store.Disk) error {
			return errors.Join(store.Replace(d, "latch", []byte("clear, honestly")), store.Replace(d, "starts", []byte("0")))
		}, "counts as set", "one failed start", [2]bool{false, false}},
		"failed once": {func(d store.Disk) error { return begin(d, 1) }, "not set", "1 of 4", [2]bool{true, true}},
		"safe mode":   {func(d store.Disk) error { return begin(d, limits.FailedStarts) }, "not set", "pal safe-mode leave", [2]bool{true, false}},
		"hung": {func(d store.Disk) error {
			s := store.OpenStarts(d, "starts")
			_, _, err := s.Begin("k", at)
			return errors.Join(err, s.End(store.Watchdog))
		}, "not set", "ended by the watchdog", [2]bool{true, false}},
	} {
		dir := t.TempDir()
		d, err := store.Folder(dir)
		if err = errors.Join(err, c.before(d)); err != nil {
			t.Fatal(name, err)
		}
		before := contents(t, dir)
		f := findings()
		f.addKept(Options{State: dir, Latch: "latch", Starts: "starts"})
		t.Log(name)
		want(t, one(t, f, "e-stop"), c.ok[0], c.latch)
		want(t, one(t, f, "starts"), c.ok[1], c.start)
		if !f.OK {
			t.Errorf("%s: what a terminal can start with is not essential", name)
		}
		after := contents(t, dir)
		for file, text := range before {
			if after[file] != text {
				t.Errorf("%s: %s was changed", name, file)
			}
		}
		if len(after) != len(before) {
			t.Errorf("%s: files before %d, after %d", name, len(before), len(after))
		}
	}
}

func begin(d store.Disk, times int) error {
	var errs []error
	for range times {
		_, _, err := store.OpenStarts(d, "starts").Begin("kernel", time.Now())
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// TestLatchIsALink: what stands in the place of the latch and is no file counts as set, as it does for the terminal.
func TestLatchIsALink(t *testing.T) {
	dir := t.TempDir()
	if err := os.Symlink("/nowhere", filepath.Join(dir, "latch")); err != nil {
		t.Fatal(err)
	}
	f := findings()
	f.addKept(Options{State: dir, Latch: "latch"})
	want(t, one(t, f, "e-stop"), false, "counts as set")
}

func TestClock(t *testing.T) {
	for year, ok := range map[int]bool{1970: false, 2025: false, 2026: true, 2199: true, 2200: false} {
		if err := implausible(time.Date(year, 6, 1, 0, 0, 0, 0, time.UTC)); (err == nil) != ok {
			t.Errorf("%d: got %v, want plausible %v", year, err, ok)
		}
	}
	f := findings()
	f.addClock(time.Unix(0, 0))
	want(t, one(t, f, "clock"), false, "tasks of cron and at wait until it is set")
}

func TestSupervision(t *testing.T) {
	file := filepath.Join(t.TempDir(), "watchdog")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		opts       Options
		env        map[string]string
		check      string
		ok, all    bool
		wantDetail string
	}{
		{Options{}, nil, "supervisor", true, true, "none here"},
		{Options{}, map[string]string{"NOTIFY_SOCKET": "/run/n"}, "supervisor", true, true, "set WatchdogSec"},
		{Options{}, map[string]string{"NOTIFY_SOCKET": "/run/n", "WATCHDOG_USEC": "7000000"}, "supervisor", true, true, "watches every 7s"},
		{Options{}, map[string]string{"NOTIFY_SOCKET": "/run/n", "WATCHDOG_USEC": "60000000"}, "supervisor", true, true, "will be told 7s"},
		{Options{}, map[string]string{"NOTIFY_SOCKET": "run/n"}, "supervisor", false, true, "neither a path"},
		{Options{Watchdog: "/dev/null"}, nil, "watchdog", true, true, "may be used"},
		{Options{Watchdog: file}, nil, "watchdog", false, false, "is no device"},
		{Options{Watchdog: file + "2"}, nil, "watchdog", false, false, "load its driver"},
		{Options{}, nil, "memory lock", true, true, "for `realtime: true` alone: "},
		{Options{}, nil, "realtime", true, true, "for `realtime: true` alone: "},
		{Options{}, nil, "processors", true, true, ""},
	} {
		f := findings()
		c.opts.Getenv = func(name string) string { return c.env[name] }
		f.addSupervision(c.opts)
		if f.OK != c.all {
			t.Errorf("%+v: all is well %v, want %v", c.opts, f.OK, c.all)
		}
		want(t, one(t, f, c.check), c.ok, c.wantDetail)
	}
}

func TestNetwork(t *testing.T) {
	f := findings()
	f.addNetwork(Options{Listen: "127.0.0.1:7333"})
	want(t, one(t, f, "network"), true, "the terminal listens on this computer alone")
	f = findings()
	f.addNetwork(Options{Network: "no-such-if"})
	want(t, one(t, f, "network"), false, "no-such-if: no such interface")
}
