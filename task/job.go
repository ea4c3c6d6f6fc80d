package task

import (
	"slices"
	"strings"
	"time"

	"github.com/pal-terminal/pal/limits"
	"github.com/pal-terminal/pal/protocol"
)

// job is one task in the machine.
type job struct {
	record // as it is stored
	*plan

	order   uint64        // of registration
	base    time.Duration // boot time of Anchor
	boot    time.Duration // next due time of an interval or after_ms
	wall    time.Time     // next due time of cron or at; zero while the clock is not set
	jitter  time.Duration // of that
	last    time.Duration // boot time of the newest due time handled; of registration before the first
	handled time.Time     // the same on the wall clock
	spent   bool          // it runs once and was started
	lost    bool          // restored; what passed meanwhile is not known before the clock is set

	owed    []time.Time // due times that passed and are made up for, oldest first
	owedAt  time.Duration
	owedGap time.Duration
	trigger time.Duration // never, or when it was asked to run

	end       string // done, cancelled or failed
	reason    string // of end or pause
	paused    bool
	unclaimed bool            // its resources could not be claimed when it was restored
	holds     map[string]bool // its own, that only a person ends

	runs, booked uint64
	failures     int
	missed       map[string]uint64
	results      []protocol.TaskRun // newest last
	late         lateness
	told         time.Duration // boot time of the newest event task_run
	untold       tally
}

// tally is what happened since the newest event task_run.
type tally struct{ runs, errors, effects uint64 }

// kind is what makes a job due.
type kind int

const (
	byClock kind = iota
	byDebt
	byTrigger
)

// effect is what the machine wants done outside. One field of event, safe, release, save, forget and stop is set.
type effect struct {
	id      string
	event   string
	data    map[string]any
	safe    string // cause
	release bool
	save    bool
	forget  bool
	stop    bool // its run
}

// blocked says why a job does not run: the state that it shows, and the reason. Both are empty when it may run.
func (m *machine) blocked(j *job) (state, reason string) {
	switch {
	case j.end != "":
		return j.end, j.reason
	case j.paused:
		return "paused", j.reason
	case j.holds[HoldEstop]:
		return "held", HoldEstop
	case len(j.holds) > 0:
		return "held", strings.Join(sorted(j.holds), ", ")
	case m.held[holdReady]:
		return "held", HoldStorage
	case len(m.held) == 0:
		return "", ""
	}
	for _, reason := range sorted(m.held) {
		if reason != HoldHub {
			return "held", reason
		}
	}
	if j.heldWithoutHub {
		return "held", HoldHub
	}
	return "", ""
}

// waiting reports whether a job's time cannot be known before the clock is set.
func (m *machine) waiting(j *job) bool {
	return j.onWall() && !m.set || j.lost && j.after > 0
}

// due returns when a job is due on the boot clock, and by what; never when it is not.
func (m *machine) due(j *job) (time.Duration, kind) {
	if state, _ := m.blocked(j); state != "" {
		return never, byClock
	}
	at, by := never, byClock
	if !m.waiting(j) {
		if regular := m.regular(j); regular < never {
			at = regular + j.jitter
		}
		if len(j.owed) > 0 && j.owedAt <= at {
			at, by = j.owedAt, byDebt
		}
	}
	if j.trigger <= at && j.trigger < never {
		at, by = j.trigger, byTrigger
	}
	return at, by
}

// regular returns the boot time of a job's next due time, before jitter.
func (m *machine) regular(j *job) time.Duration {
	switch {
	case j.spent || j.onWall() && j.wall.IsZero():
		return never
	case j.onWall():
		return min(j.wall.Sub(m.base), never)
	default:
		return j.boot
	}
}

// dueWall returns the wall time of the same.
func (m *machine) dueWall(j *job) time.Time {
	switch {
	case j.onWall():
		return j.wall
	case !m.set: // nobody knows yet
		return m.base.Add(j.boot)
	default:
		return j.anchor().Add(j.boot - j.base)
	}
}

// handle notes the newest due time that was served or let pass.
func (m *machine) handle(j *job, due time.Time) {
	if m.set {
		j.handled = due
	}
	m.dirty = m.dirty || j.persistent
}

// setNext makes a due time the next one. boot is of intervals and after_ms, wall of the others.
func (m *machine) setNext(j *job, boot time.Duration, wall time.Time) {
	j.boot, j.wall = boot, wall
	j.jitter = j.spread(j.ID, m.dueWall(j))
}

