package task

import (
	"fmt"
	"slices"
	"time"

	"github.com/pal-terminal/pal/limits"
	"github.com/pal-terminal/pal/protocol"
)

const holdReady = "ready" // Options.Ready refused: shown as storage

// machine is the step machine: no goroutines, no clock, no disk. Whoever drives it tells the time at each step and does what out says.
type machine struct {
	jobs    map[string]*job
	list    []*job          // the same in order of registration; replaced, not changed, when one leaves
	ended   []*job          // those that have ended, oldest first
	held    map[string]bool // reasons to hold all
	running *job
	run     protocol.TaskRun // of running
	startAt time.Duration    // boot time of its start
	out     []effect

	now     Time
	began   time.Duration // boot time of the first look
	base    time.Time     // wall time of boot time 0, by the newest look
	ref     time.Time     // the same, when the clocks last stepped against each other
	newest  time.Time     // newest wall time known
	written time.Time     // the same, as it is on disk
	set     bool          // the wall clock can be believed
	trusted bool          // it was set, or stepped, since the start

	ids    uint64          // given out so far
	dirty  bool            // the record of marks is behind
	urgent bool            // and may not wait
	ghosts map[string]mark // ended, with a record that may still be there
}

func newMachine(now Time, newest time.Time) *machine {
	m := &machine{jobs: map[string]*job{}, held: map[string]bool{}, ghosts: map[string]mark{}, newest: newest, began: now.Boot}
	m.ref = now.Wall.Add(-now.Boot)
	m.tick(now)
	return m
}

// tick takes a look at the clocks and lets pass what has passed. Every step begins with it.
func (m *machine) tick(now Time) {
	now.Wall = now.Wall.Round(0)
	m.now, m.base = now, now.Wall.Add(-now.Boot)
	stepped := m.base.Sub(m.ref).Abs() > limits.TaskClockStep
	possible := now.Wall.Year() >= limits.ClockLeastYear && now.Wall.Year() < limits.TaskYearsEnd
	was := m.set
	m.set = possible && (m.trusted || stepped || !now.Wall.Before(m.newest))
	if m.set {
		m.trusted = true
		m.newest = now.Wall
		m.dirty = m.dirty || len(m.list) > 0 && m.newest.Sub(m.written) > limits.TaskNewestEvery
	}
	if stepped {
		m.ref, m.urgent, m.dirty = m.base, true, true
	}
	for _, j := range m.list {
		switch {
		case j.end != "":
			continue
		case m.set && !was:
			m.clockSet(j)
		case m.set && stepped:
			m.clockStep(j)
		}
		if j != m.running && j.end == "" {
			m.pass(j, "")
		}
	}
}

// clockSet is told that the wall clock can be believed from now on.
func (m *machine) clockSet(j *job) {
	why := "clock"
	if j.lost {
		why, j.lost = "power", false
	}
	if j.once() && j.spent {
		return
	}
	if j.Unset { // made before the clock was set: only now its beginning is known
		j.Unset, j.AnchorNS = false, m.base.Add(j.base).UnixNano()
		j.handled = j.anchor().Add(j.last - j.base)
		if j.persistent {
			m.emit(effect{id: j.ID, save: true})
		}
		if !j.at.IsZero() && j.at.Before(j.anchor()) {
			m.finishTask(j, "failed", "when the clock was set, its time had passed before it was registered")
		}
		if j.cron != nil {
			j.handled = m.now.Wall // nobody could know what it was due before
		}
		if !j.onWall() || j.end != "" {
			return
		}
	}
	if why == "clock" && !j.onWall() {
		m.clockStep(j)
		return
	}
	m.catchUp(j, why)
}

