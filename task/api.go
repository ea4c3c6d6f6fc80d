package task

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/pal-terminal/pal/limits"
	"github.com/pal-terminal/pal/protocol"
)

// Register takes a task in, all or nothing. A persistent one is on disk when it returns. next is zero when the task is held or waits
// for the clock.
func (t *Manager) Register(owner Owner, b protocol.Brief, code string) (id string, next time.Time, err error) {
	t.reg.Lock()
	defer t.reg.Unlock()
	p, err := t.admit(b, code)
	if err != nil {
		return "", time.Time{}, err
	}
	if id, err = t.newID(); err != nil {
		return "", time.Time{}, err
	}
	if err := t.o.Claim(id, owner, b.Resources); err != nil {
		if refusal, ok := errors.AsType[*protocol.Error](err); ok {
			return "", time.Time{}, refusal
		}
		return "", time.Time{}, refuse(protocol.CodeConflict, err.Error())
	}
	rec := record{Version: version, ID: id, Brief: b, Code: code, Owner: owner}
	var stamped Time
	_ = t.step(func(m *machine, now Time) error {
		m.tick(now)
		m.stamp(&rec)
		stamped = m.now
		return nil
	})
	if p.persistent {
		if err := t.store(rec); err != nil {
			t.o.Release(id)
			return "", time.Time{}, err
		}
	}
	_ = t.step(func(m *machine, now Time) error {
		m.tick(now)
		j := m.add(rec, p, order(id), stamped)
		if at, _ := m.due(j); at < never {
			next = m.base.Add(at)
		}
		return nil
	})
	poke(t.wake)
	return id, next, nil
}

// admit checks what can be checked without taking anything.
func (t *Manager) admit(b protocol.Brief, code string) (*plan, error) {
	var now time.Time
	var live int
	var closed bool
	_ = t.step(func(m *machine, at Time) error {
		m.tick(at)
		if m.set {
			now = m.now.Wall
		}
		live, closed = m.live(), t.closed
		return nil
	})
	p, err := t.o.planOf(&b, now)
	switch {
	case closed:
		return nil, refuse(protocol.CodeUnavailable, "the terminal is closing")
	case err != nil:
		return nil, refuse(protocol.CodeBadRequest, "brief: "+err.Error())
	case code == "":
		return nil, refuse(protocol.CodeBadRequest, "code is empty")
	case len(code) > limits.CodeBytes:
		return nil, refuse(protocol.CodeTooLarge, fmt.Sprintf("code has %d bytes, at most %d are taken", len(code), limits.CodeBytes))
	case live >= t.o.Tasks:
		return nil, refuse(protocol.CodeFull, fmt.Sprintf("there are %d tasks, the most this terminal takes; cancel one", live))
	case p.persistent && t.o.Records == nil:
		return nil, refuse(protocol.CodeStorage, "this terminal keeps nothing on disk; register it as volatile")
	}
	return p, nil
}

// newID returns an id that was never used. The disk is told of a few at a time.
func (t *Manager) newID() (string, error) {
	t.mu.Lock()
	n, reserved := t.m.ids+1, t.reserved
	t.mu.Unlock()
	if t.o.Records != nil && n > reserved {
		t.disk.Lock()
		err := t.flushLocked(n + limits.TaskIDs - 1)
		t.disk.Unlock()
		t.mu.Lock()
		reserved = t.reserved
		t.mu.Unlock()
		if n > reserved {
			return "", refuse(protocol.CodeStorage, fmt.Sprintf("the id could not be written to disk: %v", err))
		}
	}
	t.mu.Lock()
	t.m.ids = n
	t.mu.Unlock()
	return idOf(n), nil
}

// store writes a new record; after a failure nothing remains of it, or a mark that it is nothing.
func (t *Manager) store(rec record) error {
	t.disk.Lock()
	defer t.disk.Unlock()
	err := t.put(taskPrefix+rec.ID, rec)
	if _, untried := errors.AsType[*protocol.Error](err); err == nil || untried {
		return err
	}
	if t.o.Records.Delete(taskPrefix+rec.ID) != nil {
		t.mu.Lock()
		t.m.ghosts[rec.ID], t.forget[rec.ID] = mark{Ended: true}, true
		t.m.urgent = true
		t.mu.Unlock()
		poke(t.write)
	}
	return refuse(protocol.CodeStorage, "the task could not be written to disk: "+err.Error())
}

// change is a step that may make something due.
func (t *Manager) change(do func(m *machine, now Time) error) error {
	err := t.step(do)
	poke(t.wake)
	return err
}

