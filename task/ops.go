package task

import (
	"maps"
	"slices"
	"time"

	"github.com/pal-terminal/pal/limits"
	"github.com/pal-terminal/pal/protocol"
)

// live counts the tasks that have not ended.
func (m *machine) live() int { return len(m.list) - len(m.ended) }

func (m *machine) insert(rec record, p *plan, order uint64) *job {
	j := &job{record: rec, plan: p, order: order, trigger: never, holds: map[string]bool{}}
	m.jobs[j.ID] = j
	at := len(m.list)
	for at > 0 && m.list[at-1].order > order {
		at--
	}
	m.list = slices.Insert(slices.Clone(m.list), at, j)
	return j
}

// stamp says when a task that is registered now begins: record.AnchorNS, and whether the clock was set.
func (m *machine) stamp(rec *record) {
	rec.CreatedNS, rec.AnchorNS, rec.Unset = m.now.Wall.UnixNano(), m.now.Wall.UnixNano(), !m.set
	if m.held[HoldEstop] {
		rec.Held = HoldEstop
	}
}

// add takes in a task that was stamped at a step before this one.
func (m *machine) add(rec record, p *plan, order uint64, stamped Time) *job {
	j := m.insert(rec, p, order)
	if m.held[HoldEstop] || j.Held != "" {
		j.holds[HoldEstop] = true
	}
	m.begin(j, stamped)
	if j.Unset && m.set {
		m.clockSet(j)
	} else if stepped := m.base.Sub(stamped.Wall.Add(-stamped.Boot)).Abs() > limits.TaskClockStep; stepped && m.set {
		m.clockStep(j)
	}
	m.dirty = m.dirty || p.persistent
	m.event("task_registered", j, map[string]any{"actor": j.Owner.Actor, "storage": map[bool]string{true: "persistent", false: "volatile"}[p.persistent]})
	return j
}

// begin starts a schedule at a time.
func (m *machine) begin(j *job, at Time) {
	j.base, j.last, j.handled = at.Boot, at.Boot, at.Wall.Round(0)
	switch {
	case j.onWall() && j.Unset:
	case j.cron != nil:
		m.setNext(j, 0, j.cron.next(at.Wall))
	default:
		m.setNext(j, at.Boot+j.every+j.after, j.at)
	}
}

// restore takes in a task from disk. known says that its mark is reliable.
func (m *machine) restore(rec record, p *plan, order uint64, mk mark, known bool) *job {
	j := m.insert(rec, p, order)
	if mk.HandledNS == 0 && rec.Held != "" { // there is no mark yet
		mk.Holds = []string{rec.Held}
	}
	j.runs, j.booked, j.failures = mk.Runs, mk.Runs, mk.Failures
	j.missed = maps.Clone(mk.Missed)
	for _, h := range mk.Holds {
		j.holds[h] = true
	}
	j.paused, j.reason = mk.Paused != "", mk.Paused
	j.handled = time.Unix(0, max(mk.HandledNS, rec.CreatedNS))
	if !known {
		j.paused, j.reason = true, "what was kept of its state is damaged: see whether it is to go on"
	}
	if j.max > 0 && j.runs >= j.max {
		if j.once() {
			m.finishTask(j, "failed", "the terminal stopped while it ran or just after: it may have run")
		} else {
			m.finishTask(j, "done", "")
		}
		return j
	}
	if j.Unset { // what it was counted from means nothing any more
		m.stamp(&j.record)
		m.begin(j, m.now)
		m.emit(effect{id: j.ID, save: true})
		return j
	}
	j.base, j.last = m.now.Boot, m.now.Boot-j.every
	j.lost = true
	if m.set {
		m.clockSet(j)
	} else if j.every > 0 {
		m.setNext(j, m.now.Boot+j.every, time.Time{})
	}
	return j
}

func (m *machine) find(id string) (*job, error) {
	if j := m.jobs[id]; j != nil {
		return j, nil
	}
	return nil, &protocol.Error{Code: protocol.CodeNotFound, Message: "no task has this id", Resource: id}
}

// alive is find for tasks that have not ended.
func (m *machine) alive(id string) (*job, error) {
	j, err := m.find(id)
	if err == nil && j.end != "" {
		err = &protocol.Error{Code: protocol.CodeConflict, Message: "this task has ended: " + j.end, Resource: id}
	}
	return j, err
}

func (m *machine) cancel(now Time, id string) error {
	m.tick(now)
	j, err := m.find(id)
	if err != nil || j.end != "" {
		return err
	}
	if m.running == j {
		m.emit(effect{id: id, stop: true})
	}
	m.emit(effect{id: id, safe: "cancelled"})
	m.finishTask(j, "cancelled", "")
	return nil
}