// catchUp finds a job's next due time on the wall clock, and what passed since the last that was handled.
func (m *machine) catchUp(j *job, why string) {
	switch now := m.now.Wall; {
	case j.every > 0:
		m.align(j)
		if why == "power" {
			until := m.base.Add(m.began)
			n := floorDiv(until.Sub(j.anchor()), j.every) - floorDiv(j.handled.Sub(j.anchor()), j.every)
			newest := j.anchor().Add(time.Duration(floorDiv(until.Sub(j.anchor()), j.every)) * j.every)
			var list []time.Time
			for i := min(n, limits.TaskMissed) - 1; i >= 0; i-- {
				list = append(list, newest.Add(-time.Duration(i)*j.every))
			}
			m.misfire(j, why, uint64(max(n, 0)), list)
		}
	case j.cron != nil:
		n, newest := j.cron.missed(j.handled, now)
		m.setNext(j, 0, j.cron.next(now))
		m.misfire(j, why, uint64(n), newest)
	default:
		due := j.at
		if j.after > 0 {
			due = j.anchor().Add(j.after)
			j.base = j.anchor().Sub(m.base)
		}
		m.setNext(j, due.Sub(m.base), due)
		if !due.After(now) {
			m.misfire(j, why, 1, []time.Time{due})
		}
	}
}

// align finds the phase of an interval from its anchor.
func (m *machine) align(j *job) {
	j.base = j.anchor().Sub(m.base)
	from := max(m.now.Boot, j.last+j.every/2)
	m.setNext(j, j.base+time.Duration(floorDiv(from-j.base, j.every)+1)*j.every, time.Time{})
}

// clockStep is told that one believable time followed another.
func (m *machine) clockStep(j *job) {
	now := m.now.Wall
	switch {
	case j.every > 0:
		m.align(j)
		j.handled = now
	case j.after > 0: // its time on the boot clock stays
		j.AnchorNS = m.base.Add(j.base).UnixNano()
		if j.persistent && !j.spent {
			m.emit(effect{id: j.ID, save: true})
		}
	case j.cron != nil && j.handled.After(now):
		if j.handled.Sub(now) > limits.TaskClockBack {
			j.handled = now
		}
		m.setNext(j, 0, j.cron.next(j.handled)) // a time that comes again soon was served
	case j.cron != nil:
		n, newest := j.cron.missed(j.handled, now)
		switch {
		case n == 0:
			m.setNext(j, 0, j.cron.next(now))
		case now.Sub(newest[len(newest)-1]) < limits.TaskNapLongest: // a correction: it is only late
			m.miss(j, "clock", uint64(n-1))
			m.setNext(j, 0, newest[len(newest)-1])
		default:
			m.setNext(j, 0, j.cron.next(now))
			m.misfire(j, "clock", uint64(n), newest)
		}
	case now.Sub(j.at) >= limits.TaskNapLongest && !j.spent:
		m.misfire(j, "clock", 1, []time.Time{j.at})
	}
	m.dirty = m.dirty || j.persistent
}

// pick returns the job to run now, or nil and when to look again.
func (m *machine) pick(now Time) (*job, time.Duration) {
	m.tick(now)
	if m.running != nil {
		return nil, never
	}
	var first *job
	at := never
	for _, j := range m.list {
		if due, _ := m.due(j); due < at {
			first, at = j, due
		}
	}
	if first == nil || at > now.Boot {
		return nil, at
	}
	return first, at
}

// mustBook reports whether a job's next run has to be booked on disk before it starts.
func (j *job) mustBook() bool { return j.max > 0 && j.persistent && j.runs >= j.booked }

// book books runs of a job for about a minute, one of a slow one.
func (j *job) book() {
	n := uint64(1)
	if !j.slow() {
		n = uint64(limits.TaskMarkEvery/j.every) + 1
	}
	j.booked = min(j.max, j.runs+n)
}

