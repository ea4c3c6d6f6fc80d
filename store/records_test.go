package store_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/pal-terminal/pal/limits"
	"github.com/pal-terminal/pal/store"
	"github.com/pal-terminal/pal/store/crash"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func folder(t *testing.T, dir string) store.Disk {
	t.Helper()
	d, err := store.Folder(dir)
	must(t, err)
	return d
}

// everyCut runs steps on disks that lose power at every operation there is, and shows check what many restarts find. steps ends at
// its first error; check gets how many steps returned.
func everyCut(t *testing.T, prepare func(d store.Disk), steps []func(d store.Disk) error, check func(t *testing.T, d *crash.Disk, done int)) {
	t.Helper()
	run := func(seed uint64, cutAfter int) (d *crash.Disk, done, ops int) {
		d = crash.New(seed)
		d.Unordered(seed%2 == 1)
		prepare(d)
		before := d.Ops()
		if cutAfter >= 0 {
			d.CutAfter(cutAfter)
		}
		for _, step := range steps {
			if step(d) != nil {
				break
			}
			done++
		}
		return d, done, d.Ops() - before
	}
	_, done, ops := run(0, -1)
	if done != len(steps) || ops < 2 {
		t.Fatalf("without a cut %d of %d steps were done, in %d operations", done, len(steps), ops)
	}
	for cut := range ops + 1 {
		for seed := range uint64(200) {
			d, done, _ := run(seed, cut)
			check(t, d.Restart(seed), done)
			if t.Failed() {
				t.Fatalf("cut after %d operations, %d steps done, seed %d", cut, done, seed)
			}
		}
	}
}

// table opens the records of a disk, of which nothing may be damaged.
func table(t *testing.T, d store.Disk) (*store.Records, map[string]string) {
	t.Helper()
	r, values, err := store.OpenRecords(d, "tasks", func(name, problem string) { t.Errorf("%s: %s", name, problem) })
	must(t, err)
	texts := map[string]string{}
	for k, v := range values {
		texts[k] = string(v)
	}
	return r, texts
}

func TestRecordsAcrossEveryCut(t *testing.T) {
	long := strings.Repeat("long", 1000)
	with := func(f func(r *store.Records) error) func(store.Disk) error {
		return func(d store.Disk) error {
			r, _, err := store.OpenRecords(d, "tasks", func(string, string) {})
			if err != nil {
				return err
			}
			return f(r)
		}
	}
	states := []map[string]string{
		{"kept": "k"}, {"kept": "k", "a": long}, {"kept": "k", "a": "short"}, {"kept": "k", "a": "short", "b": ""}, {"kept": "k", "b": ""}, {"kept": "k", "b": "", "a": long},
	}
	everyCut(t, func(d store.Disk) {
		must(t, with(func(r *store.Records) error { return r.Put("kept", []byte("k")) })(d))
	},
		[]func(store.Disk) error{
			with(func(r *store.Records) error { return r.Put("a", []byte(long)) }),
			with(func(r *store.Records) error { return r.Put("a", []byte("short")) }),
			with(func(r *store.Records) error { return r.Put("b", nil) }),
			with(func(r *store.Records) error { return r.Delete("a") }),
			with(func(r *store.Records) error { return r.Put("a", []byte(long)) }),
		},
		func(t *testing.T, d *crash.Disk, done int) {
			r, got := table(t, d)
			if !maps.Equal(got, states[done]) && (done == len(states)-1 || !maps.Equal(got, states[done+1])) {
				t.Errorf("got %.60v, want the state after %d or %d steps", got, done, done+1)
			}
			must(t, r.Put("after", []byte("x")))
			_, again := table(t, d.Restart(1))
			got["after"] = "x"
			if !maps.Equal(got, again) {
				t.Errorf("what was read was taken back: got %.60v, want %.60v", again, got)
			}
			if names, err := d.List("tasks"); err != nil || len(names) != len(got) {
				t.Errorf("leftovers: %q, %v", names, err)
			}
		})
}

