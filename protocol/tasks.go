package protocol

import "github.com/go-json-experiment/json/jsontext"

// Brief says when and how a task runs. Exactly one of IntervalMS, Cron, At and AfterMS is given.
type Brief struct {
	Name       string        `json:"name"`
	IntervalMS *int64        `json:"interval_ms,omitzero"`
	Cron       string        `json:"cron,omitzero"`      // five fields, minute to weekday
	TimeZone   string        `json:"time_zone,omitzero"` // of Cron, a name of the IANA database; default the terminal's
	At         string        `json:"at,omitzero"`        // RFC 3339
	AfterMS    *int64        `json:"after_ms,omitzero"`
	TimeoutMS  *int64        `json:"timeout_ms,omitzero"`
	Storage    string        `json:"storage,omitzero"` // volatile (default) or persistent
	Resources  []ResourceUse `json:"resources,omitzero"`
	Misfire    string        `json:"misfire,omitzero"`     // skip, once or all
	OnHubLoss  string        `json:"on_hub_loss,omitzero"` // continue (default) or hold
	MaxRuns    *int64        `json:"max_runs,omitzero"`
	JitterMS   *int64        `json:"jitter_ms,omitzero"`
}

// ResourceUse is a pin or a bus and what is done with it. On the wire it may also be one string, "RELAY_1" or "TEMP_ADC:read".
type ResourceUse struct {
	Resource string `json:"resource"`
	Verb     string `json:"verb,omitzero"` // drive (default) or read
}

// Register hands the terminal a task.
type Register struct {
	Brief *Brief `json:"brief"`
	Code  string `json:"code"`
}

// TaskRef names a task, for cancel, pause, resume, trigger and task_result.
type TaskRef struct {
	TaskID string `json:"task_id"`
	Limit  *int64 `json:"limit,omitzero"` // task_result: newest runs wanted
}

// Lateness is how far behind their time the runs of a task started, of the newest limits.TaskLateness.
type Lateness struct {
	Count uint64 `json:"count"` // of all runs
	P50US int64  `json:"p50_us"`
	P99US int64  `json:"p99_us"`
	MaxUS int64  `json:"max_us"` // of all runs
}

// TaskInfo is one task as its status shows it.
type TaskInfo struct {
	TaskID     string            `json:"task_id"`
	Name       string            `json:"name"`
	Actor      string            `json:"actor"`
	State      string            `json:"state"` // pending running paused held waiting_for_clock done cancelled failed
	Reason     string            `json:"reason,omitzero"`
	Brief      Brief             `json:"brief"`
	CodeSHA256 string            `json:"code_sha256"`
	Code       string            `json:"code,omitzero"` // status only
	CreatedMS  int64             `json:"created_ms"`
	NextMS     int64             `json:"next_ms,omitzero"`
	Runs       uint64            `json:"runs"`
	Failures   int               `json:"failures"`        // in a row
	Missed     map[string]uint64 `json:"missed,omitzero"` // by reason: overlap, late, power, estop, storage, hub, clock
	Lateness   *Lateness         `json:"lateness,omitzero"`
	Last       *TaskRun          `json:"last,omitzero"`
}

// TaskRun is one run of a task.
type TaskRun struct {
	Run         uint64     `json:"run"`
	Trace       string     `json:"trace"`
	Cause       string     `json:"cause"` // schedule, trigger or compensation
	DueMS       int64      `json:"due_ms"`
	StartMS     int64      `json:"start_ms"`
	LatenessUS  int64      `json:"lateness_us"`
	DurationUS  int64      `json:"duration_us"`
	Outcome     string     `json:"outcome"` // ok, or the code of a result
	Message     string     `json:"message,omitzero"`
	Stdout      string     `json:"stdout,omitzero"`
	Stderr      string     `json:"stderr,omitzero"`
	Exception   *Exception `json:"exception,omitzero"`
	Effects     []Effect   `json:"effects,omitzero"`
	Compensated bool       `json:"compensated,omitzero"`
}

// TaskAnswer answers register, cancel, pause, resume, trigger and status with a task id.
type TaskAnswer struct {
	Header
	TaskID string    `json:"task_id"`
	Status string    `json:"status"`        // "registered" for register, else the state
	NextMS int64     `json:"next,omitzero"` // when it is due next, milliseconds since 1970
	Task   *TaskInfo `json:"task,omitzero"`
}