// start begins the run that is due now; nil when there is none, or when it is to be booked first.
func (m *machine) start(now Time) *Run {
	j, _ := m.pick(now)
	if j == nil || j.mustBook() {
		return nil
	}
	at, by := m.due(j)
	due, cause := m.dueWall(j).Add(j.jitter), CauseSchedule
	switch by {
	case byTrigger:
		due, cause, j.trigger = m.base.Add(at), CauseTrigger, never
		j.spent = j.spent || j.once()
	case byDebt:
		due, cause = j.owed[0], CauseCompensation
		j.owed, j.owedAt = j.owed[1:], now.Boot+j.owedGap
	case byClock:
		j.last = m.regular(j)
		m.handle(j, m.dueWall(j))
		switch {
		case j.once():
			j.spent = true
		case j.every > 0:
			m.setNext(j, j.boot+j.every, time.Time{})
		default:
			m.setNext(j, 0, j.cron.next(j.wall))
		}
	}
	j.runs++
	lateness := now.Boot - at
	if by == byClock {
		j.late.add(lateness)
	}
	m.running, m.startAt = j, now.Boot
	m.dirty = m.dirty || j.persistent
	m.run = protocol.TaskRun{
		Run: j.runs, Cause: cause, DueMS: due.UnixMilli(), StartMS: now.Wall.UnixMilli(),
		LatenessUS: lateness.Microseconds(), Compensated: by == byDebt,
	}
	return &Run{
		TaskID: j.ID, Name: j.Brief.Name, Number: j.runs, Owner: j.Owner, Code: j.Code, Resources: j.Brief.Resources,
		Timeout: j.timeout, Due: due, Cause: cause, Compensated: by == byDebt,
	}
}

// finish takes in what came of the run.
func (m *machine) finish(now Time, o Outcome) {
	m.tick(now)
	j := m.running
	r := m.run
	r.DurationUS = (now.Boot - m.startAt).Microseconds()
	r.Trace, r.Outcome, r.Message, r.Stdout, r.Stderr = o.Trace, o.Code, o.Message, o.Stdout, o.Stderr
	r.Exception, r.Effects = o.Exception, o.Effects
	good := o.Code == "" || o.Code == "ok"
	if good {
		r.Outcome = "ok"
	}
	if j.results = append(j.results, r); len(j.results) > limits.TaskResults {
		j.results = slices.Delete(j.results, 0, 1)
	}
	m.pass(j, "overlap")
	m.running = nil
	m.tell(j, r, good)
	m.urgent = m.urgent || j.persistent && j.slow()
	switch {
	case good:
		j.failures = 0
	case !slices.Contains(outside, protocol.Code(o.Code)):
		j.failures++
	}
	switch {
	case j.end != "": // cancelled meanwhile, and perhaps driven since
		m.emit(effect{id: j.ID, safe: j.end})
		m.emit(effect{id: j.ID, release: true})
	case j.holds[holdOwner]: // the same
		m.emit(effect{id: j.ID, safe: "owner"})
	case j.once() && good, !j.once() && j.max > 0 && j.runs >= j.max:
		m.finishTask(j, "done", "")
	case j.once():
		m.emit(effect{id: j.ID, safe: "failed"})
		m.finishTask(j, "failed", cut(o.Code+": "+o.Message, limits.ReasonBytes))
	case j.failures >= limits.TaskFailures && !j.paused:
		m.emit(effect{id: j.ID, safe: "failures"})
		m.pause(j, cut(fmt.Sprintf("failed %d times in a row, at last with %s: %s", j.failures, o.Code, o.Message), limits.ReasonBytes))
	}
}

// outside are the codes of runs that others ended: no failures of the task.
var outside = []protocol.Code{protocol.CodeEstopped, protocol.CodeInterrupted, protocol.CodeStorage, protocol.CodeUnavailable}

// tell makes the event task_run: at most one a second for each task, that counts what happened since the one before.
func (m *machine) tell(j *job, r protocol.TaskRun, good bool) {
	j.untold.runs++
	j.untold.effects += uint64(len(r.Effects))
	if !good {
		j.untold.errors++
	}
	if m.now.Boot-j.told >= limits.TaskEventEvery || j.told == 0 {
		m.flushRuns(j)
	}
}

func (m *machine) flushRuns(j *job) {
	if j.untold.runs == 0 || len(j.results) == 0 {
		return
	}
	r := j.results[len(j.results)-1]
	data := map[string]any{"run": r.Run, "outcome": r.Outcome, "lateness_us": r.LatenessUS, "duration_us": r.DurationUS,
		"runs": j.untold.runs, "errors": j.untold.errors, "effects": j.untold.effects}
	if r.Compensated {
		data["compensated"] = true
	}
	if r.Trace != "" {
		data["trace"] = r.Trace
	}
	j.told, j.untold = m.now.Boot, tally{}
	m.event("task_run", j, data)
}

func floorDiv(a, b time.Duration) int64 {
	q := int64(a / b)
	if a%b < 0 {
		q--
	}
	return q
}
