// Package protocol is the PAL protocol, version 1: its messages, its error codes and its one strict codec.
//
// # Model
//
// One JSON object per message. A client sends requests; the terminal answers each with one message that echoes the id, and
// sends events (and output, when asked to stream) in between. [Decode] turns the bytes of a request into a [Request] whose
// Body is one of the structs of this package; [Encode] turns an answer into bytes. Bytes are decoded once, here, and the
// decoded values are what is checked, run and recorded.
//
// The codec refuses what two readers could read differently: duplicate keys, keys that differ in case, unknown fields,
// invalid UTF-8, lone surrogates, more than one value, nesting past limits.JSONDepth. The codec never cares where bytes
// came from, and no transport looks inside them.
package protocol

import "github.com/go-json-experiment/json/jsontext"

// Version is the protocol's version as it stands in messages.
const Version = "1"

// Request types. Those without a body struct here exist in the protocol and are not in this version of the product: they
// decode to [Unavailable].
const (
	TypeHello       = "hello"
	TypeExec        = "exec"
	TypeInterrupt   = "interrupt"
	TypeFetch       = "fetch"
	TypeResultQuery = "result" // the seed's name of fetch
	TypeDescribe    = "describe"
	TypeStatus      = "status"
	TypePins        = "pins"
	TypePinRead     = "pin_read"
	TypePinSet      = "pin_set"
	TypeSubscribe   = "subscribe"
	TypeUnsubscribe = "unsubscribe"
	TypeStop        = "stop"
	TypeEstopClear  = "estop_clear"
	TypeToken       = "token"
	TypeSim         = "sim"
	TypeConn        = "conn"
	TypeBoard       = "board"
	TypePing        = "ping"
	TypeReset       = "reset"
	TypeTool        = "tool"
	TypeWatch       = "watch"
	TypeUnwatch     = "unwatch"
	TypeFS          = "fs"

	TypeRegister     = "register" // also of a message with a brief and no type
	TypeCancel       = "cancel"
	TypePause        = "pause"
	TypeResume       = "resume"
	TypeTrigger      = "trigger"
	TypeTaskResult   = "task_result"
	TypeList         = "list"
	TypeLease        = "lease"
	TypeLeaseRelease = "lease_release"
	TypeApproval     = "approval"
	TypeAudit        = "audit"
	TypeSafeMode     = "safe_mode"
)

// Request is one decoded message of a client.
type Request struct {
	Version string         // "1", also when the message had none
	ID      *string        // nil when the message had none; echoed as null
	Type    string         // never empty: short forms are filled in
	Meta    jsontext.Value // carried untouched, nil when absent
	Body    any            // pointer to the struct of Type, nil for types without fields
	Hash    [32]byte       // SHA-256 of the message's bytes, for idempotency
}

// Hello introduces a client.
type Hello struct {
	Client   string   `json:"client,omitzero"`   // name that ids are remembered under
	Token    string   `json:"token,omitzero"`    // identity, when the transport carried none
	Terminal string   `json:"terminal,omitzero"` // for hubs; a terminal accepts its own name only
	Frames   []string `json:"frames,omitzero"`   // framings the client understands
}

// Exec runs Code. Pointers tell absent from zero.
type Exec struct {
	Code        string  `json:"code"`
	Tool        *string `json:"tool,omitzero"` // the seed's messages carry "tool": null
	TimeoutMS   *int64  `json:"timeout_ms,omitzero"`
	Session     string  `json:"session,omitzero"`
	Stream      bool    `json:"stream,omitzero"`
	Echo        *bool   `json:"echo,omitzero"`
	Eval        bool    `json:"eval,omitzero"`
	MaxOutput   *int64  `json:"max_output,omitzero"`
	DryRun      bool    `json:"dry_run,omitzero"`
	ApprovalID  string  `json:"approval_id,omitzero"`
	TTLMS       *int64  `json:"ttl_ms,omitzero"`
	Detach      bool    `json:"detach,omitzero"`
	StopOnError bool    `json:"stop_on_error,omitzero"`
}

// Target names an earlier request, for interrupt and fetch.
type Target struct {
	Target string `json:"target"`
}

