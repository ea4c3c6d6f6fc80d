package task

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pal-terminal/pal/limits"
	"github.com/pal-terminal/pal/protocol"
)

func mustCode(t *testing.T, err error, want protocol.Code) {
	t.Helper()
	if got := code(t, err); got != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func ok(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// An e-stop holds each task until a person resumes it, those made meanwhile and those restored too.
func TestEstopHoldsEach(t *testing.T) {
	w := newWorld(t)
	a, b := w.add(persistent(every(time.Second))), w.add(every(time.Second))
	w.run(2 * time.Second)
	w.m.Hold(HoldEstop)
	c := w.add(every(time.Second))
	shot := w.add(persistent(protocol.Brief{Name: "t", AfterMS: ms(1000)}))
	w.run(10 * time.Second)
	for _, id := range []string{a, b} {
		w.wantState(id, "held")
		w.wantRuns(id, 2)
		if got := w.get(id).Missed[HoldEstop]; got != 10 {
			t.Errorf("got %d missed, want 10", got)
		}
	}
	mustCode(t, w.m.Resume(a, true), protocol.CodeEstopped)
	mustCode(t, w.m.Trigger(a), protocol.CodeEstopped)
	ok(t, w.m.Unhold(HoldEstop))
	w.run(10 * time.Second)
	for _, id := range []string{a, b, c, shot} {
		w.wantState(id, "held")
	}
	mustCode(t, w.m.Resume(a, false), protocol.CodeDenied)
	ok(t, w.m.Resume(b, true))
	w.run(10 * time.Second)
	w.wantRuns(a, 2)
	w.wantRuns(b, 12)
	w.wantRuns(c, 0)
	w.cut(time.Minute) // the latch is the caller's, the holds are on disk
	w.run(10 * time.Second)
	w.wantState(a, "held")
	w.wantState(shot, "held")
	ok(t, w.m.Resume(a, true))
	ok(t, w.m.Resume(shot, true))
	w.run(10 * time.Second)
	w.wantRuns(a, 12)
	w.wantRuns(shot, 1)
}

// Storage and hub hold tasks and let them go again by themselves; with a pause or another hold, all must end.
func TestHoldsCombine(t *testing.T) {
	w := newWorld(t)
	hub := every(time.Second)
	hub.OnHubLoss = "hold"
	a, b := w.add(every(time.Second)), w.add(hub)
	shot := w.add(protocol.Brief{Name: "t", AfterMS: ms(1000)})
	w.m.Hold(HoldStorage)
	w.m.Hold(HoldHub)
	w.run(3 * time.Second)
	ok(t, w.m.Unhold(HoldStorage))
	w.run(3 * time.Second)
	w.wantRuns(a, 3)
	w.wantRuns(b, 0)
	w.wantRuns(shot, 1)
	ok(t, w.m.Pause(b))
	ok(t, w.m.Unhold(HoldHub))
	w.run(3 * time.Second)
	w.wantState(b, "paused")
	ok(t, w.m.Resume(b, false))
	w.run(3 * time.Second)
	w.wantRuns(b, 3)
	if got := w.get(b).Missed; got[HoldStorage] != 3 || got[HoldHub] != 3 {
		t.Errorf("got %v missed, want 3 for storage, 3 for hub, none for the pause", got)
	}
}

// In safe mode nothing runs, also not what was missed meanwhile or is asked for; leaving it lets all go on in their phase.
func TestSafeMode(t *testing.T) {
	w := newWorld(t)
	a := w.add(persistent(every(time.Second)))
	w.run(2 * time.Second)
	w.cut(3 * time.Second)
	w.m.Hold(HoldSafe)
	_ = w.m.Trigger(a)
	w.run(4 * time.Second)
	w.wantState(a, "held")
	w.wantRuns(a, 2)
	ok(t, w.m.Unhold(HoldSafe))
	w.run(3 * time.Second)
	w.wantRuns(a, 6) // one of them makes up for the loss of power
	if got := w.get(a).Missed[HoldSafe]; got != 4 {
		t.Errorf("got %d missed in safe mode, want 4", got)
	}
}

// Ready is asked before each run; what was refused is late, or counted, and one-shots wait.
func TestNotReady(t *testing.T) {
	w := newWorld(t)
	var full error
	w.m.o.Ready = func() error { return full }
	a := w.add(every(time.Second))
	shot := w.add(protocol.Brief{Name: "t", AfterMS: ms(1000)})
	full = errDisk
	w.run(10 * time.Second)
	w.wantState(a, "held")
	w.wantRuns(a, 0)
	w.wantRuns(shot, 0)
	full = nil
	w.run(10 * time.Second)
	w.wantRuns(shot, 1)
	if got := w.count(a) + int(w.get(a).Missed[HoldStorage]); got != 20 || w.count(a) < 9 {
		t.Errorf("got %d runs, %v missed, want 20 together", w.count(a), w.get(a).Missed)
	}
}

func TestFailuresPause(t *testing.T) {
	w := newWorld(t)
	w.outcome = func(r Run) Outcome {
		if r.Number == 3 {
			return Outcome{}
		}
		return Outcome{Code: "python_error", Message: "OSError"}
	}
	id := w.add(persistent(every(time.Second)))
	w.run(time.Minute)
	w.wantRuns(id, 3+limits.TaskFailures)
	w.wantState(id, "paused")
	if got := w.get(id).Reason; !strings.Contains(got, "5 times in a row") || !strings.Contains(got, "OSError") {
		t.Errorf("got reason %q", got)
	}
	if !slices.Contains(w.events, "task_paused "+id) || !slices.Contains(w.safe, id+" failures") {
		t.Errorf("got events %v, safe %v", w.events, w.safe)
	}
	w.cut(time.Hour)
	w.run(time.Minute)
	w.wantState(id, "paused")
	w.wantRuns(id, 8)
	w.outcome = func(Run) Outcome { return Outcome{Code: "estopped"} }
	ok(t, w.m.Resume(id, false))
	w.run(time.Minute)
	w.wantState(id, "pending") // what others end is no failure of its own
}

// What a program says when it fails can neither fill nor spoil the record of all tasks.
func TestHostileReasons(t *testing.T) {
	w := newWorld(t)
	w.m.o.Tasks = limits.TasksMax
	w.outcome = func(Run) Outcome {
		return Outcome{Code: "python_error", Message: strings.Repeat("\x01\xff", 20_000)}
	}
	for range limits.TasksMax {
		w.add(persistent(every(time.Second)))
	}
	w.run(time.Minute)
	if n := len(w.disk.records["tasks"]); n > limits.RecordBytes || w.urgent() {
		t.Errorf("got a record of %d bytes, want at most %d, written", n, limits.RecordBytes)
	}
	for _, info := range w.m.List() {
		if info.State != "paused" || len(info.Reason) > limits.ReasonBytes {
			t.Fatalf("got %s with a reason of %d bytes", info.State, len(info.Reason))
		}
	}
}

func TestMaxRunsSurvivesCuts(t *testing.T) {
	w := newWorld(t)
	b := persistent(every(time.Minute))
	b.MaxRuns, b.Misfire = ms(5), "skip"
	id := w.add(b)
	w.run(3*time.Minute + 10*time.Second)
	w.cut(time.Minute)
	w.run(10 * time.Minute)
	w.wantRuns(id, 5)
	w.wantState(id, "done")
	if len(w.safe) != 0 {
		t.Errorf("got %v made safe, want outputs to keep their level", w.safe)
	}
}

// A one-shot that the power cut while it ran is not run again, and says so.
func TestCutWhileAOneShotRuns(t *testing.T) {
	w := newWorld(t)
	id := w.add(persistent(protocol.Brief{Name: "t", AfterMS: ms(1000)}))
	kept := map[string][]byte{}
	w.takes = func(Run) time.Duration {
		for k, v := range w.disk.records {
			kept[k] = v
		}
		return time.Second
	}
	w.run(3 * time.Second)
	w.disk.records = kept
	w.cut(time.Minute)
	w.run(time.Minute)
	w.wantRuns(id, 1)
	w.wantState(id, "failed")
	if got := w.get(id).Reason; !strings.Contains(got, "may have run") || len(w.claims) != 0 {
		t.Errorf("got reason %q, claims %v", got, w.claims)
	}
}

// A one-shot whose booking does not reach the disk waits, and runs once the disk takes it.
func TestOneShotWaitsForTheDisk(t *testing.T) {
	w := newWorld(t)
	id := w.add(persistent(protocol.Brief{Name: "t", AfterMS: ms(1000)}))
	w.disk.fail = func(string, string) error { return errDisk }
	w.run(10 * time.Second)
	w.wantRuns(id, 0)
	w.wantState(id, "held")
	w.disk.fail = nil
	w.run(3 * time.Second)
	w.wantRuns(id, 1)
	w.wantState(id, "done")
}

// Register is all or nothing.
func TestRegisterOnABadDisk(t *testing.T) {
	w := newWorld(t)
	w.add(every(time.Second))
	for _, both := range []bool{false, true} {
		w.disk.fail = func(op, key string) error {
			if strings.HasPrefix(key, "task-") && (op == "put" || both) {
				return errDisk
			}
			return nil
		}
		_, _, err := w.m.Register(Owner{}, persistent(every(time.Second)), "x")
		mustCode(t, err, protocol.CodeStorage)
		if len(w.m.List()) != 1 || len(w.claims) != 1 {
			t.Errorf("got %d tasks and claims %v after a refusal, want one", len(w.m.List()), w.claims)
		}
	}
	// What could not be removed is marked, so that it does not come to life with the next start.
	w.disk.fail = nil
	w.disk.records["task-003"] = []byte(`{"version":1,"id":"003","brief":{"name":"t","interval_ms":1000,"storage":"persistent"},` +
		`"code":"x","owner":{"actor":"","class":"","scopes":null},"created_ns":0,"anchor_ns":0}`)
	ok(t, w.m.flush())
	if w.disk.records["task-003"] != nil {
		t.Error("the record is still there")
	}
	w.disk.fail = func(string, string) error { return errDisk }
	for range limits.TaskIDs {
		_, _, err := w.m.Register(Owner{}, every(time.Second), "x")
		if err != nil {
			mustCode(t, err, protocol.CodeStorage)
			return
		}
	}
	t.Error("ids went on without the disk knowing of them")
}

func TestRefusals(t *testing.T) {
	w := newWorld(t)
	owner := Owner{Actor: "a"}
	taken := every(time.Second)
	taken.Resources = []protocol.ResourceUse{{Resource: "TAKEN"}}
	_, _, err := w.m.Register(owner, taken, "x")
	mustCode(t, err, protocol.CodeConflict)
	if refusal, _ := errors.AsType[*protocol.Error](err); refusal.Holder != "somebody" {
		t.Errorf("got %+v, want the holder", refusal)
	}
	_, _, err = w.m.Register(owner, every(time.Second), strings.Repeat("x", limits.CodeBytes+1))
	mustCode(t, err, protocol.CodeTooLarge)
	_, _, err = w.m.Register(owner, persistent(every(time.Second)), strings.Repeat("\x01", limits.CodeBytes)) // six bytes each in JSON
	mustCode(t, err, protocol.CodeTooLarge)
	_, _, err = w.m.Register(owner, every(time.Second), "")
	mustCode(t, err, protocol.CodeBadRequest)
	for range limits.TasksDefault {
		w.add(every(time.Second))
	}
	_, _, err = w.m.Register(owner, every(time.Second), "x")
	mustCode(t, err, protocol.CodeFull)
	_, err = w.m.Get("999", false)
	mustCode(t, err, protocol.CodeNotFound)
	id := w.m.List()[0].TaskID
	ok(t, w.m.Cancel(id))
	ok(t, w.m.Cancel(id))
	mustCode(t, w.m.Trigger(id), protocol.CodeConflict)
	if w.claims[id] || !slices.Contains(w.safe, id+" cancelled") {
		t.Errorf("got claims %v, safe %v", w.claims, w.safe)
	}
	w.add(every(time.Second))
	for _, edit := range []func(*protocol.Brief){
		func(b *protocol.Brief) { b.IntervalMS = nil }, func(b *protocol.Brief) { b.AfterMS = ms(1) },
		func(b *protocol.Brief) { b.IntervalMS = ms(9) }, func(b *protocol.Brief) { b.IntervalMS = ms(-1 << 62) },
		func(b *protocol.Brief) { b.IntervalMS = ms(1 << 62) }, func(b *protocol.Brief) { b.JitterMS = ms(1000) },
		func(b *protocol.Brief) { b.JitterMS = ms(-1) }, func(b *protocol.Brief) { b.MaxRuns = ms(0) },
		func(b *protocol.Brief) { b.TimeoutMS = ms(0) }, func(b *protocol.Brief) { b.TimeoutMS = ms(3_600_001) },
		func(b *protocol.Brief) { b.Storage = "flash" }, func(b *protocol.Brief) { b.Misfire = "none" },
		func(b *protocol.Brief) { b.OnHubLoss = "stop" }, func(b *protocol.Brief) { b.Name = "" },
		func(b *protocol.Brief) { b.TimeZone = "UTC" }, func(b *protocol.Brief) { b.Resources = []protocol.ResourceUse{{}} },
		func(b *protocol.Brief) { b.IntervalMS, b.Cron, b.TimeZone = nil, "* * * * *", "../etc/passwd" },
		func(b *protocol.Brief) { b.IntervalMS, b.Cron, b.TimeZone = nil, "* * * * *", "Local" },
		func(b *protocol.Brief) { b.IntervalMS, b.At = nil, "2026-12-01" },
		func(b *protocol.Brief) { b.IntervalMS, b.At = nil, "9999-12-01T00:00:00Z" },
		func(b *protocol.Brief) { b.IntervalMS, b.AfterMS, b.MaxRuns = nil, ms(5), ms(2) },
	} {
		b := every(time.Second)
		edit(&b)
		if _, err := w.m.o.planOf(&b, birth); err == nil {
			t.Errorf("got %+v accepted", b)
		}
	}
}

func TestTriggerKeepsPhase(t *testing.T) {
	w := newWorld(t)
	id := w.add(every(time.Second))
	w.run(1500 * time.Millisecond)
	ok(t, w.m.Trigger(id))
	w.run(2 * time.Second)
	var dues []time.Duration
	for _, r := range w.runs {
		dues = append(dues, r.Due.Sub(birth))
	}
	if want := []time.Duration{time.Second, 1500 * time.Millisecond, 2 * time.Second, 3 * time.Second}; !slices.Equal(dues, want) {
		t.Errorf("got runs due at %v, want %v", dues, want)
	}
}

// Jitter puts off each run by its own time, the same in each life, and moves no phase.
func TestJitter(t *testing.T) {
	spread := func() map[time.Duration]int {
		w := newWorld(t)
		b := every(time.Second)
		b.JitterMS = ms(500)
		id := w.add(b)
		w.run(1001 * time.Second)
		if got := w.count(id); got < 999 || got > 1001 {
			t.Errorf("got %d runs, want 1000", got)
		}
		seen := map[time.Duration]int{}
		for _, s := range w.starts {
			off := s.Wall.Sub(birth) % time.Second
			if off >= 500*time.Millisecond {
				t.Fatalf("got a run %v after its time", off)
			}
			seen[off.Truncate(50*time.Millisecond)]++
		}
		return seen
	}
	a, b := spread(), spread()
	for tenth := range 10 {
		k := time.Duration(tenth) * 50 * time.Millisecond
		if a[k] < 60 || a[k] > 140 || a[k] != b[k] {
			t.Errorf("got %d runs put off by %v, then %d; want about 100, twice the same", a[k], k, b[k])
		}
	}
}

// Ids are never used again: not after a cancel, a restart or a crash.
func TestIDsAreNeverUsedAgain(t *testing.T) {
	w := newWorld(t)
	seen := map[string]bool{}
	for round := range 10 {
		for range 7 {
			id := w.add(every(time.Second))
			if seen[id] {
				t.Fatalf("round %d: got id %s again", round, id)
			}
			seen[id] = true
			ok(t, w.m.Cancel(id))
		}
		w.cut(time.Second)
	}
	if !seen["001"] || !seen["007"] {
		t.Errorf("got ids %v, want them from 001 on", seen)
	}
}

func TestOwnerGone(t *testing.T) {
	w := newWorld(t)
	id := w.add(every(time.Second))
	w.m.OwnerGone("agent")
	w.run(10 * time.Second)
	w.wantRuns(id, 0)
	w.wantState(id, "held")
	mustCode(t, w.m.Resume(id, true), protocol.CodeDenied)
	ok(t, w.m.Cancel(id))
}

// A fast task's events do not wash the others away.
func TestRunEventsAreFew(t *testing.T) {
	w := newWorld(t)
	id := w.add(every(10 * time.Millisecond))
	w.outcome = func(Run) Outcome { return Outcome{Effects: []protocol.Effect{{}}} }
	w.run(10 * time.Second)
	n := 0
	for _, e := range w.events {
		if e == "task_run "+id {
			n++
		}
	}
	if n < 9 || n > 11 {
		t.Errorf("got %d events task_run for 1000 runs in 10 s, want one a second", n)
	}
	if runs, err := w.m.Results(id, 3); err != nil || len(runs) != 3 || runs[0].Run != 1000 || len(runs[0].Effects) != 1 {
		t.Errorf("got %+v, %v, want the newest three", runs, err)
	}
}

// A task that is restored and cannot have its resources waits for a person, with its record.
func TestClaimRefusedAtStart(t *testing.T) {
	w := newWorld(t)
	id := w.add(persistent(every(time.Second)))
	w.disk.records["task-"+id] = []byte(strings.Replace(string(w.disk.records["task-"+id]), `"name":"t"`, `"name":"t","resources":[{"resource":"TAKEN"}]`, 1))
	w.cut(time.Second)
	w.run(10 * time.Second)
	w.wantState(id, "paused")
	w.wantRuns(id, 0)
	mustCode(t, w.m.Resume(id, true), protocol.CodeConflict)
}

// Runs are in order of their due times, then of registration.
func TestOrder(t *testing.T) {
	w := newWorld(t)
	a, b := w.add(every(2*time.Second)), w.add(every(time.Second))
	w.run(2 * time.Second)
	var got []string
	for _, r := range w.runs {
		got = append(got, r.TaskID)
	}
	if want := []string{b, a, b}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// What holds at the start holds before anything runs: a one-shot whose time has passed must not be spent on a run that may drive nothing.
func TestHeldFromTheStart(t *testing.T) {
	for _, reason := range []string{HoldEstop, HoldSafe} {
		w := newWorld(t)
		id := w.add(persistent(protocol.Brief{Name: "t", AfterMS: ms(1000)}))
		w.cut(time.Minute)
		w.o.Held = []string{reason}
		w.m = prepare(w.o)
		w.run(10 * time.Second)
		w.wantRuns(id, 0)
		w.wantState(id, "held")
		ok(t, w.m.Unhold(reason))
		if reason == HoldEstop {
			w.run(10 * time.Second)
			w.wantRuns(id, 0)
			ok(t, w.m.Resume(id, true))
		}
		w.run(10 * time.Second)
		w.wantRuns(id, 1)
	}
}

// A task that ends while it gets its resources at last does not keep them.
func TestEndsWhileItClaims(t *testing.T) {
	w := newWorld(t)
	id := w.add(every(time.Second))
	delete(w.claims, id)
	w.m.m.jobs[id].paused, w.m.m.jobs[id].unclaimed = true, true
	w.m.o.Claim = func(id string, _ Owner, _ []protocol.ResourceUse) error {
		ok(t, w.m.Cancel(id))
		w.claims[id] = true
		return nil
	}
	mustCode(t, w.m.Resume(id, true), protocol.CodeConflict)
	if len(w.claims) != 0 {
		t.Errorf("got claims %v, want none", w.claims)
	}
}