// Cancel ends a task, makes safe what it drives and removes its record. It ends in any case; an error storage says that it may come
// back with the next start.
func (t *Manager) Cancel(id string) error {
	if err := t.change(func(m *machine, now Time) error { return m.cancel(now, id) }); err != nil {
		return err
	}
	err := t.flush()
	t.mu.Lock()
	left := t.forget[id]
	t.mu.Unlock()
	if left {
		return refuse(protocol.CodeStorage, fmt.Sprintf("it is cancelled, but may come back with the next start: %v", err))
	}
	return nil
}

// Pause stops a task after the run that is under way, until it is resumed.
func (t *Manager) Pause(id string) error {
	return t.change(func(m *machine, now Time) error { return m.pauseTask(now, id) })
}

// Resume lets a paused or held task run again; person says that a person asks, see the hold of an e-stop.
func (t *Manager) Resume(id string, person bool) error {
	t.mu.Lock()
	j := t.m.jobs[id]
	unclaimed := j != nil && j.end == "" && j.unclaimed
	t.mu.Unlock()
	if unclaimed {
		if err := t.o.Claim(id, j.Owner, j.Brief.Resources); err != nil {
			return refuse(protocol.CodeConflict, "its resources cannot be had: "+err.Error())
		}
		t.mu.Lock()
		j.unclaimed = false
		ended := j.end != ""
		t.mu.Unlock()
		if ended { // meanwhile, and what it did not have was not given back
			t.o.Release(id)
		}
	}
	return t.change(func(m *machine, now Time) error { return m.resume(now, id, person) })
}

// Trigger runs a task now; its schedule stays as it is.
func (t *Manager) Trigger(id string) error {
	return t.change(func(m *machine, now Time) error { return m.triggerTask(now, id) })
}

// Hold stops all tasks for one of the reasons, until Unhold; after HoldEstop each must be resumed besides. A run under way is for the
// caller to end.
func (t *Manager) Hold(reason string) {
	if t == nil {
		return
	}
	_ = t.change(func(m *machine, now Time) error { m.hold(now, reason); return nil })
}

// Unhold ends a Hold. That of an e-stop stays when the disk does not take which tasks wait for a person now.
func (t *Manager) Unhold(reason string) error {
	if t == nil {
		return nil
	}
	if reason == HoldEstop {
		if err := t.flush(); err != nil {
			return refuse(protocol.CodeStorage, "which tasks are held could not be written to disk: "+err.Error())
		}
	}
	return t.change(func(m *machine, now Time) error { m.unhold(now, reason); return nil })
}

// OwnerGone holds the tasks of an actor whose token was revoked, for good, and makes safe what they drive.
func (t *Manager) OwnerGone(actor string) {
	if t == nil {
		return
	}
	_ = t.change(func(m *machine, now Time) error { m.ownerGone(now, actor); return nil })
}

// Get shows one task, with its code if wanted.
func (t *Manager) Get(id string, withCode bool) (protocol.TaskInfo, error) {
	var info protocol.TaskInfo
	var late lateness
	err := t.step(func(m *machine, now Time) error {
		m.tick(now)
		j, err := m.find(id)
		if err == nil {
			info, late = m.info(j, withCode)
		}
		return err
	})
	info.Lateness = late.figures()
	return info, err
}

// List shows all tasks in order of registration, those that ended lately too.
func (t *Manager) List() []protocol.TaskInfo {
	if t == nil {
		return nil
	}
	t.mu.Lock()
	all := t.m.list
	t.mu.Unlock()
	var infos []protocol.TaskInfo
	for _, j := range all { // a lock for each, so that no run waits for a long list
		if info, err := t.Get(j.ID, false); err == nil {
			infos = append(infos, info)
		}
	}
	return infos
}

// Results returns the newest runs of a task, newest first, at most limit of them when that is above 0.
func (t *Manager) Results(id string, limit int) ([]protocol.TaskRun, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	j, err := t.m.find(id)
	if err != nil {
		return nil, err
	}
	runs := slices.Clone(j.results)
	slices.Reverse(runs)
	if limit > 0 && limit < len(runs) {
		runs = runs[:limit]
	}
	return runs, nil
}

// Close ends the run under way and writes down how far all came.
func (t *Manager) Close(ctx context.Context) error {
	t.mu.Lock()
	was := t.closed
	t.closed = true
	t.mu.Unlock()
	if was {
		return nil
	}
	t.cancel()
	done := make(chan struct{})
	go func() { t.workers.Wait(); close(done) }()
	select {
	case <-done:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	t.timer.Stop()
	t.reg.Lock() // whoever is still registering goes first
	defer t.reg.Unlock()
	t.mu.Lock()
	t.reserved = t.m.ids // all above are free again
	t.m.urgent = t.m.urgent || t.m.ids > 0
	t.mu.Unlock()
	return t.flush()
}