// StatusQuery asks for the terminal's snapshot, or for one task.
type StatusQuery struct {
	TaskID *string `json:"task_id,omitzero"`
}

// PinRead reads one pin without the machine.
type PinRead struct {
	Pin PinName `json:"pin"`
}

// PinSet drives one pin without the machine.
type PinSet struct {
	Pin   PinName `json:"pin"`
	Value Level   `json:"value"`
}

// Subscribe asks for events by name; "*" is all of them. Since replays what the ring still holds after that seq.
type Subscribe struct {
	Events []string `json:"events,omitzero"`
	Since  *uint64  `json:"since,omitzero"`
}

// Stop is the e-stop.
type Stop struct {
	Reason string `json:"reason,omitzero"`
}

// EstopClear clears the latch; humans only.
type EstopClear struct {
	Reason string `json:"reason,omitzero"`
}

// Token manages identities: op create, ls or revoke.
type Token struct {
	Op     string   `json:"op"`
	Name   string   `json:"name,omitzero"`
	Class  string   `json:"class,omitzero"`
	Scopes []string `json:"scopes,omitzero"`
	Ask    bool     `json:"ask,omitzero"`
	TTLMS  *int64   `json:"ttl_ms,omitzero"`
}

// Sim looks at or changes the simulated world.
type Sim struct {
	Op    string `json:"op"`
	Name  string `json:"name,omitzero"`
	Value string `json:"value,omitzero"`
}

// Conn lists or cuts live connections: op ls or kick.
type Conn struct {
	Op   string  `json:"op"`
	Conn *uint64 `json:"conn,omitzero"`
}

// Board shows the board description, or changes board.py: op show, source or apply.
type Board struct {
	Op      string `json:"op"`
	Source  string `json:"source,omitzero"`  // apply: the new board.py
	Confirm string `json:"confirm,omitzero"` // apply: the SHA-256 that show told of, so that nobody changes what he has not seen
}

// Reset replaces the machine; with Session it only forgets that session.
type Reset struct {
	Session string `json:"session,omitzero"`
}

// Unavailable is the body of a request whose type belongs to the protocol and not yet to the product.
type Unavailable struct{}

// Header starts every answer and event.
type Header struct {
	Version string  `json:"version"`
	ID      *string `json:"id"`
	Type    string  `json:"type"`
}

// Exception is an uncaught Python exception in a Result.
type Exception struct {
	Class     string `json:"class"`
	Message   string `json:"message"`
	Line      int    `json:"line,omitzero"`
	Traceback string `json:"traceback"`
}

// Effect is one change of an output, as the guard saw it.
type Effect struct {
	Pin      string `json:"pin"` // canonical id
	Name     string `json:"name,omitzero"`
	From     int    `json:"from"`
	To       int    `json:"to"`
	AtUS     int64  `json:"at_us"` // microseconds since the request started to run
	ReadBack int    `json:"read_back"`
	FreqHz   int64  `json:"freq_hz,omitzero"`  // of PWM
	DutyU16  int    `json:"duty_u16,omitzero"` // of PWM, 0 to 65,535
	Cause    string `json:"cause,omitzero"`    // absent: the program; otherwise the guard's reason
}

// Result answers exec, pin_read, pin_set and every refused request. The first six fields after the header are the seed's
// and always present.
type Result struct {
	Header
	Stdout     string `json:"stdout"`
	Stderr     string `json:"stderr"`
	Error      bool   `json:"error"`
	ExecTimeMS int64  `json:"exec_time_ms"`
	Truncated  bool   `json:"truncated"`

	Code           Code           `json:"code,omitzero"`
	Message        string         `json:"message,omitzero"`
	Retryable      bool           `json:"retryable,omitzero"`
	Resource       string         `json:"resource,omitzero"`
	Rule           string         `json:"rule,omitzero"`
	Holder         string         `json:"holder,omitzero"`
	Nearest        []string       `json:"nearest,omitzero"`
	ApprovalID     string         `json:"approval_id,omitzero"` // approval_needed: what a person approves
	Exception      *Exception     `json:"exception,omitzero"`
	Value          jsontext.Value `json:"value,omitzero"`
	Effects        []Effect       `json:"effects,omitzero"`
	EffectsCount   int            `json:"effects_count,omitzero"`
	EffectsRefused int            `json:"effects_refused,omitzero"`
	Refusal        uint32         `json:"refusal,omitzero"` // number of the guard's refusal that the program did not catch
	VMRestarted    bool           `json:"vm_restarted,omitzero"`
	Rung           int            `json:"rung,omitzero"`
	Guard          string         `json:"guard,omitzero"` // "enforced" or "advisory"
	DroppedBytes   int            `json:"dropped_bytes,omitzero"`
	Session        string         `json:"session,omitzero"`
	Trace          string         `json:"trace,omitzero"`
	Fuel           uint64         `json:"fuel,omitzero"`
	Meta           jsontext.Value `json:"meta,omitzero"`
}

