package crash_test

import (
	"errors"
	"io/fs"
	"strings"
	"syscall"
	"testing"

	"github.com/pal-terminal/pal/store"
	"github.com/pal-terminal/pal/store/crash"
	"github.com/pal-terminal/pal/store/storetest"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func open(t *testing.T, d store.Disk, name string) store.File {
	t.Helper()
	f, err := d.Open(name, true)
	must(t, err)
	return f
}

func put(t *testing.T, f store.File, text string) {
	t.Helper()
	_, err := f.WriteAt([]byte(text), 0)
	must(t, err)
}

// read returns a file's text, "-" when it is not there.
func read(t *testing.T, d store.Disk, name string) string {
	t.Helper()
	f, err := d.Open(name, false)
	if errors.Is(err, fs.ErrNotExist) {
		return "-"
	}
	must(t, err)
	n, err := f.Size()
	must(t, err)
	b := make([]byte, n)
	_, err = f.ReadAt(b, 0)
	must(t, err)
	return string(b)
}

// outcomes are what many cuts leave of a file.
func outcomes(t *testing.T, d *crash.Disk, name string) map[string]int {
	t.Helper()
	seen := map[string]int{}
	for seed := range uint64(2000) {
		seen[read(t, d.Restart(seed), name)]++
	}
	return seen
}

func TestWhatWasSyncedIsKept(t *testing.T) {
	d := crash.New(1)
	f := open(t, d, "a")
	put(t, f, "hello")
	must(t, f.Sync())
	must(t, d.Sync(""))
	if got := outcomes(t, d, "a"); got["hello"] != 2000 {
		t.Errorf("got %v", got)
	}
}

func TestSyncOfAFileIsNotSyncOfItsFolder(t *testing.T) {
	d := crash.New(1)
	f := open(t, d, "a")
	put(t, f, "hello")
	must(t, f.Sync())
	if got := outcomes(t, d, "a"); len(got) != 2 || got["-"] == 0 || got["hello"] == 0 {
		t.Errorf("got %v", got)
	}
}

func TestWritesAreKeptTornOrLost(t *testing.T) {
	d := crash.New(1)
	f := open(t, d, "a")
	put(t, f, strings.Repeat("o", 1024))
	must(t, f.Sync())
	must(t, d.Sync(""))
	put(t, f, strings.Repeat("n", 1536))
	got := outcomes(t, d, "a")
	o, n, z := strings.Repeat("o", 512), strings.Repeat("n", 512), strings.Repeat("\x00", 512)
	for _, want := range []string{o + o, n + n + n, o + n, o + n + n, n + o + n, n + o, o + o + z} {
		if got[want] == 0 {
			t.Errorf("never left %.1q %.1q...", want, want[512:])
		}
	}
	torn, ends := 0, 0
	for s := range got {
		for i := 1; i < len(s); i++ {
			if s[i] != s[i-1] && i%512 != 0 {
				torn++
			}
		}
		if len(s)%512 != 0 {
			ends++
		}
	}
	if torn < 50 || ends < 5 {
		t.Errorf("got %d ways of being torn within a sector and %d of ending there", torn, ends)
	}
}

func TestNamesKeepTheirOrder(t *testing.T) {
	state := func(d *crash.Disk) string {
		return read(t, d, "a") + read(t, d, "b") + read(t, d, "c")
	}
	d := crash.New(1)
	for _, name := range []string{"a", "b", "c"} {
		f := open(t, d, name)
		put(t, f, name)
		must(t, f.Sync())
	}
	for _, unordered := range []bool{false, true} {
		d.Unordered(unordered)
		got := map[string]bool{}
		for seed := range uint64(1000) {
			got[state(d.Restart(seed))] = true
		}
		if want := map[bool]int{false: 4, true: 8}[unordered]; len(got) != want || !got["---"] || !got["a--"] || !got["abc"] || got["-b-"] != unordered {
			t.Errorf("unordered %v: got %v", unordered, got)
		}
	}
}

func TestRenameIsWholeAndNeedsASync(t *testing.T) {
	d := crash.New(1)
	must(t, d.Mkdir("x"))
	must(t, d.Sync(""))
	f := open(t, d, "a")
	put(t, f, "hello")
	must(t, f.Sync())
	must(t, d.Sync(""))
	must(t, d.Rename("a", "x/b"))
	got := map[string]bool{}
	for seed := range uint64(100) {
		n := d.Restart(seed)
		got[read(t, n, "a")+" "+read(t, n, "x/b")] = true
	}
	if len(got) != 2 || !got["hello -"] || !got["- hello"] {
		t.Errorf("got %v", got)
	}
	must(t, d.Sync("x"))
	if got := outcomes(t, d, "x/b"); got["hello"] != 2000 {
		t.Errorf("got %v", got)
	}
}

func TestALostFolderLosesItsFiles(t *testing.T) {
	d := crash.New(1)
	must(t, d.Mkdir("x"))
	f := open(t, d, "x/a")
	put(t, f, "hello")
	must(t, f.Sync())
	must(t, d.Sync("x"))
	for seed := range uint64(100) {
		n := d.Restart(seed)
		if must(t, n.Mkdir("x")); read(t, n, "x/a") == "-" {
			return
		}
	}
	t.Error("a folder that was not synced was never lost")
}

// TestSyncTakesWhatWasBefore moves a file between folders: with the move durable, what made the file cannot come after it.
func TestSyncTakesWhatWasBefore(t *testing.T) {
	d := crash.New(1)
	must(t, d.Mkdir("x"))
	must(t, d.Sync(""))
	put(t, open(t, d, "a"), "hello")
	must(t, d.Rename("a", "x/a"))
	must(t, d.Sync("x"))
	if got := outcomes(t, d, "a"); got["-"] != 2000 {
		t.Errorf("moved, and back again: %v", got)
	}
}

func TestWhatWasSyncedIsDone(t *testing.T) {
	d := crash.New(1)
	d.Unordered(true)
	put(t, open(t, d, "a"), "hello")
	must(t, d.Sync(""))
	must(t, d.Remove("a"))
	must(t, d.Sync(""))
	if got := outcomes(t, d, "a"); got["-"] != 2000 {
		t.Errorf("removed, and back again: %v", got)
	}
	put(t, open(t, d, "a"), "a")
	put(t, open(t, d, "b"), "b")
	for seed := range uint64(100) { // the next cut is as unordered as the first
		n := d.Restart(2)
		put(t, open(t, n, "c"), "c")
		put(t, open(t, n, "d"), "d")
		if n = n.Restart(seed); read(t, n, "c") == "-" && read(t, n, "d") != "-" {
			return
		}
	}
	t.Error("the order was kept after a restart")
}

func TestAFailedSyncLosesForGood(t *testing.T) {
	lost := 0
	for seed := range uint64(200) {
		d := crash.New(seed)
		f := open(t, d, "a")
		put(t, f, "old")
		must(t, f.Sync())
		must(t, d.Sync(""))
		put(t, f, "new")
		d.FailSync(1)
		if err := f.Sync(); !errors.Is(err, syscall.EIO) {
			t.Fatalf("got %v", err)
		}
		must(t, f.Sync())
		if got := read(t, d, "a"); got != "new" {
			t.Fatalf("programs see %q", got)
		}
		if read(t, d.Restart(seed), "a") == "old" {
			lost++
		}
		put(t, f, "new")
		must(t, f.Sync())
		if got := read(t, d.Restart(seed), "a"); got != "new" {
			t.Fatalf("written again: got %q", got)
		}
	}
	if lost < 20 || lost > 180 {
		t.Errorf("lost %d of 200", lost)
	}
}

func TestCut(t *testing.T) {
	d := crash.New(1)
	f := open(t, d, "a")
	put(t, f, "old")
	must(t, f.Sync())
	must(t, d.Sync(""))
	if d.Ops() != 4 {
		t.Errorf("got %d operations, want 4", d.Ops())
	}
	d.CutAfter(1)
	put(t, f, "new")
	if err := f.Sync(); !errors.Is(err, crash.ErrCut) {
		t.Errorf("sync: got %v", err)
	}
	_, readErr := f.ReadAt(make([]byte, 1), 0)
	_, openErr := d.Open("a", false)
	_, listErr := d.List("")
	_, freeErr := d.Free()
	for _, err := range []error{readErr, openErr, listErr, freeErr, d.Remove("a"), d.Rename("a", "b"), d.Sync(""), d.Mkdir("x")} {
		if !errors.Is(err, crash.ErrCut) {
			t.Errorf("after the cut: got %v", err)
		}
	}
	if got := outcomes(t, d, "a"); got["old"] == 0 || got["new"] == 0 || got["odd"] != 0 {
		t.Errorf("got %v", got)
	}
}

func TestFullAndReadOnly(t *testing.T) {
	d := crash.New(1)
	f := open(t, d, "a")
	put(t, f, "old")
	put(t, f, "n")
	d.Full(true)
	put(t, f, "new")
	must(t, f.Sync())
	if n, err := f.WriteAt([]byte("longer"), 0); n != 3 || !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("grow: got %d, %v", n, err)
	}
	must(t, f.Truncate(10))
	if _, err := f.WriteAt([]byte("x"), 5); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("write where a Truncate grew: got %v", err)
	}
	if _, err := d.Open("b", true); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("create: got %v", err)
	}
	d.Full(false)
	d.Room(4)
	g := open(t, d, "b")
	if n, err := g.WriteAt([]byte("hello"), 0); n != 4 || !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("room for 4: got %d, %v", n, err)
	}
	must(t, d.Remove("a"))
	if n, err := d.Free(); n != 3 || err != nil {
		t.Errorf("free: got %d, %v", n, err)
	}
	d.ReadOnly(true)
	for _, err := range []error{g.Truncate(0), g.Sync(), d.Remove("b"), d.Mkdir("x")} {
		if !errors.Is(err, syscall.EROFS) {
			t.Errorf("read-only: got %v", err)
		}
	}
	if got := read(t, d, "b"); got != "hell" {
		t.Errorf("got %q", got)
	}
}

func TestContract(t *testing.T) {
	storetest.Run(t, func(*testing.T) store.Disk { return crash.New(1) })
}