// unsynced is a disk that does not sync folders while it is told so.
type unsynced struct {
	*crash.Disk
	fails int
}

func (d *unsynced) Sync(dir string) error {
	if d.fails > 0 {
		d.fails--
		return syscall.EIO
	}
	return d.Disk.Sync(dir)
}

// TestRecordsReadIsDurable cuts after a process died between a rename and the sync of its folder and another read the table.
func TestRecordsReadIsDurable(t *testing.T) {
	for seed := range uint64(100) {
		d := &unsynced{Disk: crash.New(seed)}
		r, _ := table(t, d)
		must(t, r.Put("a", []byte("old")))
		d.fails = 1
		if err := r.Put("a", []byte("new")); !errors.Is(err, syscall.EIO) {
			t.Fatalf("got %v", err)
		}
		_, got := table(t, d)
		if got["a"] != "new" {
			t.Fatalf("got %q", got)
		}
		_, after := table(t, d.Restart(seed))
		if !maps.Equal(got, after) {
			t.Fatalf("seed %d: read %v, and after a cut %v", seed, got, after)
		}
	}
}

// TestRecordsFailedSync fails each sync of a Put and a Delete; they must tell, and the next try must hold.
func TestRecordsFailedSync(t *testing.T) {
	for seed := range uint64(100) {
		d := crash.New(seed)
		r, _ := table(t, d)
		must(t, r.Put("a", []byte("old")))
		for n := 1; ; n++ {
			d.FailSync(n)
			if r.Put("a", []byte("new")) == nil {
				t.Fatal("a failed sync was not told")
			}
			if _, got := table(t, failing(d).Restart(seed)); got["a"] != "old" && got["a"] != "new" {
				t.Fatalf("got %q", got)
			}
			if n == 3 {
				break
			}
		}
		must(t, r.Put("a", []byte("new")))
		if _, got := table(t, d.Restart(seed)); got["a"] != "new" {
			t.Fatalf("got %q", got)
		}
		d.FailSync(1)
		if r.Delete("a") == nil {
			t.Fatal("a failed sync was not told")
		}
		must(t, r.Delete("a"))
		if _, got := table(t, d.Restart(seed)); len(got) != 0 {
			t.Fatalf("got %q after its deletion", got)
		}
	}
}

// failing ends what makes syncs fail.
func failing(d *crash.Disk) *crash.Disk {
	d.FailSync(0)
	return d
}

// raw writes a file as it is.
func raw(t *testing.T, d store.Disk, name string, content []byte) {
	t.Helper()
	must(t, store.Replace(d, name, content))
}

func TestRecordsQuarantine(t *testing.T) {
	d := crash.New(1)
	r, _ := table(t, d)
	must(t, r.Put("good", []byte("value")))
	must(t, r.Put("moved", []byte("other")))
	must(t, d.Rename("tasks/moved", "tasks/elsewhere"))
	good, err := store.Read(d, "tasks/good", 1000)
	must(t, err)
	foreign := map[string][]byte{
		"foreign": []byte("this file is somebody else's, and long enough"), "UPPER": good, "empty": {}, "head": good[:10],
		"huge": make([]byte, limits.RecordBytes+1000), "newer": []byte(strings.Replace(string(good), "\x01", "\x02", 1)),
	}
	for name, content := range foreign {
		raw(t, d, "tasks/"+name, content)
	}
	for round := range 2 {
		told := map[string]string{}
		_, values, err := store.OpenRecords(d, "tasks", func(name, problem string) { told[name] = problem })
		must(t, err)
		if len(values) != 1 || string(values["good"]) != "value" {
			t.Errorf("got %q", values)
		}
		for name, problem := range map[string]string{
			"foreign": "it is no record of this version", "newer": "it is no record of this version", "UPPER": "its name is no key",
			"empty": "it is cut off", "head": "it is cut off", "huge": "it is too long", "elsewhere": "it was written under another name",
		} {
			if round == 1 && name == "elsewhere" {
				continue
			}
			if told["tasks/"+name] != problem {
				t.Errorf("%s: told %q, want %q", name, told["tasks/"+name], problem)
			}
			delete(told, "tasks/"+name)
		}
		if len(told) > 0 {
			t.Errorf("also told %q", told)
		}
		for name, content := range foreign { // the same names come again, and nothing is written over
			if b, err := store.Read(d, fmt.Sprintf("quarantine/tasks.%s.%d", name, round+1), 1<<20); err != nil || string(b) != string(content) {
				t.Errorf("%s: quarantine holds %d bytes, %v, want %d", name, len(b), err, len(content))
			}
			if round == 0 {
				raw(t, d, "tasks/"+name, content)
			}
		}
	}
}

