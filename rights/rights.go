// Package rights says who may send what.
//
// # Model
//
// Every type of request has one [Rule]: the scope that it takes, and how it is carried out. [Allowed] decides by the connection's identity
// before a request is looked into; what depends on more (whose task, whose lease) is decided where that is known.
//
// # What it refuses
//
// A type without a rule. Clearing the e-stop and making a person's token to anybody but a person, who alone also makes a token that
// may do more than its maker.
package rights

import (
	"fmt"
	"slices"

	"github.com/pal-terminal/pal/conns"
	"github.com/pal-terminal/pal/identity"
	"github.com/pal-terminal/pal/limits"
	"github.com/pal-terminal/pal/protocol"
)

// Rule is what there is to know of a request type before it is looked into. The zero rule asks for an identity only; a type
// without a rule is refused.
type Rule struct {
	Scope    identity.Scope
	Look     bool // never remembered: it changes nothing, or, as stop, may well be done twice
	Quiet    bool // not in the audit log: it concerns the connection alone
	Calms    bool // it can only make things safer, so it is done also when it cannot be recorded
	Disk     bool // it waits for the disk for longer than a record takes: the clerk does it
	Reserved bool // may come on a connection beyond the limit
}

var rules = map[string]Rule{
	protocol.TypePing:         {Look: true, Reserved: true},
	protocol.TypeStop:         {Look: true, Reserved: true},
	protocol.TypeStatus:       {Scope: identity.Read, Look: true, Reserved: true},
	protocol.TypeDescribe:     {Scope: identity.Read, Look: true},
	protocol.TypePins:         {Scope: identity.Read, Look: true},
	protocol.TypePinRead:      {Scope: identity.Read, Look: true},
	protocol.TypeBoard:        {Scope: identity.Read, Look: true},
	protocol.TypeFetch:        {Scope: identity.Read},
	protocol.TypeResultQuery:  {Scope: identity.Read},
	protocol.TypeSubscribe:    {Scope: identity.Read},
	protocol.TypeUnsubscribe:  {Scope: identity.Read},
	protocol.TypeExec:         {Scope: identity.Exec},
	protocol.TypeTool:         {Scope: identity.Exec},
	protocol.TypeWatch:        {Scope: identity.Read, Quiet: true},
	protocol.TypeUnwatch:      {Scope: identity.Read, Quiet: true},
	protocol.TypeRegister:     {Scope: identity.Exec, Disk: true},
	protocol.TypeCancel:       {Scope: identity.Exec, Disk: true, Calms: true},
	protocol.TypePause:        {Scope: identity.Exec, Disk: true, Calms: true},
	protocol.TypeResume:       {Scope: identity.Exec, Disk: true},
	protocol.TypeTrigger:      {Scope: identity.Exec, Disk: true},
	protocol.TypeTaskResult:   {Scope: identity.Read, Look: true},
	protocol.TypeList:         {Scope: identity.Read, Look: true},
	protocol.TypeLease:        {Scope: identity.Exec},
	protocol.TypeLeaseRelease: {Scope: identity.Exec, Calms: true},
	protocol.TypeApproval:     {Scope: identity.Read},
	protocol.TypeAudit:        {Scope: identity.Admin, Look: true, Disk: true},
	protocol.TypeSafeMode:     {Scope: identity.Read, Disk: true},
	protocol.TypeFS:           {Scope: identity.Read}, // exec to change something, below
	protocol.TypeInterrupt:    {Scope: identity.Exec, Quiet: true},
	protocol.TypeReset:        {Scope: identity.Exec, Quiet: true},
	protocol.TypePinSet:       {Scope: identity.Actuate},
	protocol.TypeEstopClear:   {Calms: true, Disk: true}, // the class decides, below; nothing is driven by it
	protocol.TypeToken:        {Scope: identity.Admin, Disk: true},
	protocol.TypeSim:          {Scope: identity.Admin},
	protocol.TypeConn:         {Scope: identity.Admin, Calms: true},
}

// Recorded reports whether a request is written into the audit log: not one that only looks.
func Recorded(req *protocol.Request) bool {
	switch b := req.Body.(type) {
	case *protocol.Lease:
		return b.LeaseID != "" || len(b.Resources) > 0
	case *protocol.Approval:
		return b.Op == "approve" || b.Op == "deny"
	case *protocol.SafeMode:
		return b.Op != "status"
	case *protocol.Token:
		return b.Op != "ls"
	case *protocol.Conn:
		return b.Op != "ls"
	}
	return !rules[req.Type].Quiet
}

// Of returns the rule of a type, the zero one for a type that has none.
func Of(typ string) Rule { return rules[typ] }

// Allowed checks identity, slot and scope.
func Allowed(w *conns.Who, reserved bool, req *protocol.Request) error {
	typ := req.Type
	needs, known := rules[typ]
	_, later := req.Body.(*protocol.Unavailable)
	if f, ok := req.Body.(*protocol.FS); ok && f.Changes() {
		needs.Scope = identity.Exec
	}
	switch {
	case w == nil:
		return &protocol.Error{Code: protocol.CodeUnauthorized, Message: "send hello with a token first, or connect with `Authorization: Bearer TOKEN`"}
	case !known && !later:
		return &protocol.Error{Code: protocol.CodeDenied, Rule: "rule.none", Message: "nothing says who may send " + typ}
	case !needs.Reserved && reserved:
		return &protocol.Error{Code: protocol.CodeBusy, Message: fmt.Sprintf("all %d connections are taken; this one serves hello, stop, ping and status only", limits.Connections)}
	case typ == protocol.TypeEstopClear && w.Actor.Class != identity.Human:
		return &protocol.Error{Code: protocol.CodeDenied, Rule: "estop.human", Message: "only a human may clear the e-stop"}
	case makesPerson(req) && w.Actor.Class != identity.Human: // else a service that manages could make one to clear the e-stop and to approve
		return &protocol.Error{Code: protocol.CodeDenied, Rule: "token.human", Message: "only a human may make a human's token"}
	case makesMore(w.Actor, req): // else who has to ask, or may not drive, would make one that need not, or may
		return &protocol.Error{Code: protocol.CodeDenied, Rule: "token.more", Message: w.Actor.Name + " may not make a token of scopes that it lacks, nor one that need not ask for approval as it must itself"}
	case needs.Scope != "" && !w.Actor.Can(needs.Scope):
		return &protocol.Error{Code: protocol.CodeDenied, Rule: "scope." + string(needs.Scope), Message: fmt.Sprintf("%s lacks the scope %s", w.Actor.Name, needs.Scope)}
	}
	return nil
}

// makesPerson reports whether a request asks for a token of class human.
func makesPerson(req *protocol.Request) bool {
	t, ok := req.Body.(*protocol.Token)
	return ok && t.Op == "create" && identity.Class(t.Class) == identity.Human
}

// makesMore reports whether a request asks for a token that may do more than its maker, who is no person.
func makesMore(a identity.Actor, req *protocol.Request) bool {
	t, ok := req.Body.(*protocol.Token)
	return ok && t.Op == "create" && a.Class != identity.Human &&
		(a.Ask && !t.Ask || slices.ContainsFunc(t.Scopes, func(s string) bool { return !a.Can(identity.Scope(s)) }))
}
