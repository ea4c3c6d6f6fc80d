package task

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/pal-terminal/pal/limits"
	"github.com/pal-terminal/pal/protocol"
)

// Manager runs tasks. Its methods are safe for concurrent use. Where no tasks are run there is no manager: a nil one has none to hold,
// to list or of anybody's.
type Manager struct {
	o     Options
	timer Timer
	retry time.Duration // Ready refused, or the disk: boot time to ask again, 0 when neither did; of the loop alone
	wake  chan struct{} // for loop: something changed
	write chan struct{} // for keep: something must be written soon

	reg  sync.Mutex // one registration at a time
	disk sync.Mutex // one write at a time, so that the newest stays; taken before mu

	mu       sync.Mutex // guards what follows
	m        *machine
	reserved uint64          // ids below are on disk as used
	save     map[string]bool // records to be written anew
	forget   map[string]bool // records to be removed
	runs     string          // task that runs
	stopRun  context.CancelFunc
	closed   bool

	cancel  context.CancelFunc
	workers sync.WaitGroup
}

// New restores what was kept and starts to run it.
func New(o Options) (*Manager, error) {
	if o.Clock == nil {
		o.Clock = systemClock{}
	}
	timer, err := o.Clock.Timer()
	if err != nil {
		return nil, fmt.Errorf("timer: %w", err)
	}
	t := prepare(o)
	t.timer = timer
	ctx, cancel := context.WithCancel(context.Background())
	t.cancel = cancel
	t.workers.Go(func() { t.loop(ctx) })
	t.workers.Go(func() { t.keep(ctx) })
	return t, nil
}

// prepare makes a manager that does not run yet.
func prepare(o Options) *Manager {
	if o.Location == nil {
		o.Location = time.Local
	}
	if o.Tasks == 0 {
		o.Tasks = limits.TasksDefault
	}
	if o.MaxTimeout == 0 {
		o.MaxTimeout = limits.MaxExecDefault
	}
	o.fillCallbacks()
	t := &Manager{
		o: o, wake: make(chan struct{}, 1), write: make(chan struct{}, 1),
		save: map[string]bool{}, forget: map[string]bool{},
	}
	t.restore()
	return t
}

func (o *Options) fillCallbacks() {
	if o.Claim == nil {
		o.Claim = func(string, Owner, []protocol.ResourceUse) error { return nil }
	}
	if o.Release == nil {
		o.Release = func(string) {}
	}
	if o.Safe == nil {
		o.Safe = func(string, string) {}
	}
	if o.Event == nil {
		o.Event = func(string, map[string]any) {}
	}
	if o.Ready == nil {
		o.Ready = func() error { return nil }
	}
}

// restore takes in what was on disk. Nothing runs yet.
func (t *Manager) restore() {
	l := t.o.load()
	for _, key := range slices.Sorted(maps.Keys(l.bad)) {
		t.o.Event("store_damaged", map[string]any{"record": key, "problem": l.bad[key]})
		if t.o.Records != nil && t.o.Records.Put(badPrefix+key, t.o.Loaded[key]) == nil { // its bytes may be worth something to a person
			_ = t.o.Records.Delete(key) // if it stays it is told again at the next start
		}
	}
	newest := time.Unix(0, l.marks.NewestNS)
	t.m = newMachine(t.o.Clock.Now(), newest)
	t.m.ids, t.reserved = l.marks.IDs, l.marks.IDs
	for i, rec := range l.tasks {
		mk := l.marks.Tasks[rec.ID] // without one it was registered after the newest write: it starts from its record
		if mk.Ended {
			t.m.ghosts[rec.ID] = mk
			t.forget[rec.ID] = true
			continue
		}
		j := t.m.restore(rec, l.plans[i], order(rec.ID), mk, l.known)
		if j.end != "" {
			continue
		}
		if err := t.o.Claim(j.ID, j.Owner, j.Brief.Resources); err != nil {
			j.paused, j.unclaimed, j.reason = true, true, "its resources could not be had at the start: "+err.Error()
		}
	}
	for _, reason := range t.o.Held { // before anything runs
		t.m.hold(t.o.Clock.Now(), reason)
	}
	t.m.urgent = t.m.urgent || len(l.tasks) > 0
	out := t.take()
	t.perform(out)
	poke(t.write)
}

// step does one step of the machine and what comes of it.
func (t *Manager) step(do func(m *machine, now Time) error) error {
	t.mu.Lock()
	err := do(t.m, t.o.Clock.Now())
	out, urgent := t.take(), t.m.urgent
	t.mu.Unlock()
	t.perform(out)
	if urgent {
		poke(t.write)
	}
	return err
}

// take takes what the machine wants done, and notes what of it is to be written. t.mu is held.
func (t *Manager) take() []effect {
	out := t.m.out
	t.m.out = nil
	for _, e := range out {
		switch {
		case e.save:
			t.save[e.id] = true
		case e.forget:
			t.forget[e.id] = true
		case e.stop && t.runs == e.id:
			t.stopRun()
		}
	}
	return out
}

// perform tells outside what happened, in its order.
func (t *Manager) perform(out []effect) {
	for _, e := range out {
		switch {
		case e.event != "":
			t.o.Event(e.event, e.data)
		case e.safe != "":
			t.o.Safe(e.id, e.safe)
		case e.release:
			t.o.Release(e.id)
		}
	}
}