// Output is streamed text of a running exec.
type Output struct {
	Header
	Stream string `json:"stream"` // "stdout" or "stderr"
	Data   string `json:"data"`
	Seq    int    `json:"seq"`
}

// Event tells what happened. Its id is "evt_" and a number.
type Event struct {
	Header
	Event       string         `json:"event"`
	Data        jsontext.Value `json:"data"` // always an object
	TimestampMS int64          `json:"timestamp_ms"`
	Seq         uint64         `json:"seq"`
	Dropped     uint64         `json:"dropped,omitzero"` // events this subscriber lost before this one
}

// Ack answers requests that have nothing more to say.
type Ack struct {
	Header
	Message string `json:"message,omitzero"`
	Seq     uint64 `json:"seq,omitzero"` // subscribe: seq of the newest event at that moment
}

// Pong answers ping.
type Pong struct{ Header }

// Welcome answers hello.
type Welcome struct {
	Header
	Versions []string         `json:"versions"`
	Terminal string           `json:"terminal"`
	Product  string           `json:"product"` // "pal VERSION"
	Guard    string           `json:"guard"`
	Actor    ActorInfo        `json:"actor"`
	Conn     uint64           `json:"conn"`
	Frames   []string         `json:"frames"`
	Limits   map[string]int64 `json:"limits"`
}

// ActorInfo describes an identity without its secret.
type ActorInfo struct {
	Name      string   `json:"name"`
	Class     string   `json:"class"`
	Scopes    []string `json:"scopes"`
	Ask       bool     `json:"ask,omitzero"`
	CreatedMS int64    `json:"created_ms,omitzero"`
	ExpiresMS int64    `json:"expires_ms,omitzero"`
}

// PinState is one row of the pin table.
type PinState struct {
	Pin     string   `json:"pin"`
	Name    string   `json:"name,omitzero"`
	Owner   string   `json:"owner"`
	Can     []string `json:"can,omitzero"`
	Mode    string   `json:"mode"`
	Level   *int     `json:"level,omitzero"` // absent where the pin has none
	Value   *float64 `json:"value,omitzero"` // analogue inputs: the reading in Unit
	Unit    string   `json:"unit,omitzero"`
	FreqHz  int64    `json:"freq_hz,omitzero"`
	DutyU16 int      `json:"duty_u16,omitzero"`
	Safe    *int     `json:"safe,omitzero"`
	Danger  string   `json:"danger,omitzero"`
	Rules   []string `json:"rules,omitzero"`
	Driver  string   `json:"driver,omitzero"` // actor that drove it last
	Tripped bool     `json:"tripped,omitzero"`
	Fault   string   `json:"fault,omitzero"` // why the output is out of service
	Note    string   `json:"note,omitzero"`
	Lease   string   `json:"lease,omitzero"` // who has claimed it: an actor, or a task
}

// Pins answers pins.
type Pins struct {
	Header
	Pins []PinState `json:"pins"`
}

// EstopState is the latch.
type EstopState struct {
	Latched bool   `json:"latched"`
	Reason  string `json:"reason,omitzero"`
	SinceMS int64  `json:"since_ms,omitzero"`
}