func (m *machine) pauseTask(now Time, id string) error {
	m.tick(now)
	j, err := m.alive(id)
	if err == nil && !j.paused {
		m.pause(j, "paused by request")
	}
	return err
}

// resume lets a task run again that was paused or is held by itself. Only a person ends the hold of an e-stop, and, where a task waits
// for the clock, says that the clock is right.
func (m *machine) resume(now Time, id string, person bool) error {
	m.tick(now)
	j, err := m.alive(id)
	switch {
	case err != nil:
		return err
	case m.held[HoldEstop]:
		return &protocol.Error{Code: protocol.CodeEstopped, Message: "the e-stop is set: a person clears it first", Resource: id}
	case j.holds[holdOwner]:
		return &protocol.Error{Code: protocol.CodeDenied, Message: "its owner's token was revoked: cancel it, and register it anew", Resource: id}
	case len(j.holds) > 0 && !person:
		return &protocol.Error{Code: protocol.CodeDenied, Message: "it is held: only a person resumes it", Resource: id}
	}
	clear(j.holds)
	if j.paused {
		j.paused, j.reason, j.failures = false, "", 0
	}
	m.trusted = m.trusted || person && m.waiting(j)
	m.tick(now)
	m.urgent = m.urgent || j.persistent
	return nil
}

func (m *machine) triggerTask(now Time, id string) error {
	m.tick(now)
	j, err := m.alive(id)
	if err != nil {
		return err
	}
	switch state, reason := m.blocked(j); {
	case state == "held" && j.holds[HoldEstop]:
		return &protocol.Error{Code: protocol.CodeEstopped, Message: "it is held by the e-stop until a person resumes it", Resource: id}
	case state != "":
		return &protocol.Error{Code: protocol.CodeConflict, Message: "it is " + state + " (" + reason + "): resume it first", Resource: id}
	case m.running == j || j.trigger < never:
		return &protocol.Error{Code: protocol.CodeBusy, Message: "it runs, or is about to", Resource: id}
	case j.once() && j.spent && len(j.owed) == 0:
		return &protocol.Error{Code: protocol.CodeConflict, Message: "it runs once, and was started", Resource: id}
	}
	if j.once() {
		j.owed = nil
	}
	j.trigger = now.Boot
	return nil
}

// hold stops all tasks for a reason, those of an e-stop until each is resumed.
func (m *machine) hold(now Time, reason string) {
	m.tick(now)
	m.held[reason] = true
	if reason != HoldEstop {
		return
	}
	for _, j := range m.list {
		if j.end == "" {
			m.holdTask(j, HoldEstop)
		}
	}
}

func (m *machine) unhold(now Time, reason string) {
	m.tick(now) // what passed is counted under the hold
	delete(m.held, reason)
}

// holdTask holds one task until a person resumes it. What it was owed is not made up for then, except by what runs only once.
func (m *machine) holdTask(j *job, reason string) {
	j.holds[reason], j.trigger = true, never
	if !j.once() {
		m.miss(j, reason, uint64(len(j.owed)))
		j.owed = nil
	}
	m.urgent = m.urgent || j.persistent
}

func (m *machine) ownerGone(now Time, actor string) {
	m.tick(now)
	for _, j := range m.list {
		if j.end == "" && j.Owner.Actor == actor {
			m.holdTask(j, holdOwner)
			if m.running == j {
				m.emit(effect{id: j.ID, stop: true})
			}
			m.emit(effect{id: j.ID, safe: "owner"})
		}
	}
}

// info shows a job, but for the figures of its lateness: they are sorted outside the lock.
func (m *machine) info(j *job, code bool) (protocol.TaskInfo, lateness) {
	state, reason := m.blocked(j)
	switch {
	case m.running == j && j.end == "":
		state = "running"
	case state == "" && m.waiting(j):
		state, reason = "waiting_for_clock", "the clock shows "+m.now.Wall.UTC().Format(time.RFC3339)+", and is not set"
	case state == "":
		state = "pending"
	}
	t := protocol.TaskInfo{
		TaskID: j.ID, Name: j.Brief.Name, Actor: j.Owner.Actor, State: state, Reason: reason, Brief: j.Brief,
		CodeSHA256: j.sha256(), CreatedMS: j.CreatedNS / 1e6, Runs: j.runs, Failures: j.failures, Missed: maps.Clone(j.missed),
	}
	if code {
		t.Code = j.Code
	}
	if at, _ := m.due(j); at < never {
		t.NextMS = m.base.Add(at).UnixMilli()
	}
	if n := len(j.results); n > 0 {
		last := j.results[n-1]
		t.Last = &last
	}
	late := j.late
	late.newest = slices.Clone(late.newest)
	return t, late
}

func sorted(set map[string]bool) []string { return slices.Sorted(maps.Keys(set)) }
