package desk

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/pal-terminal/pal/approval"
	"github.com/pal-terminal/pal/audit"
	"github.com/pal-terminal/pal/board"
	"github.com/pal-terminal/pal/identity"
	"github.com/pal-terminal/pal/lease"
	"github.com/pal-terminal/pal/limits"
	"github.com/pal-terminal/pal/protocol"
)

// Token manages identities.
func Token(store *identity.Store, id *string, body *protocol.Token) (protocol.Answer, error) {
	answer := protocol.Tokens{Header: protocol.NewHeader(id, protocol.AnswerToken), Tokens: []protocol.ActorInfo{}}
	switch body.Op {
	case "create":
		var ttl time.Duration
		if body.TTLMS != nil {
			ttl = time.Duration(*body.TTLMS) * time.Millisecond
		}
		scopes := make([]identity.Scope, len(body.Scopes))
		for i, s := range body.Scopes {
			scopes[i] = identity.Scope(s)
		}
		secret, _, err := store.Create(body.Name, identity.Class(body.Class), scopes, body.Ask, ttl)
		if err != nil {
			return nil, tokenError(err)
		}
		answer.Token = secret
	case "revoke":
		if err := store.Revoke(body.Name); err != nil {
			return nil, tokenError(err)
		}
	}
	for _, info := range store.List() {
		answer.Tokens = append(answer.Tokens, tokenInfo(info))
	}
	return answer, nil
}

// Sim hands a request to the simulated world, nil when the board is real.
func Sim(world board.Simulator, id *string, body *protocol.Sim) (protocol.Answer, error) {
	if world == nil {
		return nil, &protocol.Error{Code: protocol.CodeUnavailable, Message: "this board is not simulated"}
	}
	answer, err := world.Sim(body.Op, body.Name, body.Value)
	if err != nil {
		code := protocol.CodeBadRequest
		if errors.Is(err, board.ErrUnknownName) {
			code = protocol.CodeNotFound
		}
		return nil, &protocol.Error{Code: code, Message: err.Error(), Resource: body.Name}
	}
	raw, err := json.Marshal(answer, json.Deterministic(true))
	if err != nil {
		return nil, fmt.Errorf("encode sim answer: %w", err)
	}
	return protocol.SimAnswer{Header: protocol.NewHeader(id, protocol.AnswerSim), Sim: raw}, nil
}

// Uses are resources as the book of claims takes them; verb is that of those that name none.
func Uses(list []protocol.ResourceUse, verb string) []lease.Use {
	uses := make([]lease.Use, len(list))
	for i, u := range list {
		uses[i] = lease.Use{Resource: u.Resource, Drive: u.Verb != "read" && (u.Verb != "" || verb != "read")}
	}
	return uses
}

// Lease describes a claim.
func Lease(l lease.Claim) protocol.LeaseInfo {
	info := protocol.LeaseInfo{LeaseID: l.ID, Holder: l.Actor, Task: l.Task, SinceMS: l.Since.UnixMilli(), Keep: l.Conn == 0 && l.Task == ""}
	for _, u := range l.Uses {
		verb := protocol.VerbRead
		if u.Drive {
			verb = protocol.VerbDrive
		}
		info.Resources = append(info.Resources, protocol.ResourceUse{Resource: u.Resource, Verb: verb})
	}
	if !l.Expires.IsZero() {
		info.ExpiresMS = l.Expires.UnixMilli()
	}
	return info
}

// Approval lists or decides what waits for a person.
func Approval(q *approval.Queue, who identity.Actor, id *string, body *protocol.Approval) (protocol.Answer, error) {
	a := protocol.Approvals{Header: protocol.NewHeader(id, protocol.AnswerApproval), Approvals: []protocol.ApprovalInfo{}}
	if body.Op == "ls" {
		for _, r := range q.List() {
			a.Approvals = append(a.Approvals, approvalInfo(r, false))
		}
		return a, nil
	}
	if body.Op != "show" {
		if err := q.Decide(body.ApprovalID, who.Name, string(who.Class), body.Op == "approve", body.Reason); err != nil {
			return nil, err
		}
	}
	r, ok := q.Get(body.ApprovalID)
	if !ok {
		return nil, &protocol.Error{Code: protocol.CodeNotFound, Message: "nothing of that id waits", Resource: body.ApprovalID}
	}
	a.Approvals = append(a.Approvals, approvalInfo(r, true))
	return a, nil
}

