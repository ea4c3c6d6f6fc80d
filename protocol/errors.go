package protocol

// Code is the stable name of a refusal. Codes are listed here, documented in docs/protocol.md and never reused.
type Code string

// The codes.
const (
	CodeBadJSON            Code = "bad_json"
	CodeBadRequest         Code = "bad_request"
	CodeUnsupportedVersion Code = "unsupported_version"
	CodeTooLarge           Code = "too_large"
	CodeBusy               Code = "busy"
	CodeDeadline           Code = "deadline"
	CodeInterrupted        Code = "interrupted"
	CodePythonError        Code = "python_error"
	CodeVMRestarted        Code = "vm_restarted"
	CodeDenied             Code = "denied"
	CodeApprovalNeeded     Code = "approval_needed"
	CodeNotFound           Code = "not_found"
	CodeConflict           Code = "conflict"
	CodeFull               Code = "full"
	CodeExpired            Code = "expired"
	CodeIDReused           Code = "id_reused"
	CodeEstopped           Code = "estopped"
	CodeStorage            Code = "storage"
	CodeUnauthorized       Code = "unauthorized"
	CodeInternal           Code = "internal"
	CodeUnavailable        Code = "unavailable"
	CodeWaitingForClock    Code = "waiting_for_clock"
)

// Retryable reports whether the same request may succeed later without a change by the sender.
func (c Code) Retryable() bool {
	switch c {
	case CodeBusy, CodeVMRestarted, CodeFull, CodeStorage, CodeUnavailable, CodeWaitingForClock:
		return true
	default:
		return false
	}
}

// Error is a refusal on its way to a client.
type Error struct {
	Code     Code
	Message  string   // what a person can act on
	Resource string   // pin, session, … it is about
	Rule     string   // id of the rule that refused
	Holder   string   // who has it
	Nearest  []string // what would be allowed instead

	ApprovalID string // of approval_needed: what a person approves
}

// Error returns code and message.
func (e *Error) Error() string { return string(e.Code) + ": " + e.Message }
