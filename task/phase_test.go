package task

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/pal-terminal/pal/protocol"
)

// A million periods of 200 ms, with runs of random length, some longer than a period: every start that was free is on its time.
func TestPhaseHasNoDrift(t *testing.T) {
	w := newWorld(t)
	rng := rand.New(rand.NewPCG(1, 2))
	const period, periods = 200 * time.Millisecond, 1_000_000
	runs := 0
	var worst time.Duration
	var last Run
	w.o.Run = nil
	begin := w.Now().Wall
	id := w.add(every(period))
	w.takes = func(r Run) time.Duration {
		runs++
		if phase := r.Due.Sub(begin) % period; phase != 0 {
			t.Fatalf("run %d: due %v off its phase", r.Number, phase)
		}
		worst = max(worst, w.Now().Wall.Sub(r.Due))
		last = r
		w.runs, w.starts = w.runs[:0], w.starts[:0]
		if rng.IntN(50) == 0 {
			return time.Duration(rng.Int64N(int64(5 * period)))
		}
		return time.Duration(rng.Int64N(int64(period)))
	}
	w.run(periods * period)
	info := w.get(id)
	if sum := uint64(runs) + info.Missed["overlap"]; sum != periods {
		t.Errorf("got %d runs and %v missed, want %d together", runs, info.Missed, periods)
	}
	if drift := last.Due.Sub(begin) % period; drift != 0 || worst != 0 {
		t.Errorf("got drift %v and lateness %v, want none", drift, worst)
	}
	t.Logf("%d periods of %v: %d runs, %d overlaps, drift %v", periods, period, runs, info.Missed["overlap"], last.Due.Sub(begin)%period)
}

func TestPhaseAfterRestart(t *testing.T) {
	w := newWorld(t)
	begin := w.Now().Wall
	id := w.add(persistent(every(200 * time.Millisecond)))
	w.run(10 * time.Second)
	w.cut(7*time.Second + 77*time.Millisecond)
	w.runs = nil
	w.run(10 * time.Second)
	regular := 0
	for _, r := range w.runs {
		if r.Cause == CauseSchedule {
			regular++
			if phase := r.Due.Sub(begin) % (200 * time.Millisecond); phase != 0 {
				t.Fatalf("got a run due %v off the phase it had before", phase)
			}
		}
	}
	if regular != 50 {
		t.Errorf("got %d regular runs in 10 s, want 50", regular)
	}
	if first := w.runs[0]; first.Cause != CauseCompensation || !first.Compensated {
		t.Errorf("got first run %+v, want one that makes up for the loss of power", first)
	}
	if last := w.get(id).Last; last == nil || last.Outcome != "ok" {
		t.Errorf("got last run %+v, want ok", last)
	}
}

// Neighbours ran a new task at once.
func TestFirstRunAfterOneInterval(t *testing.T) {
	w := newWorld(t)
	id, next, err := w.m.Register(Owner{Actor: "a"}, every(time.Minute), "x")
	if err != nil || !next.Equal(birth.Add(time.Minute)) {
		t.Fatalf("got next %v, %v, want %v", next, err, birth.Add(time.Minute))
	}
	w.run(time.Minute - time.Millisecond)
	w.wantRuns(id, 0)
	w.run(time.Millisecond)
	w.wantRuns(id, 1)
}

// Neighbours gained a tick each cycle.
func TestNoTickGainedEachCycle(t *testing.T) {
	w := newWorld(t)
	id := w.add(every(10 * time.Millisecond))
	w.takes = func(Run) time.Duration { return 3 * time.Millisecond }
	w.run(10 * time.Second)
	w.wantRuns(id, 1000)
}

// Neighbours deleted a one-shot before it was queued, so that a cut in between lost it.
func TestOneShotOnDiskUntilItRan(t *testing.T) {
	w := newWorld(t)
	id := w.add(persistent(protocol.Brief{Name: "t", AfterMS: ms(5000)}))
	w.run(4 * time.Second)
	if _, ok := w.disk.records["task-"+id]; !ok {
		t.Fatal("its record is gone before it ran")
	}
	w.cut(time.Minute)
	w.run(time.Second)
	w.wantRuns(id, 1)
	w.wantState(id, "done")
	if w.runs[0].Cause != CauseCompensation {
		t.Errorf("got cause %s, want compensation", w.runs[0].Cause)
	}
	if _, ok := w.disk.records["task-"+id]; ok {
		t.Error("its record is still there after it ran")
	}
	w.cut(time.Minute)
	w.run(time.Hour)
	w.wantRuns(id, 1)
}