func poke(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// loop waits for what is due and runs it.
func (t *Manager) loop(ctx context.Context) {
	for ctx.Err() == nil {
		at := t.turn(ctx)
		if at == 0 {
			continue
		}
		t.timer.Set(at)
		select {
		case <-t.timer.C():
		case <-t.wake:
		case <-ctx.Done():
		}
	}
}

// turn does one thing that is due and returns 0, or returns the boot time to look again.
func (t *Manager) turn(ctx context.Context) time.Duration {
	if t.retry > 0 && t.o.Clock.Now().Boot >= t.retry {
		t.setRetry(t.o.Ready() != nil)
	}
	var due *job
	var at time.Duration
	var book bool
	_ = t.step(func(m *machine, now Time) error {
		if due, at = m.pick(now); due != nil {
			book = due.mustBook()
		}
		if at = min(at, now.Boot+limits.TaskNapLongest); t.retry > 0 {
			at = min(at, t.retry)
		}
		return nil
	})
	switch {
	case due == nil:
		return at
	case t.o.Ready() != nil || book && t.book(due) != nil:
		t.setRetry(true)
	default:
		t.run(ctx)
	}
	return 0
}

// setRetry holds all tasks for a while, or no longer.
func (t *Manager) setRetry(refused bool) {
	_ = t.step(func(m *machine, now Time) error {
		if t.retry = 0; refused {
			t.retry = now.Boot + limits.AuditRetry
			m.hold(now, holdReady)
		} else {
			m.unhold(now, holdReady)
		}
		return nil
	})
}

// run does the run that is due now.
func (t *Manager) run(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var r *Run
	_ = t.step(func(m *machine, now Time) error {
		if r = m.start(now); r != nil {
			t.runs, t.stopRun = r.TaskID, cancel
		}
		return nil
	})
	if r == nil { // cancelled or held since it was picked
		return
	}
	o := t.o.Run(ctx, *r)
	_ = t.step(func(m *machine, now Time) error {
		m.finish(now, o)
		t.runs = ""
		return nil
	})
}

// book writes down that runs of a task may have been done, before they are.
func (t *Manager) book(j *job) error {
	t.mu.Lock()
	before := j.booked
	j.book()
	t.m.urgent = true
	t.mu.Unlock()
	err := t.flush()
	if err != nil {
		t.mu.Lock()
		j.booked = before
		t.mu.Unlock()
	}
	return err
}

// keep writes down what changed: soon what is urgent, the rest once in limits.TaskMarkEvery.
func (t *Manager) keep(ctx context.Context) {
	every := time.NewTicker(limits.TaskMarkEvery)
	defer every.Stop()
	for {
		select {
		case <-t.write:
		case <-every.C:
		case <-ctx.Done():
			return
		}
		for t.flush() != nil { // whatever else changes meanwhile
			select {
			case <-time.After(limits.AuditRetry):
			case <-ctx.Done():
				return
			}
		}
	}
}

// flush writes down what changed.
func (t *Manager) flush() error {
	if t.o.Records == nil {
		return nil
	}
	t.disk.Lock()
	defer t.disk.Unlock()
	return t.flushLocked(0)
}

// flushLocked is flush with t.disk held; with ids it also has that many ids on disk as used.
func (t *Manager) flushLocked(ids uint64) error {
	t.mu.Lock()
	all := t.m.marks(max(ids, t.reserved))
	todo := t.m.dirty || t.m.urgent || ids > 0
	t.m.dirty, t.m.urgent = false, false
	var save []record
	for id := range t.save {
		if j := t.m.jobs[id]; j != nil && j.end == "" {
			save = append(save, j.record)
		}
	}
	forget := slices.Sorted(maps.Keys(t.forget))
	clear(t.save)
	t.mu.Unlock()
	var errs []error
	if todo {
		if errs = append(errs, t.put(marksKey, all)); errs[0] == nil {
			t.mu.Lock()
			t.reserved = all.IDs
			t.mu.Unlock()
		}
	}
	for _, rec := range save {
		err := t.put(taskPrefix+rec.ID, rec)
		if errs = append(errs, err); err != nil {
			t.mu.Lock()
			t.save[rec.ID] = true
			t.mu.Unlock()
		}
	}
	for _, id := range forget { // after the marks, which say that it ended
		err := t.o.Records.Delete(taskPrefix + id)
		if errs = append(errs, err); err == nil {
			t.mu.Lock()
			delete(t.forget, id)
			delete(t.m.ghosts, id)
			t.mu.Unlock()
		}
	}
	err := errors.Join(errs...)
	if err != nil {
		t.mu.Lock()
		t.m.dirty, t.m.urgent = true, true
		t.mu.Unlock()
	}
	return err
}

func (t *Manager) put(key string, v any) error {
	raw, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		return err
	}
	if len(raw) > limits.RecordBytes {
		return refuse(protocol.CodeTooLarge, fmt.Sprintf("as a record it has %d bytes, at most %d are taken", len(raw), limits.RecordBytes))
	}
	return t.o.Records.Put(key, raw)
}
