package task

import (
	"errors"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/pal-terminal/pal/protocol"
	"github.com/pal-terminal/pal/store"
	powercut "github.com/pal-terminal/pal/store/crash"
)

// A one-shot that ran, and whose record the disk would not remove, does not run again after a cut.
func TestRecordThatCouldNotBeRemoved(t *testing.T) {
	for _, b := range []protocol.Brief{{Name: "t", AfterMS: ms(1000)}, every(time.Second)} {
		w := newWorld(t)
		id := w.add(persistent(b))
		w.disk.fail = func(op, _ string) error {
			if op == "delete" {
				return errDisk
			}
			return nil
		}
		if b.AfterMS == nil { // a cancel says that it may come back, and does its best that it does not
			mustCode(t, w.m.Cancel(id), protocol.CodeStorage)
			w.wantState(id, "cancelled")
		}
		w.run(2 * time.Second)
		runs := w.count(id)
		if w.disk.records["task-"+id] == nil {
			t.Fatal("the record is gone: the test tests nothing")
		}
		w.disk.fail = nil
		w.cut(time.Minute)
		if len(w.m.List()) != 0 {
			t.Errorf("got %+v back", w.m.List())
		}
		w.run(time.Minute)
		_ = w.m.flush()
		if w.count(id) != runs || w.disk.records["task-"+id] != nil {
			t.Errorf("got %d runs more, record %q", w.count(id)-runs, w.disk.records["task-"+id])
		}
	}
}

// What was registered during a stop is held from its record on: a cut before anything else is written changes nothing.
func TestCutAfterARegisterUnderAStop(t *testing.T) {
	w := newWorld(t)
	w.m.Hold(HoldEstop)
	id := w.add(persistent(every(time.Second)))
	if strings.Contains(string(w.disk.records["tasks"]), id) {
		t.Fatal("its mark is on disk: the test tests nothing")
	}
	w.cut(time.Minute)
	w.run(time.Minute)
	w.wantRuns(id, 0)
	w.wantState(id, "held")
}

// The stop is not over before it is on disk which tasks wait for a person.
func TestStopStaysWhileTheDiskFails(t *testing.T) {
	w := newWorld(t)
	id := w.add(persistent(every(time.Second)))
	w.m.Hold(HoldEstop)
	w.disk.fail = func(string, string) error { return errDisk }
	mustCode(t, w.m.Unhold(HoldEstop), protocol.CodeStorage)
	mustCode(t, w.m.Resume(id, true), protocol.CodeEstopped)
	w.disk.fail = nil
	ok(t, w.m.Unhold(HoldEstop))
	w.cut(time.Minute)
	w.run(time.Minute)
	w.wantRuns(id, 0)
	w.wantState(id, "held")
}

// A step that puts the next phase right behind the last run is no reason to run twice in a row.
func TestHalfAnIntervalAfterAStep(t *testing.T) {
	w := newWorld(t)
	id := w.add(every(10 * time.Minute))
	w.run(10 * time.Minute)
	w.step(9*time.Minute + 59*time.Second)
	w.run(5 * time.Minute)
	w.wantRuns(id, 1)
	w.run(5*time.Minute + time.Second)
	w.wantRuns(id, 2)
	if phase := w.runs[1].Due.Sub(birth) % (10 * time.Minute); phase != 0 {
		t.Errorf("got a run %v off its phase", phase)
	}
	for range 1000 { // a clock that jumps all the time
		w.step(9*time.Minute + 59*time.Second)
		w.run(time.Second)
	}
	if got := w.count(id); got > 2+4 {
		t.Errorf("got %d runs in 17 minutes of jumps", got-2)
	}
}

// What a loss of power left to make up for is made up for after a second loss too.
func TestCutBeforeItWasMadeUpFor(t *testing.T) {
	w := newWorld(t)
	id := w.add(persistent(protocol.Brief{Name: "t", Cron: "0 8 * * *"}))
	w.run(time.Minute)
	_ = w.m.flush()
	w.cut(4 * time.Hour)
	ok(t, w.m.flush())
	w.cut(time.Minute)
	w.run(time.Minute)
	w.wantRuns(id, 1)
}