// Neighbours lost a one-shot when their queue was full: here twenty are due at once, behind a run that takes long.
func TestOneShotsBehindALongRun(t *testing.T) {
	w := newWorld(t)
	w.add(every(time.Second))
	var ids []string
	for range 19 {
		ids = append(ids, w.add(protocol.Brief{Name: "t", AfterMS: ms(1500)}))
	}
	w.takes = func(Run) time.Duration { return 900 * time.Millisecond }
	w.run(time.Minute)
	for _, id := range ids {
		w.wantRuns(id, 1)
	}
}

// Neighbours ran a one-shot at once that was made before the clock was set.
func TestOneShotFromBeforeTheClockWasSet(t *testing.T) {
	w := newWorld(t)
	w.off = time.Unix(0, 0).Add(-w.boot)
	id := w.add(persistent(protocol.Brief{Name: "t", AfterMS: ms(60_000)}))
	w.run(10 * time.Second)
	w.step(birth.Sub(time.Unix(0, 0)))
	w.run(10 * time.Second)
	w.wantRuns(id, 0)
	w.run(39 * time.Second)
	w.wantRuns(id, 0)
	w.run(time.Second)
	w.wantRuns(id, 1)
}

// Neighbours skipped daily runs without a word.
func TestDailyRunMissedIsMadeUpForOrCounted(t *testing.T) {
	w := newWorld(t)
	daily := protocol.Brief{Name: "t", Cron: "0 8 * * *"}
	once, skip, all := persistent(daily), persistent(daily), persistent(daily)
	skip.Misfire, all.Misfire = "skip", "all"
	ids := []string{w.add(once), w.add(skip), w.add(all)}
	w.run(time.Minute)
	w.cut(3 * 24 * time.Hour)
	w.run(time.Second)
	for i, want := range []struct {
		runs   int
		missed uint64
	}{{1, 2}, {0, 3}, {1, 0}} {
		w.wantRuns(ids[i], want.runs)
		if got := w.get(ids[i]).Missed["power"]; got != want.missed {
			t.Errorf("rule %d: got %d missed, want %d", i, got, want.missed)
		}
	}
	w.run(36 * time.Hour) // one at a time, at half the interval, while its own times go on
	w.wantRuns(ids[2], 3+2)
}

// Neighbours wrote to the disk at every firing.
func TestNoWriteForEachRun(t *testing.T) {
	w := newWorld(t)
	id := w.add(persistent(every(10 * time.Millisecond)))
	many := persistent(every(10 * time.Millisecond))
	many.MaxRuns = ms(100_000)
	w.add(many)
	w.run(5 * time.Second)
	before := w.writes()
	w.run(10 * time.Minute)
	if got := w.writes() - before; got > 22 || w.count(id) != 60_500 {
		t.Errorf("got %d writes for %d runs in 10 min, want about two a minute", got, w.count(id))
	}
}

func (w *world) writes() int {
	n := 0
	for _, k := range w.disk.puts {
		n += k
	}
	return n
}

// Neighbours did not start with a damaged table.
func TestDamagedRecordIsSetAside(t *testing.T) {
	w := newWorld(t)
	a, b := w.add(persistent(every(time.Second))), w.add(persistent(every(time.Second)))
	w.disk.records["task-"+a] = w.disk.records["task-"+a][:40]
	w.disk.records["task-x"] = []byte("{}")
	w.disk.records["leases"] = []byte("not ours")
	w.cut(time.Second)
	w.run(10 * time.Second)
	if got := w.m.List(); len(got) != 1 || got[0].TaskID != b || w.count(b) < 10 {
		t.Errorf("got %+v with %d runs, want task %s alone, running", got, w.count(b), b)
	}
	if len(w.disk.records["damaged-task-"+a]) != 40 || w.disk.records["task-"+a] != nil || w.disk.records["leases"] == nil {
		t.Error("the damaged bytes are not where they should be")
	}
	told := 0
	for _, e := range w.events {
		if e == "store_damaged" {
			told++
		}
	}
	if told != 2 {
		t.Errorf("got %d events store_damaged, want 2", told)
	}
	if c := w.add(every(time.Second)); order(c) <= order(b) {
		t.Errorf("got id %s after %s", c, b)
	}
}

// Without the record of how far tasks came nobody knows what was held or has run: nothing runs by itself.
func TestDamagedMarksPauseAll(t *testing.T) {
	w := newWorld(t)
	id := w.add(persistent(every(time.Second)))
	shot := w.add(persistent(protocol.Brief{Name: "t", AfterMS: ms(5000)}))
	w.disk.records["tasks"] = []byte(`{"version":1`)
	w.cut(time.Minute)
	w.run(time.Minute)
	w.wantRuns(id, 0)
	w.wantRuns(shot, 0)
	w.wantState(id, "paused")
	if err := w.m.Resume(id, true); err != nil {
		t.Fatal(err)
	}
	w.run(10 * time.Second)
	w.wantRuns(id, 10)
	if next := w.add(every(time.Second)); order(next) <= order(shot) {
		t.Errorf("got id %s again", next)
	}
}
