// Package task is the terminal's own clockwork: it runs what an agent left behind, on time, without the agent.
//
// # Model
//
// A task is a brief and code. The [Manager] checks the brief, claims its resources, gives it an id that is never used again,
// writes it to disk when it is to be persistent, and only then answers. From then on a step machine without goroutines and without
// a clock of its own decides what is due: it is told the time as a wall clock and a boot clock ([Time]) and answers with the one
// run to do now, or with the time to look again. One run at a time; by due time, then by order of registration.
//
//   - An interval is anchored at a stored instant of the wall clock and runs on the boot clock: next = next + interval, first after
//     one interval. after_ms runs on the boot clock. cron and at ask the wall clock anew at each look; the rule for
//     daylight saving stands at cron.instant.
//   - When the clocks step against each other, an interval finds its phase again from its anchor, at least half an interval after
//     its last time; nothing runs more than once for it.
//   - A clock from before limits.ClockLeast, or that starts before the newest time stored, is not set: cron and at wait for it.
//   - What did not run is counted by reason, or made up for once by the misfire rule.
//
// # What is on disk, and what each cut leaves
//
// A persistent task is a record `task-<id>`, written before register answers. How far all of them came (last due time handled, runs,
// holds) and the next id are one record `tasks`, written at most once a minute; at once for a hold, a pause and a task whose
// period is a minute or more. So no run of a fast task writes, and after a cut up to a minute of its due times count as missed
// once more. A task with an end, a one-shot or max_runs, books runs in `tasks` before they start, those of about a minute at a time:
//
//   - cut before the booking: the one-shot was not run; it runs after the start, by its misfire rule.
//   - cut after it: the one-shot may have run; it is never run again, it stands as failed and says why.
//   - cut after the run: the same, until its record is removed; after that it is done.
//
// # What it refuses
//
// A brief that it does not understand whole, a time that has passed, an interval under limits.TaskPeriodLeast. A damaged record is
// set aside and told, the others run. It drives nothing and runs nothing itself: [Options] name who does.
package task

import (
	"context"
	"time"

	"github.com/pal-terminal/pal/protocol"
)

// Reasons to hold tasks. An e-stop's hold stays on each task until a person resumes it; the others end by themselves.
const (
	HoldEstop   = "estop"
	HoldStorage = "storage"
	HoldSafe    = "safe_mode"
	HoldHub     = "hub" // only tasks whose brief says on_hub_loss: hold

	holdOwner = "owner"
)

// Causes of a run.
const (
	CauseSchedule     = "schedule"
	CauseTrigger      = "trigger"
	CauseCompensation = "compensation"
)

// Time is one look at both clocks: the wall clock, and the clock that counts from the start of the machine, through suspend.
type Time struct {
	Wall time.Time
	Boot time.Duration
}

// Clock tells the time and wakes.
type Clock interface {
	Now() Time
	// Timer returns a timer of the boot clock.
	Timer() (Timer, error)
}

// Timer wakes once for each Set, at or after a time of the boot clock; also when the machine slept meanwhile.
type Timer interface {
	Set(boot time.Duration)
	C() <-chan struct{}
	Stop()
}

// Owner is who registered a task: what it does, it does under this name.
type Owner struct {
	Actor  string   `json:"actor"`
	Class  string   `json:"class"`
	Scopes []string `json:"scopes"`
	Client string   `json:"client,omitzero"`
}

// Run is one run to do.
type Run struct {
	TaskID      string
	Name        string
	Number      uint64 // from 1
	Owner       Owner
	Code        string
	Resources   []protocol.ResourceUse
	Timeout     time.Duration
	Due         time.Time
	Cause       string
	Compensated bool
}

// Outcome is what came of a run. Code is empty or "ok" for a good one, else the code of its result.
type Outcome struct {
	Code      string
	Trace     string
	Message   string
	Stdout    string
	Stderr    string
	Exception *protocol.Exception
	Effects   []protocol.Effect
}

// Records is where persistent tasks live. Put is durable when it returns nil.
type Records interface {
	Put(key string, value []byte) error
	Delete(key string) error
}

// Options of a Manager. Run is required. No callback is called with a lock of the manager held; all but Run must be quick, and none
// may wait for a call of the manager.
type Options struct {
	// Run does one run, within r.Timeout; ctx ends when its task is cancelled or the manager closes. It is called by one goroutine.
	Run func(ctx context.Context, r Run) Outcome
	// Claim takes a task's resources for it, all or none; Release gives them back. Both may be nil.
	Claim   func(id string, o Owner, uses []protocol.ResourceUse) error
	Release func(id string)
	// Safe makes safe what a task drives: it was cancelled, or paused by its failures.
	Safe func(id, cause string)
	// Event tells of task_registered, task_run, task_paused, task_ended and store_damaged.
	Event func(name string, data map[string]any)
	// Ready says why nothing may run now, nil when it may. It is asked before each run.
	Ready func() error

	Held       []string          // reasons to Hold from the start
	Records    Records           // nil: persistent briefs are refused
	Loaded     map[string][]byte // what Records held at the start; other packages' records in it are left alone
	Clock      Clock             // the system's when nil
	Location   *time.Location    // of cron without time_zone; time.Local when nil
	Tasks      int               // limits.TasksDefault when 0
	MaxTimeout time.Duration     // limits.MaxExecDefault when 0
}

func refuse(code protocol.Code, message string) *protocol.Error {
	return &protocol.Error{Code: code, Message: message}
}