func TestRecordsQuarantineAcrossEveryCut(t *testing.T) {
	open := func(d store.Disk) error {
		_, _, err := store.OpenRecords(d, "tasks", func(string, string) {})
		return err
	}
	everyCut(t, func(d store.Disk) {
		must(t, open(d))
		raw(t, d, "tasks/bad", []byte("what is damaged is kept"))
	}, []func(store.Disk) error{open}, func(t *testing.T, d *crash.Disk, _ int) {
		kept, err := store.Read(d, "quarantine/tasks.bad.1", 100)
		if err != nil {
			kept, err = store.Read(d, "tasks/bad", 100)
		}
		if err != nil || string(kept) != "what is damaged is kept" {
			t.Errorf("got %q, %v", kept, err)
		}
	})
}

// TestRecordsStuck has a damaged file on a disk that takes no change: it stays, is told at each start, and a Put moves it first.
func TestRecordsStuck(t *testing.T) {
	d := crash.New(1)
	r, _ := table(t, d)
	must(t, r.Put("good", []byte("value")))
	raw(t, d, "tasks/bad", []byte("kept"))
	d.ReadOnly(true)
	var told []string
	r, values, err := store.OpenRecords(d, "tasks", func(name, problem string) { told = append(told, name+": "+problem) })
	must(t, err)
	if len(values) != 1 || len(told) != 1 || !strings.Contains(told[0], "tasks/bad: it is cut off, and cannot be moved") {
		t.Errorf("got %q, told %q", values, told)
	}
	for _, err := range []error{r.Put("bad", []byte("new")), r.Put("good", []byte("new")), r.Delete("good"), r.Delete("bad")} {
		if !errors.Is(err, syscall.EROFS) {
			t.Errorf("got %v, want EROFS", err)
		}
	}
	d.ReadOnly(false)
	must(t, r.Put("bad", []byte("new")))
	if b, err := store.Read(d, "quarantine/tasks.bad.1", 10); err != nil || string(b) != "kept" {
		t.Errorf("got %q, %v", b, err)
	}
	if _, got := table(t, d); got["bad"] != "new" || got["good"] != "value" {
		t.Errorf("got %q", got)
	}
	raw(t, d, "tasks/gone", []byte("kept"))
	d.ReadOnly(true)
	r, _, err = store.OpenRecords(d, "tasks", func(string, string) {})
	must(t, err)
	d.ReadOnly(false)
	must(t, d.Remove("tasks/gone")) // by hand
	must(t, r.Put("gone", []byte("new")))
}

// TestRecordsStuckAcrossEveryCut cuts a Put that moves what is damaged: that is kept at every step.
func TestRecordsStuckAcrossEveryCut(t *testing.T) {
	var r *store.Records
	everyCut(t, func(d store.Disk) {
		table(t, d)
		raw(t, d, "tasks/bad", []byte("kept"))
		d.(*crash.Disk).ReadOnly(true)
		var err error
		r, _, err = store.OpenRecords(d, "tasks", func(string, string) {})
		must(t, err)
		d.(*crash.Disk).ReadOnly(false)
	}, []func(store.Disk) error{func(store.Disk) error { return r.Put("bad", []byte("new")) }}, func(t *testing.T, d *crash.Disk, _ int) {
		there, _ := store.Read(d, "tasks/bad", 100)
		moved, _ := store.Read(d, "quarantine/tasks.bad.1", 100)
		if string(there) != "kept" && string(moved) != "kept" {
			t.Errorf("got %q and %q in quarantine", there, moved)
		}
	})
}

