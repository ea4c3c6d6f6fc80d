// Package pin is the guard: the one place through which a level of a pin is read, set or watched, and where every rule on an
// output is enforced.
//
// # Model
//
// A [Table] stands between callers and a board.Driver. Every call names its [Caller] and a [Handle] from [Table.Resolve];
// the answer is an [Effect], a level, or a [Refusal] that names the rule. Per output, changes happen one after another:
// check and claim, drive, read back, record. A claim is made before the driver is called and given up after it has
// answered, so that an interlock holds also while a slow output is still switching.
//
// "On" means the level that is not the output's safe level. Making an output safe is never refused by a rule on the output
// (min_off, max_rate, interlock, requires, trip, danger, lease) or a claim on it; only owner, capability, scope and the e-stop latch
// apply.
//
// An output that does PWM is on, unless its duty is all or nothing: then it has that level. While a timed protocol drives a line
// ([Table.Lend]) the line is on. A line that a bus or a counter holds ([Table.Hold]) is nobody's pin until it is let go.
//
// # What it refuses
//
// System-owned and unknown pins, always; driving without the scope or, in engineering mode, from anywhere but board.py;
// every drive while the e-stop latch is set; whatever a rule of the board file forbids. When a driver fails or does
// not answer in limits.DriveTimeout the output counts as on for its interlocks and as faulty for everybody until
// [Table.Clear]: it fails closed. What somebody else has claimed ([Claims]) it refuses, and drives of high danger until a person has
// approved them ([Options.Approve]). The table trusts nothing of a caller but the Caller value, which the door (package core)
// fills in from the connection.
package pin

import (
	"log/slog"
	"time"

	"github.com/pal-terminal/pal/hw"
)

// Handle is a pin as the board description numbers it: an index into Description.Pins.
type Handle uint16

// Caller says on whose behalf a call is made. The table keeps the caller that last drove each output.
type Caller struct {
	Name    string   // actor, for records
	Drive   bool     // has the scope to drive
	Ask     bool     // its high-danger drives need an approval
	Human   bool     // of class human: it need not ask because all agents must (Options.AskAll)
	Board   bool     // runs in board.py's own machine
	Shared  bool     // others' code ran in its machine: it has no use of a lease that its actor took meanwhile
	Admin   bool     // recorded only: rules bind administrators too
	Run     uint64   // exec number, 0 for none
	Machine string   // label of the virtual machine
	Conn    uint64   // connection number, 0 for none
	Task    string   // id of the task that runs, empty for none
	Code    [32]byte // SHA-256 of the code that runs, zero for none
}

// Claims says who has claimed a pin for driving. Its methods are called with the table locked: they must be quick and must not call
// the table.
type Claims interface {
	// Holder reports whether anybody has claimed h, whether the claim lets c drive, and for refusals who holds it ("agent-7", or
	// "task 003 (agent-7)") and since when.
	Holder(c Caller, h Handle) (held, own bool, holder string, since time.Time)
}

// Latched is an e-stop found at the start.
type Latched struct {
	Reason, Actor string
	At            time.Time
}

// Effect is a drive of an output that took place.
type Effect struct {
	Handle   Handle
	Pin      string // canonical id
	Name     string
	From     int // level before: 0, 1, or -1 when the pin was no output
	To       int // level asked for; -1 when the pin stopped being an output
	At       time.Time
	ReadBack int    // level found on the line after driving, -1 when it could not be read or the line is switching
	Cause    string // "" for the caller's own wish, else a Cause constant
	Freq     int64  // of PWM in Hz, 0 when the output has a level. To is then the level that is not safe, unless Duty is a level
	Duty     int    // of PWM, 0 to 65,535
	Retuned  bool   // Freq or Duty was another one before
}

// Changed reports whether the level, or the frequency or duty of PWM, was another one before.
func (e Effect) Changed() bool { return e.From != e.To || e.Retuned }

// Causes of effects that no caller asked for.
const (
	CauseMaxOn    = "max_on"
	CauseTrip     = "trip"
	CauseRequires = "requires"
	CauseEstop    = "estop"
	CauseFault    = "output_fault"
	CauseStart    = "start"
	CauseShutdown = "shutdown"
)

// EventKind names what an Event reports, in the words of the protocol.
type EventKind string

// Kinds of event.
const (
	EventTrip        EventKind = "trip"         // a trip condition was met; latched until Clear
	EventOutputSafe  EventKind = "output_safe"  // the guard made an output safe by itself
	EventOutputFault EventKind = "output_fault" // an output did not do what it was told; latched until Clear
	EventPinChange   EventKind = "pin_change"   // a watched input changed
)

// Event is something the guard did or saw by itself.
type Event struct {
	Kind   EventKind
	Handle Handle
	Pin    string
	Name   string
	Level  int     // level after the event, -1 when unknown
	Value  float64 // EventTrip: the reading, in the unit of the input; 0 when it could not be read
	Cause  string
	Text   string // for people
	At     time.Time
}

// Options of a Table. The zero value works.
type Options struct {
	Log *slog.Logger
	// Now is the clock of records and rules, time.Now when nil. It must run at the pace of package time, whose timers
	// wake the table.
	Now func() time.Time
	// OnEvent receives events, those of one pin in order. It is called in the middle of a change of that pin: it must not
	// block and must not call the table.
	OnEvent func(Event)
	// Claims is asked before anything is driven, configured as an output, lent or taken for a bus. Without it nothing is claimed,
	// and an output with lease_required is on for nobody.
	Claims Claims
	// Approve decides about a drive of high danger by a caller that has to ask, when nothing else stands against it. The refusal
	// carries id, which is what a person approves; err, when it is not nil, is the refusal instead. It is called without locks, from
	// the caller's goroutine. Without it nothing is approved.
	Approve func(c Caller, h Handle) (ok bool, id string, err *Refusal)
	// AskAll reports whether every caller but people has to ask. It is called with the table locked, as Claims is.
	AskAll func() bool
	// Stopped is the e-stop that was set when the guard ended: the table begins with its latch set. Nil is none.
	Stopped *Latched
}

// Driven tells who drove an output that may be on last, for [Table.Safe].
type Driven struct {
	Handle           Handle
	Caller           Caller
	OnDisconnectSafe bool // the board file says so
}

// State is one pin in a snapshot.
type State struct {
	Handle     Handle
	ID         string
	Name       string
	Owner      string
	Can        []string
	Mode       hw.Mode
	Pull       hw.Pull
	Level      int      // on the line; -1 when unknown
	Value      *float64 // analogue inputs: the reading in Unit, or raw counts without a scale
	Unit       string
	Safe       int // -1 when the pin is no output
	On         bool
	Freq       int64 // of PWM in Hz, 0 when the pin does none
	Duty       int   // of PWM, 0 to 65,535
	Danger     string
	Rules      []string // text of each rule
	LastDriver string   // Caller.Name
	Since      time.Time
	Tripped    bool
	Fault      string // why the output is out of service, empty when it is not
	Note       string
}