// pass lets due times go by that can no longer be served: of several the newest is left, of a job that may not run none. why
// overrides the reason under which they are counted.
func (m *machine) pass(j *job, why string) {
	at := m.regular(j)
	if at > m.now.Boot || m.waiting(j) {
		return
	}
	state, reason := m.blocked(j)
	leave := uint64(1) // newest due times left to run
	if why == "" {
		why = "late"
	} else {
		leave = 0
	}
	if state != "" {
		leave, why = 0, reason
	}
	switch {
	case j.once():
		if leave == 0 && j.rule() == "skip" {
			m.miss(j, why, 1)
			m.finishTask(j, "done", "its time passed while it could not run")
		}
		return
	case j.every > 0:
		n := uint64((m.now.Boot-at)/j.every) + 1 - leave
		if n == 0 {
			return
		}
		j.last = at + time.Duration(n-1)*j.every
		m.handle(j, j.anchor().Add(j.last-j.base))
		m.miss(j, why, n)
		m.setNext(j, j.last+j.every, time.Time{})
	default:
		n, newest := j.cron.missed(j.wall, m.now.Wall)
		if newest = append([]time.Time{j.wall}, newest...); leave == 1 {
			if n > 0 {
				m.handle(j, newest[len(newest)-2])
				m.miss(j, why, uint64(n))
				m.setNext(j, 0, newest[len(newest)-1])
			}
			return
		}
		m.handle(j, newest[len(newest)-1])
		m.miss(j, why, uint64(n)+1)
		m.setNext(j, 0, j.cron.next(m.now.Wall))
	}
}

// miss counts due times that never run. What a person paused is not missed.
func (m *machine) miss(j *job, why string, n uint64) {
	switch why {
	case "late", "overlap", "power", "clock", HoldEstop, HoldStorage, HoldSafe, HoldHub:
		if n > 0 {
			if j.missed == nil {
				j.missed = map[string]uint64{}
			}
			j.missed[why] += n
			m.dirty = m.dirty || j.persistent
		}
	}
}

// misfire applies the rule to due times that passed without a run: n of them, the newest given.
func (m *machine) misfire(j *job, why string, n uint64, newest []time.Time) {
	if n == 0 {
		return
	}
	most := 0
	switch j.rule() {
	case "once":
		most = 1
	case "all":
		most = 1
		if why == "power" {
			most = limits.TaskMissed
		}
	}
	if (j.paused || len(j.holds) > 0) && !j.once() { // it would not have run
		most = 0
		_, why = m.blocked(j)
	}
	j.handled = newest[len(newest)-1]
	most = min(most, len(newest))
	j.owed, j.owedAt = newest[len(newest)-most:], m.now.Boot
	m.miss(j, why, n-uint64(most))
	m.dirty = m.dirty || j.persistent
	switch {
	case j.once():
		j.spent = true
		if most == 0 {
			m.finishTask(j, "done", "its time passed: "+why)
		}
	case j.every > 0:
		j.owedGap = j.every / 2
	default:
		j.owedGap = j.cron.next(j.wall).Sub(j.wall) / 2
	}
}

// finishTask ends a job for good.
func (m *machine) finishTask(j *job, state, reason string) {
	j.end, j.reason, j.owed, j.trigger = state, reason, nil, never
	if m.running != j {
		m.emit(effect{id: j.ID, release: true})
	}
	if j.persistent {
		m.ghosts[j.ID] = j.mark(true)
		m.emit(effect{id: j.ID, forget: true})
		m.urgent = true
	}
	m.flushRuns(j)
	m.event("task_ended", j, map[string]any{"state": state, "reason": reason, "runs": j.runs})
	m.ended = append(m.ended, j)
	if oldest := m.ended[0]; len(m.ended) > limits.TasksEnded && oldest != m.running {
		delete(m.jobs, oldest.ID)
		m.list = slices.DeleteFunc(slices.Clone(m.list), func(j *job) bool { return j == oldest })
		m.ended = m.ended[1:]
	}
}

// pause stops a job until it is resumed.
func (m *machine) pause(j *job, reason string) {
	j.paused, j.reason, j.trigger = true, reason, never
	m.urgent = m.urgent || j.persistent
	m.flushRuns(j)
	m.event("task_paused", j, map[string]any{"reason": reason})
}

func (m *machine) emit(e effect) { m.out = append(m.out, e) }

func (m *machine) event(name string, j *job, data map[string]any) {
	data["task_id"], data["name"] = j.ID, j.Brief.Name
	m.emit(effect{id: j.ID, event: name, data: data})
}
