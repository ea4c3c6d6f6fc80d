package desk

import (
	"crypto/sha256"
	"errors"
	"testing"
	"time"

	"github.com/pal-terminal/pal/approval"
	"github.com/pal-terminal/pal/flash"
	"github.com/pal-terminal/pal/identity"
	"github.com/pal-terminal/pal/lease"
	"github.com/pal-terminal/pal/pin"
	"github.com/pal-terminal/pal/protocol"
)

func book() *lease.Book {
	return lease.New(lease.Options{Resolve: func(name string) ([]pin.Handle, string, error) { return []pin.Handle{1}, name, nil }})
}

func lookFor(err error) protocol.Code {
	if r, ok := errors.AsType[*pin.Refusal](err); ok {
		return protocol.Code(r.Code)
	}
	if e, ok := errors.AsType[*protocol.Error](err); ok {
		return e.Code
	}
	return ""
}

// Who may not drive claims nothing to drive, and nobody but the holder, a person and who manages ends a lease.
func TestLeases(t *testing.T) {
	b := book()
	driver := identity.Actor{Name: "driver", Class: identity.Agent, Scopes: []identity.Scope{identity.Exec, identity.Actuate}}
	looker := identity.Actor{Name: "looker", Class: identity.Agent, Scopes: []identity.Scope{identity.Exec}}
	person := identity.Actor{Name: "ann", Class: identity.Human}
	take := func(who identity.Actor, verb string) (protocol.Leases, error) {
		a, _, err := Leases(b, who, 1, &protocol.Request{Body: &protocol.Lease{Resources: []protocol.ResourceUse{{Resource: "LED", Verb: verb}}}})
		return a, err
	}
	if _, err := take(looker, protocol.VerbDrive); lookFor(err) != protocol.CodeDenied {
		t.Errorf("a lease to drive without actuate: got %v, want denied", err)
	}
	if _, err := take(looker, protocol.VerbRead); err != nil {
		t.Errorf("a lease to read: %v", err)
	}
	a, err := take(driver, "")
	if err != nil || len(a.Leases) != 1 || a.Leases[0].Holder != "driver" || a.Leases[0].Resources[0].Verb != protocol.VerbDrive {
		t.Fatalf("take: got %+v, %v", a, err)
	}
	release := &protocol.Request{Body: &protocol.LeaseRelease{LeaseID: a.Leases[0].LeaseID}}
	if _, _, err := Leases(b, looker, 2, release); err == nil {
		t.Error("another agent released the lease")
	}
	if _, ended, err := Leases(b, person, 2, release); err != nil || ended == nil || ended.Actor != "driver" {
		t.Errorf("released by a person: got %+v, %v", ended, err)
	}
}

func TestApproval(t *testing.T) {
	q := approval.New(approval.Options{})
	ok, id, refusal := q.Use("bot", sha256.Sum256([]byte("pump()")), "pump()", "PUMP", 1)
	if ok || refusal != nil || id == "" {
		t.Fatalf("a drive that nobody approved: got %v, %q, %v", ok, id, refusal)
	}
	bot, ann := identity.Actor{Name: "bot", Class: identity.Agent}, identity.Actor{Name: "ann", Class: identity.Human}
	if _, err := Approval(q, bot, nil, &protocol.Approval{Op: "approve", ApprovalID: id}); lookFor(err) == "" {
		t.Errorf("approved by the one that asks: %v", err)
	}
	a, err := Approval(q, ann, nil, &protocol.Approval{Op: "approve", ApprovalID: id})
	if err != nil {
		t.Fatal(err)
	}
	if list := a.(protocol.Approvals).Approvals; len(list) != 1 || list[0].State != approval.Approved || list[0].By != "ann" {
		t.Errorf("got %+v, want it approved by ann", list)
	}
	if _, err := Approval(q, ann, nil, &protocol.Approval{Op: "show", ApprovalID: "none"}); lookFor(err) != protocol.CodeNotFound {
		t.Errorf("unknown: got %v, want not_found", err)
	}
}

func TestNoTasksNoSimNoAudit(t *testing.T) {
	if _, err := Task(nil, nil, "001", false); lookFor(err) != protocol.CodeUnavailable {
		t.Errorf("tasks: %v", err)
	}
	if _, err := Sim(nil, nil, &protocol.Sim{}); lookFor(err) != protocol.CodeUnavailable {
		t.Errorf("sim: %v", err)
	}
	if _, err := Audit(t.Context(), nil, nil, &protocol.Audit{Op: "tail"}); lookFor(err) != protocol.CodeUnavailable {
		t.Errorf("audit: %v", err)
	}
}

func TestWords(t *testing.T) {
	r := Refusal(&pin.Refusal{Code: "conflict", Message: "m", Rule: "r", Resource: "p", Holder: "h", Approval: "a", Nearest: []string{"n"}})
	e, ok := errors.AsType[*protocol.Error](r)
	if !ok || e.Code != protocol.CodeConflict || e.Holder != "h" || e.ApprovalID != "a" || len(e.Nearest) != 1 {
		t.Errorf("refusal: got %+v", e)
	}
	if other := errors.New("x"); !errors.Is(Refusal(other), other) {
		t.Error("another error is changed")
	}
	for _, c := range []struct {
		caller pin.Caller
		want   flash.Rights
	}{{pin.Caller{}, flash.Reading}, {pin.Caller{Ask: true}, flash.Reading}, {pin.Caller{Drive: true, Ask: true}, flash.Asking}, {pin.Caller{Drive: true}, flash.Full}} {
		if got := Rights(c.caller); got != c.want {
			t.Errorf("%+v: got %v, want %v", c.caller, got, c.want)
		}
	}
	if e := Effect(pin.Effect{From: 0, To: 1, At: time.Unix(0, 3000)}, time.Unix(0, 1000)); e.AtUS != 2 || e.To != 1 {
		t.Errorf("effect: got %+v", e)
	}
}