// MachineState is one virtual machine of the terminal.
type MachineState struct {
	Label      string   `json:"label"`
	Generation uint64   `json:"generation"`
	PID        int      `json:"pid,omitzero"`
	Engine     string   `json:"engine,omitzero"`
	Sandbox    []string `json:"sandbox,omitzero"`
	Missing    []string `json:"missing,omitzero"`
	RSSBytes   int64    `json:"rss_bytes,omitzero"`
	BootUS     int64    `json:"boot_us,omitzero"`
	ReplacedUS int64    `json:"replaced_us,omitzero"` // how long the last replacement took
}

// RunningState is the exec that runs now.
type RunningState struct {
	ID      *string `json:"id"`
	Trace   string  `json:"trace"`
	Actor   string  `json:"actor"`
	Session string  `json:"session"`
	SinceMS int64   `json:"since_ms"`
}

// Status is the terminal's snapshot.
type Status struct {
	Header
	Terminal    string         `json:"terminal"`
	Product     string         `json:"product"`
	Board       string         `json:"board"`
	Mode        string         `json:"mode"`
	BootID      string         `json:"boot_id"`
	UptimeMS    int64          `json:"uptime_ms"`
	Estop       EstopState     `json:"estop"`
	Running     *RunningState  `json:"running,omitzero"`
	Waiting     int            `json:"waiting"`
	Connections int            `json:"connections"`
	Refused     uint64         `json:"connections_refused,omitzero"`
	Execs       uint64         `json:"execs"`
	Restarts    uint64         `json:"vm_restarts"`
	Machines    []MachineState `json:"machines"`
	RSSBytes    int64          `json:"rss_bytes"`
	EventSeq    uint64         `json:"event_seq"`
	Tasks       int            `json:"tasks"`
	SafeMode    string         `json:"safe_mode,omitzero"`  // why no programs run
	Storage     string         `json:"storage,omitzero"`    // why nothing may be driven
	AuditHead   string         `json:"audit_head,omitzero"` // SIZE:HASH
}

// FuncInfo is one function of board.py, or a tool.
type FuncInfo struct {
	Name      string `json:"name"`
	Signature string `json:"signature"`
	Doc       string `json:"doc,omitzero"`
	MadeBy    string `json:"made_by,omitzero"` // tools: "board" or "agent"
	Actor     string `json:"actor,omitzero"`   // tools of an agent: whose session it is
	Session   string `json:"session,omitzero"`
}

// Describe answers describe: what an agent must know before it writes code.
type Describe struct {
	Header
	Terminal  string           `json:"terminal"`
	Product   string           `json:"product"`
	Board     string           `json:"board"`
	Mode      string           `json:"mode"`
	Guard     string           `json:"guard"`
	Pins      []PinState       `json:"pins"`
	Functions []FuncInfo       `json:"functions"`
	Tools     []FuncInfo       `json:"tools"`
	Limits    map[string]int64 `json:"limits"`
	Versions  []string         `json:"versions"`
	Engine    string           `json:"engine,omitzero"`
	Notes     []string         `json:"notes"`
}

// Tokens answers token.
type Tokens struct {
	Header
	Tokens []ActorInfo `json:"tokens"`
	Token  string      `json:"token,omitzero"` // create only: shown once
}

// ConnInfo is one live connection.
type ConnInfo struct {
	Conn      uint64 `json:"conn"`
	Actor     string `json:"actor"`
	Client    string `json:"client,omitzero"`
	Remote    string `json:"remote"`
	Transport string `json:"transport"`
	SinceMS   int64  `json:"since_ms"`
	Requests  uint64 `json:"requests"`
	Reserved  bool   `json:"reserved,omitzero"`
	Self      bool   `json:"self,omitzero"`
}

// Conns answers conn.
type Conns struct {
	Header
	Conns []ConnInfo `json:"conns"`
}

// SimAnswer answers sim.
type SimAnswer struct {
	Header
	Sim jsontext.Value `json:"sim"`
}

// BoardAnswer answers board.
type BoardAnswer struct {
	Header
	Board  string `json:"board"`
	Mode   string `json:"mode"`
	File   string `json:"file,omitzero"`   // the description as it was loaded
	Source string `json:"source,omitzero"` // board.py
	SHA256 string `json:"sha256"`          // of description and board.py
	Drift  bool   `json:"drift,omitzero"`  // board.py is not the one of the board file
}
