package rights

import (
	"errors"
	"testing"

	"github.com/pal-terminal/pal/conns"
	"github.com/pal-terminal/pal/identity"
	"github.com/pal-terminal/pal/protocol"
)

func who(class identity.Class, scopes ...identity.Scope) *conns.Who {
	return &conns.Who{Actor: identity.Actor{Name: "x", Class: class, Scopes: scopes}}
}

func code(err error) protocol.Code {
	refusal, ok := errors.AsType[*protocol.Error](err)
	if !ok {
		return ""
	}
	return refusal.Code
}

// Every type that the codec knows and the product has is somebody's, and only with its scope.
func TestScopes(t *testing.T) {
	for typ, r := range rules {
		req := &protocol.Request{Type: typ}
		if got := code(Allowed(nil, false, req)); got != protocol.CodeUnauthorized {
			t.Errorf("%s without identity: got %q, want unauthorized", typ, got)
		}
		if r.Scope == "" {
			continue
		}
		for _, s := range []identity.Scope{identity.Read, identity.Exec, identity.Actuate, identity.Admin} {
			got := code(Allowed(who(identity.Human, s), false, req))
			if want := map[bool]protocol.Code{true: "", false: protocol.CodeDenied}[s == r.Scope]; got != want {
				t.Errorf("%s with %s: got %q, want %q", typ, s, got, want)
			}
		}
		if got := code(Allowed(who(identity.Human, r.Scope), true, req)); r.Reserved != (got == "") {
			t.Errorf("%s on a reserved connection: got %q", typ, got)
		}
	}
}

// Nobody but a person clears the e-stop or makes a person.
func TestPersons(t *testing.T) {
	all := []identity.Scope{identity.Read, identity.Exec, identity.Actuate, identity.Admin}
	for _, class := range []identity.Class{identity.Agent, identity.Service, identity.Hub, identity.Human} {
		want := protocol.CodeDenied
		if class == identity.Human {
			want = ""
		}
		if got := code(Allowed(who(class, all...), false, &protocol.Request{Type: protocol.TypeEstopClear})); got != want {
			t.Errorf("estop_clear by %s: got %q, want %q", class, got, want)
		}
		token := &protocol.Request{Type: protocol.TypeToken, Body: &protocol.Token{Op: "create", Class: "human"}}
		if got := code(Allowed(who(class, all...), false, token)); got != want {
			t.Errorf("a person's token by %s: got %q, want %q", class, got, want)
		}
	}
}

// Who manages gives nobody more than it has; a person may.
func TestTokensOfMore(t *testing.T) {
	for _, c := range []struct {
		class  identity.Class
		has    []identity.Scope
		ask    bool
		gives  []string
		asking bool
		want   protocol.Code
	}{
		{identity.Service, []identity.Scope{"read", "admin"}, false, []string{"read", "exec", "actuate"}, false, protocol.CodeDenied},
		{identity.Service, []identity.Scope{"read", "admin"}, false, []string{"read"}, false, ""},
		{identity.Service, []identity.Scope{"read", "actuate", "admin"}, true, []string{"actuate"}, false, protocol.CodeDenied},
		{identity.Service, []identity.Scope{"read", "actuate", "admin"}, true, []string{"read"}, false, protocol.CodeDenied},
		{identity.Service, []identity.Scope{"read", "actuate", "admin"}, true, []string{"actuate"}, true, ""},
		{identity.Hub, []identity.Scope{"admin"}, false, []string{"exec"}, true, protocol.CodeDenied},
		{identity.Human, []identity.Scope{"admin"}, true, []string{"exec", "actuate"}, false, ""},
	} {
		w := who(c.class, c.has...)
		w.Actor.Ask = c.ask
		req := &protocol.Request{Type: protocol.TypeToken, Body: &protocol.Token{Op: "create", Class: "agent", Scopes: c.gives, Ask: c.asking}}
		if got := code(Allowed(w, false, req)); got != c.want {
			t.Errorf("%s with %v, ask %v, makes %v, ask %v: got %q, want %q", c.class, c.has, c.ask, c.gives, c.asking, got, c.want)
		}
	}
}

// What only looks is not recorded, what changes something is.
func TestRecorded(t *testing.T) {
	for _, c := range []struct {
		body any
		typ  string
		want bool
	}{
		{&protocol.Lease{}, protocol.TypeLease, false}, {&protocol.Lease{LeaseID: "l"}, protocol.TypeLease, true},
		{&protocol.Lease{Resources: []protocol.ResourceUse{{Resource: "LED"}}}, protocol.TypeLease, true},
		{&protocol.Approval{Op: "show"}, protocol.TypeApproval, false}, {&protocol.Approval{Op: "approve"}, protocol.TypeApproval, true},
		{&protocol.SafeMode{Op: "status"}, protocol.TypeSafeMode, false}, {&protocol.SafeMode{Op: "leave"}, protocol.TypeSafeMode, true},
		{&protocol.Token{Op: "ls"}, protocol.TypeToken, false}, {&protocol.Token{Op: "revoke"}, protocol.TypeToken, true},
		{&protocol.Conn{Op: "ls"}, protocol.TypeConn, false}, {&protocol.Conn{Op: "kick"}, protocol.TypeConn, true},
		{&protocol.PinSet{}, protocol.TypePinSet, true}, {&protocol.Exec{}, protocol.TypeExec, true}, {&protocol.Watch{}, protocol.TypeWatch, false},
	} {
		if got := Recorded(&protocol.Request{Type: c.typ, Body: c.body}); got != c.want {
			t.Errorf("%s %+v: got %v, want %v", c.typ, c.body, got, c.want)
		}
	}
}

func TestFilesAndInvented(t *testing.T) {
	put := &protocol.Request{Type: protocol.TypeFS, Body: &protocol.FS{Op: "put"}}
	if got := code(Allowed(who(identity.Agent, identity.Read), false, put)); got != protocol.CodeDenied {
		t.Errorf("fs put with read: got %q, want denied", got)
	}
	if got := code(Allowed(who(identity.Human, "read", "exec", "actuate", "admin"), false, &protocol.Request{Type: "invented"})); got != protocol.CodeDenied {
		t.Errorf("a type without a rule: got %q, want denied", got)
	}
}

// What writes the state of tasks waits for the disk for as long as that takes: never in the read loop, which must hear a stop.
func TestWhatWaitsForTheDisk(t *testing.T) {
	for _, typ := range []string{
		protocol.TypeEstopClear, protocol.TypeRegister, protocol.TypeCancel, protocol.TypePause, protocol.TypeResume, protocol.TypeTrigger,
		protocol.TypeToken, protocol.TypeSafeMode, protocol.TypeAudit,
	} {
		if !Of(typ).Disk {
			t.Errorf("%s is done in the read loop", typ)
		}
	}
}