func TestRecordsEveryByte(t *testing.T) {
	d := crash.New(1)
	r, _ := table(t, d)
	must(t, r.Put("a-1", []byte("some value")))
	whole, err := store.Read(d, "tasks/a-1", 1000)
	must(t, err)
	damaged := func(what string, content []byte) {
		t.Helper()
		raw(t, d, "tasks/a-1", content)
		told := 0
		_, values, err := store.OpenRecords(d, "tasks", func(string, string) { told++ })
		must(t, err)
		if told != 1 || len(values) != 0 {
			t.Fatalf("%s: told %d times, got %q", what, told, values)
		}
		must(t, d.Remove("quarantine/tasks.a-1.1"))
	}
	for n := range whole {
		for bit := range 8 {
			flipped := slices.Clone(whole)
			flipped[n] ^= 1 << bit
			damaged(fmt.Sprintf("bit %d of byte %d flipped", bit, n), flipped)
		}
		damaged(fmt.Sprintf("cut to %d bytes", n), whole[:n])
		damaged(fmt.Sprintf("zero from byte %d", n), append(slices.Clone(whole[:n]), make([]byte, len(whole)-n)...))
	}
	damaged("one byte more", append(slices.Clone(whole), 0))
	damaged("twice", append(slices.Clone(whole), whole...))
}

func TestRecordsBounds(t *testing.T) {
	d := crash.New(1)
	r, _ := table(t, d)
	most, longest := strings.Repeat("x", limits.RecordBytes), strings.Repeat("k", limits.NameBytes)
	must(t, r.Put(longest, []byte(most)))
	if err := r.Put("a", []byte(most+"x")); err == nil {
		t.Error("took a value that is too long")
	}
	for _, key := range []string{"", longest + "k", "A", "a.b", "a/b", "..", "a b", "ä", "a\x00", "a.new"} {
		if r.Put(key, nil) == nil || r.Delete(key) == nil {
			t.Errorf("took the key %q", key)
		}
	}
	if _, got := table(t, d.Restart(1)); len(got) != 1 || got[longest] != most {
		t.Errorf("got %d records", len(got))
	}
}

func TestRecordsFullDisk(t *testing.T) {
	d := crash.New(1)
	r, _ := table(t, d)
	must(t, r.Put("a", []byte("old")))
	must(t, r.Put("b", []byte("b")))
	for room := int64(0); room < 20; room++ {
		d.Room(room)
		if err := r.Put("a", []byte("new")); !errors.Is(err, syscall.ENOSPC) {
			t.Fatalf("room for %d: got %v", room, err)
		}
		if n, _ := d.Free(); n != room {
			t.Fatalf("a failed Put kept %d of %d bytes", room-n, room)
		}
	}
	d.Full(true)
	must(t, r.Delete("b"))
	if _, got := table(t, d.Restart(1)); !maps.Equal(got, map[string]string{"a": "old"}) {
		t.Errorf("got %q", got)
	}
}

func TestRecordsTogether(t *testing.T) {
	d := crash.New(1)
	r, _ := table(t, d)
	var all sync.WaitGroup
	for n := range 8 {
		all.Go(func() {
			for i := range 50 {
				err := r.Put("shared", fmt.Appendf(nil, "%d", n))
				if err = errors.Join(err, r.Put(fmt.Sprintf("own-%d", n), fmt.Appendf(nil, "%d", i))); err != nil {
					t.Error(err)
				}
				if err := r.Delete("shared"); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	_, got := table(t, d.Restart(1))
	if len(got) != 8 || got["own-0"] != "49" || got["own-7"] != "49" {
		t.Errorf("got %q", got)
	}
}