// Cut the power at each write of a life with a task of each kind: nothing runs once too often, and nothing is lost.
func TestCutAtEachWrite(t *testing.T) {
	for n := 1; ; n++ {
		w := newWorld(t)
		writes, done := 0, false
		w.disk.fail = func(string, string) error {
			if writes++; writes == n {
				panic(crash{})
			}
			return nil
		}
		var ids []string
		func() {
			defer func() {
				if p := recover(); p != nil {
					w.disk.fail = nil
					w.cut(time.Minute)
				} else {
					done = true
				}
			}()
			three := persistent(every(time.Second))
			three.MaxRuns = ms(3)
			for _, b := range []protocol.Brief{{Name: "t", AfterMS: ms(1500)}, {Name: "t", At: birth.Add(2 * time.Second).Format(time.RFC3339)}, three} {
				ids = append(ids, w.add(persistent(b)))
			}
			w.run(10 * time.Second)
			_ = w.m.flush()
		}()
		w.run(time.Hour)
		for i, id := range ids {
			most := []int{1, 1, 3}[i]
			if got := w.count(id); got > most || i < 2 && got == 0 && !mayHaveRun(w, id) {
				t.Errorf("cut at write %d: task %s ran %d times, want %d", n, id, got, most)
			}
		}
		if keys := len(maps.Clone(w.disk.records)); keys > 1 {
			t.Errorf("cut at write %d: got %d records left, want the marks alone", n, keys)
		}
		if done {
			t.Logf("cut at each of %d writes", n-1)
			return
		}
	}
}

func mayHaveRun(w *world, id string) bool {
	info, err := w.m.Get(id, false)
	return err == nil && info.State == "failed" && strings.Contains(info.Reason, "may have run")
}

// cutting is the real table of records on a disk that loses power: the cut ends the test's terminal as it ends a real one.
type cutting struct{ *store.Records }

func (c cutting) Put(key string, value []byte) error { return cutHere(c.Records.Put(key, value)) }
func (c cutting) Delete(key string) error            { return cutHere(c.Records.Delete(key)) }

func cutHere(err error) error {
	if errors.Is(err, powercut.ErrCut) {
		panic(crash{})
	}
	return err
}

// The same with the table of records as it is, and a disk that keeps, loses or tears what was not synced, cut at each of its
// operations: what was acknowledged is there, runs, and runs once; nothing is found damaged.
func TestCutAtEachOperationOfADisk(t *testing.T) {
	n := 0
	for done := false; !done; n++ {
		for seed := range uint64(3) {
			done = cutAt(t, n, seed)
		}
	}
	t.Logf("cut at each of %d operations, in three ways", n-1)
}

func cutAt(t *testing.T, n int, seed uint64) (done bool) {
	t.Helper()
	d := powercut.New(seed)
	w := newWorld(t)
	w.open = func() (Records, map[string][]byte) {
		r, loaded, err := store.OpenRecords(d, "tasks", func(name, problem string) { t.Errorf("cut %d: %s is damaged: %s", n, name, problem) })
		if err != nil {
			t.Fatal(err)
		}
		return cutting{r}, loaded
	}
	w.start()
	d.CutAfter(n)
	var ids []string
	func() {
		defer func() {
			if p := recover(); p != nil {
				d = d.Restart(seed)
				w.cut(time.Minute)
			} else {
				done = true
				d.CutAfter(1 << 30)
			}
		}()
		three := every(time.Second)
		three.MaxRuns = ms(3)
		for _, b := range []protocol.Brief{{Name: "t", AfterMS: ms(1500)}, three, every(10 * time.Second)} {
			ids = append(ids, w.add(persistent(b)))
		}
		w.run(10 * time.Second)
		_ = w.m.flush()
	}()
	w.run(time.Hour)
	for i, id := range ids {
		switch got := w.count(id); {
		case i == 0 && got != 1 && !mayHaveRun(w, id), i == 1 && got > 3, i == 2 && got < 360:
			t.Errorf("cut %d, seed %d: task %s ran %d times", n, seed, id, got)
		}
	}
	return done
}
