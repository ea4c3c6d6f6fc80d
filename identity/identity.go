// Package identity says who asks: actors, their classes and scopes, and the tokens that prove them.
//
// # Model
//
// An actor comes from the connection (a token), never from a message's payload. A [Store] keeps named, scoped tokens, which
// may expire, in one file of the state folder: hashes only, compared in constant time, written so that a crash leaves the
// old file or the new one. The terminal's own two tokens, [LocalHuman] and [LocalAgent], also stand in clear in files that
// only its user can read.
//
// identity knows nothing of connections: whoever serves them watches the store and cuts what a token carried when it ends.
//
// # What it refuses
//
// A token file that is damaged or open to other users: nobody is let in on its ground. An agent with the admin scope. The
// empty token. A name that would need quoting in a log or a shell.
package identity

import "slices"

// Class is the kind of an actor.
type Class string

// Classes.
const (
	Human   Class = "human"
	Agent   Class = "agent"
	Service Class = "service"
	Hub     Class = "hub"
)

// Scope is a right of an actor.
type Scope string

// Scopes. Exec runs code; without Actuate that code may not drive.
const (
	Read    Scope = "read"
	Exec    Scope = "exec"
	Actuate Scope = "actuate"
	Admin   Scope = "admin"
)

// Actor is who asks.
type Actor struct {
	Name   string
	Class  Class
	Scopes []Scope
	Ask    bool // drives of danger high need an approval
}

// Can reports whether the actor holds the scope.
func (a Actor) Can(s Scope) bool { return slices.Contains(a.Scopes, s) }
