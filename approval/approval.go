// Package approval is the queue of what waits for a person's yes: drives of high danger by actors that have to ask.
//
// # Model
//
// A drive is asked for by actor, hash of the code, pin and verb. [Queue.Use] lets it pass when a person has approved exactly that
// and it was not used yet: from then on it holds for the one run that used it. Otherwise the drive is put in the queue, once, and
// its id goes back to whoever asked. A [Request] carries the code as the guard got it, so that what is approved is what runs.
//
// # What it refuses
//
// Decisions of anybody but a person, of the requester itself, of what is unknown, decided or too old.
package approval

import "time"

// Request is one drive that waits, or was decided.
type Request struct {
	ID       string
	Actor    string
	CodeHash [32]byte
	Code     string // as the guard got it; empty for a drive without code
	Pin      string // label
	Verb     string // "drive"
	Asked    time.Time
	Expires  time.Time
	State    string // pending, approved, denied, used, expired
	By       string // who decided
	Run      uint64 // the run that used it
}
