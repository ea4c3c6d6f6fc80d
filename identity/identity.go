// Package identity says who asks: actors, their classes and scopes, and the tokens that prove them.
//
// An actor comes from the connection (a token), never from a message's payload. Tokens are named, scoped, may expire, are
// stored as hashes only, and are compared in constant time. identity knows nothing of connections: whoever serves them
// watches [Store] for revocations and cuts what they carried.
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
