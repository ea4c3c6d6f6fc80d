package pin

import "time"

// Rules a refusal can name. They are stable: programs and audits match them.
const (
	RuleUnknownPin  = "unknown pin"    // no pin of the board has that name
	RuleSystemPin   = "system pin"     // owned by the board itself
	RuleGuardPin    = "guard pin"      // owned by the guard
	RuleCapability  = "capability"     // the pin cannot do that
	RuleBias        = "bias"           // a bias could switch an output on that has rules
	RuleEngineering = "engineering"    // only board.py may configure and drive
	RuleScope       = "scope"          // the caller may not drive
	RuleEstop       = "estop"          // the e-stop latch is set
	RuleDanger      = "danger"         // a high-danger drive needs an approval
	RuleInterlock   = "interlock"      // another output is on or still switching
	RuleRequires    = "requires"       // an input does not have the level it must have
	RuleMinOff      = "min_off"        // too soon after switching off
	RuleMaxRate     = "max_rate"       // switched too often
	RuleTrip        = "trip"           // tripped, until cleared by a human
	RuleLease       = "lease_required" // needs a lease, which the caller does not hold
	RuleLeaseHeld   = "lease.held"     // somebody else has leased it
	RuleTaskHeld    = "task.held"      // it belongs to a task
	RuleFault       = "output_fault"   // the output or its driver failed
	RuleBusy        = "busy"           // the pin is still busy with an earlier call, or has too many watchers
	RuleInUse       = "pin in use"     // the pin is a line of a bus or counter, or cannot become one while it is on
	RuleArgument    = "argument"       // the call makes no sense
	RuleClosed      = "closed"         // the guard is shutting down
)

// Errno values of refusals, as MicroPython numbers them. The e-stop latch has EPERM to itself, so that a program can tell
// "never for you" (EACCES) from "not now, a human must release" (EPERM).
const (
	eperm  = 1
	eio    = 5
	eacces = 13
	ebusy  = 16
	einval = 22
)

// Protocol codes of refusals.
const (
	codeDenied      = "denied"
	codeEstopped    = "estopped"
	codeApproval    = "approval_needed"
	codeConflict    = "conflict"
	codeNotFound    = "not_found"
	codeBadRequest  = "bad_request"
	codeUnavailable = "unavailable"
)

// Refusal is the error of every call that the guard did not let through.
type Refusal struct {
	Errno    int       // EPERM for the e-stop latch, EIO for faults, EBUSY for RuleBusy and RuleInUse, EINVAL for RuleArgument, else EACCES
	Code     string    // of the protocol: denied estopped approval_needed conflict not_found bad_request unavailable
	Rule     string    // a Rule constant
	Resource string    // the pin, as a person calls it
	Holder   string    // who or what stands in the way, where that is known
	Since    time.Time // of a claim: since when; else zero
	Approval string    // of RuleDanger: what a person approves, empty for nothing
	Message  string    // one sentence a person can act on
	Nearest  []string
}

// Error returns the message with the rule.
func (r *Refusal) Error() string { return r.Message + " (rule: " + r.Rule + ")" }