func approvalInfo(r approval.Request, code bool) protocol.ApprovalInfo {
	info := protocol.ApprovalInfo{
		ApprovalID: r.ID, Actor: r.Actor, Pin: r.Pin, Verb: r.Verb, CodeSHA256: hex.EncodeToString(r.CodeHash[:]), AskedMS: r.Asked.UnixMilli(),
		State: r.State, By: r.By,
	}
	if !r.Expires.IsZero() {
		info.ExpiresMS = r.Expires.UnixMilli()
	}
	if code {
		info.Code, info.Text = r.Code, approval.Render(r)
	}
	return info
}

// Audit reads the audit log, nil when there is none.
func Audit(ctx context.Context, log *audit.Log, id *string, body *protocol.Audit) (protocol.Answer, error) {
	if log == nil {
		return nil, &protocol.Error{Code: protocol.CodeUnavailable, Message: "this terminal keeps no audit log"}
	}
	a := protocol.AuditAnswer{Header: protocol.NewHeader(id, protocol.AnswerAudit), Key: log.Key()}
	_ = log.Sync(ctx) // so that what was done just now is there; a log that cannot be written can be read
	if err := auditOp(ctx, log, body, &a); err != nil {
		return nil, &protocol.Error{Code: protocol.CodeStorage, Message: "read the audit log: " + err.Error()}
	}
	head := log.Head()
	a.End, a.Note = fmt.Sprintf("%d:%s", head.Size, head.Hash), head.Note
	return a, nil
}

func auditOp(ctx context.Context, log *audit.Log, body *protocol.Audit, a *protocol.AuditAnswer) (err error) {
	switch body.Op {
	case "show":
		a.Entries, err = log.Trace(body.Trace)
	case "verify":
		var kept *audit.Head
		if body.Head != "" {
			kept = new(audit.Head)
			if _, err := fmt.Sscanf(body.Head, "%d:%s", &kept.Size, &kept.Hash); err != nil {
				return fmt.Errorf("a head is SIZE:HASH: %w", err)
			}
		}
		r, err := log.Verify(ctx, kept)
		if err != nil {
			return err
		}
		a.Report = &protocol.AuditReport{
			Entries: r.Entries, First: r.First, Last: r.Last, Checkpoints: r.Checkpoints, Bad: r.Bad, Problem: r.Problem,
		}
	default: // tail and export
		most := limits.AuditPage
		if body.Limit != nil {
			most = int(min(*body.Limit, int64(most)))
		}
		since := uint64(0)
		if body.Since != nil {
			since = *body.Since
		} else if last := log.Head().Size; body.Op == "tail" && last > uint64(most) {
			since = last - uint64(most)
		}
		a.Entries, a.More, err = log.Page(since, most)
	}
	return err
}

// Leases takes, renews, releases or lists leases. ended is the claim that was released. Only who may drive takes a lease to drive.
func Leases(book *lease.Book, who identity.Actor, conn uint64, req *protocol.Request) (a protocol.Leases, ended *lease.Claim, err error) {
	a = protocol.Leases{Header: protocol.NewHeader(req.ID, protocol.AnswerLease), Leases: []protocol.LeaseInfo{}}
	var claim lease.Claim
	switch body := req.Body.(type) {
	case *protocol.LeaseRelease:
		if claim, err = book.Release(body.LeaseID, who.Name, Overrules(who)); err == nil {
			ended = &claim
		}
	case *protocol.Lease:
		ttl := limits.LeaseDefault
		if body.TTLMS != nil {
			ttl = time.Duration(*body.TTLMS) * time.Millisecond
		}
		uses := Uses(body.Resources, body.Verb)
		switch {
		case body.LeaseID != "":
			claim, err = book.Renew(body.LeaseID, who.Name, ttl)
		case MayClaim(who, uses) != nil:
			err = MayClaim(who, uses)
		case len(uses) > 0:
			claim, err = book.Take(who.Name, conn, uses, ttl, body.Keep)
		default:
			for _, o := range book.List() {
				a.Leases = append(a.Leases, Lease(o))
			}
			return a, nil, nil
		}
	}
	if err == nil {
		a.Leases = append(a.Leases, Lease(claim))
	}
	return a, ended, err
}

// MayClaim refuses claims to drive by an actor that may not drive: it could only stand in others' way.
func MayClaim(who identity.Actor, uses []lease.Use) error {
	if who.Can(identity.Actuate) || !slices.ContainsFunc(uses, func(u lease.Use) bool { return u.Drive }) {
		return nil
	}
	return &protocol.Error{Code: protocol.CodeDenied, Rule: "scope.actuate", Message: who.Name + " lacks the scope actuate, so it claims nothing to drive"}
}

// Overrules reports whether an actor may end what belongs to another.
func Overrules(a identity.Actor) bool { return a.Class == identity.Human || a.Can(identity.Admin) }
