package task

import (
	"context"
	"errors"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/pal-terminal/pal/protocol"
)

// birth is when the simulated world begins.
var birth = time.Date(2026, 12, 1, 5, 0, 0, 0, time.UTC)

// world is a terminal in simulated time: a manager whose turns the test takes, a disk that lasts, clocks that the test sets.
type world struct {
	t    testing.TB
	boot time.Duration // since the machine started
	real time.Duration // since the world began: no step and no restart changes it
	off  time.Time     // wall time of boot 0
	disk *disk
	open func() (Records, map[string][]byte) // of another disk
	o    Options
	m    *Manager

	runs    []Run
	starts  []Time
	outcome func(r Run) Outcome
	takes   func(r Run) time.Duration
	events  []string
	safe    []string
	claims  map[string]bool
	failed  []string
}

// disk is records that last, and a disk that may fail.
type disk struct {
	records map[string][]byte
	puts    map[string]int
	fail    func(op, key string) error
}

func newDisk() *disk { return &disk{records: map[string][]byte{}, puts: map[string]int{}} }

func (d *disk) Put(key string, value []byte) error {
	if d.fail != nil {
		if err := d.fail("put", key); err != nil {
			return err
		}
	}
	d.puts[key]++
	d.records[key] = value
	return nil
}

func (d *disk) Delete(key string) error {
	if d.fail != nil {
		if err := d.fail("delete", key); err != nil {
			return err
		}
	}
	delete(d.records, key)
	return nil
}

var errDisk = errors.New("disk full")

func (w *world) Now() Time             { return Time{Wall: w.off.Add(w.boot), Boot: w.boot} }
func (w *world) Timer() (Timer, error) { return nil, errors.New("the test takes the turns") }

func newWorld(t testing.TB) *world {
	w := &world{t: t, disk: newDisk(), boot: time.Hour, off: birth.Add(-time.Hour)}
	w.start()
	return w
}

// start makes a manager of what is on disk.
func (w *world) start() {
	w.claims = map[string]bool{}
	w.o = Options{
		Records: w.disk, Loaded: maps.Clone(w.disk.records), Clock: w, Location: time.UTC, MaxTimeout: time.Hour,
		Run: func(_ context.Context, r Run) Outcome {
			w.runs, w.starts = append(w.runs, r), append(w.starts, w.Now())
			if w.takes != nil {
				w.pass(w.takes(r))
			}
			if w.outcome != nil {
				return w.outcome(r)
			}
			return Outcome{}
		},
		Claim: func(id string, _ Owner, uses []protocol.ResourceUse) error {
			for _, u := range uses {
				if u.Resource == "TAKEN" {
					return &protocol.Error{Code: protocol.CodeConflict, Holder: "somebody", Resource: "TAKEN"}
				}
			}
			w.claims[id] = true
			return nil
		},
		Release: func(id string) { delete(w.claims, id) },
		Safe:    func(id, cause string) { w.safe = append(w.safe, id+" "+cause) },
		Event: func(name string, data map[string]any) {
			id, _ := data["task_id"].(string)
			w.events = append(w.events, strings.TrimSpace(name+" "+id))
			if name == "task_ended" && data["state"] == "failed" {
				w.failed = append(w.failed, id)
			}
		},
	}
	if w.open != nil {
		w.o.Records, w.o.Loaded = w.open()
	}
	w.m = prepare(w.o)
}

func (w *world) pass(d time.Duration) { w.boot += d; w.real += d }

// cut is a loss of power of a length, and a new start; the boot clock starts anew. With set the wall clock went on.
func (w *world) cut(off time.Duration) {
	wall := w.Now().Wall
	w.real += off
	w.boot = time.Minute
	w.off = wall.Add(off - w.boot)
	w.start()
}

// step sets the wall clock.
func (w *world) step(d time.Duration) { w.off = w.off.Add(d) }

// until goes on to a time of the boot clock: it turns whenever something is due. Each minute the disk gets what is not urgent.
func (w *world) until(boot time.Duration) {
	w.t.Helper()
	written := w.boot
	for turns := 0; ; turns++ {
		if turns > 5_000_000 {
			w.t.Fatal("it turns and turns")
		}
		at := w.m.turn(w.t.Context())
		if at != 0 && w.urgent() || w.boot-written >= time.Minute {
			_ = w.m.flush()
			written = w.boot
		}
		if at == 0 {
			if w.boot >= boot {
				return
			}
			continue
		}
		if at > boot {
			if boot > w.boot {
				w.pass(boot - w.boot)
			}
			return
		}
		w.pass(at - w.boot)
	}
}

func (w *world) run(d time.Duration) { w.t.Helper(); w.until(w.boot + d); w.m.turn(w.t.Context()) }

func (w *world) urgent() bool {
	w.m.mu.Lock()
	defer w.m.mu.Unlock()
	return w.m.m.urgent
}

func ms(n int64) *int64 { return &n }

func every(d time.Duration) protocol.Brief {
	return protocol.Brief{Name: "t", IntervalMS: ms(d.Milliseconds())}
}

func persistent(b protocol.Brief) protocol.Brief { b.Storage = "persistent"; return b }

func (w *world) add(b protocol.Brief) string {
	w.t.Helper()
	id, _, err := w.m.Register(Owner{Actor: "agent", Class: "agent"}, b, "x = 1")
	if err != nil {
		w.t.Fatalf("register %+v: %v", b, err)
	}
	return id
}

func (w *world) get(id string) protocol.TaskInfo {
	w.t.Helper()
	info, err := w.m.Get(id, false)
	if err != nil {
		w.t.Fatalf("get %s: %v", id, err)
	}
	return info
}

func (w *world) count(id string) int {
	n := 0
	for _, r := range w.runs {
		if r.TaskID == id {
			n++
		}
	}
	return n
}

func (w *world) wantState(id, state string) {
	w.t.Helper()
	if got := w.get(id); got.State != state {
		w.t.Errorf("task %s: got state %s (%s), want %s", id, got.State, got.Reason, state)
	}
}

func (w *world) wantRuns(id string, want int) {
	w.t.Helper()
	if got := w.count(id); got != want {
		w.t.Errorf("task %s: got %d runs, want %d; missed %v", id, got, want, w.get(id).Missed)
	}
}

func code(t testing.TB, err error) protocol.Code {
	t.Helper()
	refusal, ok := errors.AsType[*protocol.Error](err)
	if !ok {
		t.Fatalf("got %v, want a refusal with a code", err)
	}
	return refusal.Code
}