// Tasks answers list.
type Tasks struct {
	Header
	Tasks []TaskInfo `json:"tasks"`
}

// TaskResults answers task_result, newest first.
type TaskResults struct {
	Header
	TaskID string    `json:"task_id"`
	Runs   []TaskRun `json:"runs"`
}

// Lease takes resources, or renews a lease that is given by its id; without resources and id it lists.
type Lease struct {
	LeaseID   string        `json:"lease_id,omitzero"`
	Resources []ResourceUse `json:"resources,omitzero"`
	Verb      string        `json:"verb,omitzero"` // of resources that name none: drive (default) or read
	TTLMS     *int64        `json:"ttl_ms,omitzero"`
	Keep      bool          `json:"keep,omitzero"` // it outlives the connection
}

// LeaseRelease ends a lease: by its holder, a human or an admin.
type LeaseRelease struct {
	LeaseID string `json:"lease_id"`
}

// LeaseInfo is one claim: a lease, or the resources of a task.
type LeaseInfo struct {
	LeaseID   string        `json:"lease_id"` // the task's id for a task
	Holder    string        `json:"holder"`
	Task      string        `json:"task,omitzero"`
	Resources []ResourceUse `json:"resources"`
	SinceMS   int64         `json:"since_ms"`
	ExpiresMS int64         `json:"expires_ms,omitzero"`
	Keep      bool          `json:"keep,omitzero"`
}

// Leases answers lease and lease_release: the lease it is about first, for a list all there are.
type Leases struct {
	Header
	Leases []LeaseInfo `json:"leases"`
}

// Approval looks at or decides what waits for a person: op ls, show, approve or deny.
type Approval struct {
	Op         string `json:"op"`
	ApprovalID string `json:"approval_id,omitzero"`
	Reason     string `json:"reason,omitzero"`
}

// ApprovalInfo is one drive that waits, or was decided. Everything in it is the guard's own but Code, which is an agent's.
type ApprovalInfo struct {
	ApprovalID string `json:"approval_id"`
	Actor      string `json:"actor"`
	Pin        string `json:"pin"`
	Verb       string `json:"verb"`
	CodeSHA256 string `json:"code_sha256"`
	Code       string `json:"code,omitzero"` // show only
	Text       string `json:"text,omitzero"` // show only: what a person should read, with the agent's part escaped and marked
	AskedMS    int64  `json:"asked_ms"`
	ExpiresMS  int64  `json:"expires_ms"`
	State      string `json:"state"` // pending, approved, denied, used, expired
	By         string `json:"by,omitzero"`
}

// Approvals answers approval.
type Approvals struct {
	Header
	Approvals []ApprovalInfo `json:"approvals"`
}

// Audit reads the audit log: op tail, show, verify or export.
type Audit struct {
	Op    string  `json:"op"`
	Trace string  `json:"trace,omitzero"` // show
	Since *uint64 `json:"since,omitzero"` // tail and export: entries after this seq
	Limit *int64  `json:"limit,omitzero"`
	Head  string  `json:"head,omitzero"` // verify: SIZE:HASH that was kept elsewhere
}

// AuditReport is what a verification found.
type AuditReport struct {
	Entries     uint64 `json:"entries"`
	First       uint64 `json:"first"`
	Last        uint64 `json:"last"`
	Checkpoints int    `json:"checkpoints"`
	Bad         uint64 `json:"bad,omitzero"` // seq of the first entry that is wrong
	Problem     string `json:"problem,omitzero"`
}

// AuditAnswer answers audit. Entries are the lines of the log as they stand in it, but for the hash before each.
type AuditAnswer struct {
	Header
	Entries []jsontext.Value `json:"entries,omitzero"`
	Report  *AuditReport     `json:"report,omitzero"`
	End     string           `json:"head,omitzero"` // SIZE:HASH of the log's end
	Note    string           `json:"note,omitzero"` // the newest signed checkpoint
	Key     string           `json:"key,omitzero"`  // that verifies it
	More    bool             `json:"more,omitzero"` // ask again with since
}

// SafeMode looks at safe mode, or leaves it: op status or leave (human only).
type SafeMode struct {
	Op string `json:"op"`
}

// SafeModeAnswer answers safe_mode.
type SafeModeAnswer struct {
	Header
	Active       bool   `json:"active"`
	Reason       string `json:"reason,omitzero"`
	FailedStarts int    `json:"failed_starts"`
}
