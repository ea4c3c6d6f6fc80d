package client

import (
	"context"
	"fmt"

	"github.com/pal-terminal/pal/protocol"
)

// Register hands the terminal a task; the answer has its id and when it is due.
func (c *Client) Register(ctx context.Context, r protocol.Register) (*protocol.TaskAnswer, error) {
	return ask[*protocol.TaskAnswer](ctx, c, protocol.TypeRegister, &r)
}

// Task returns one task with its code.
func (c *Client) Task(ctx context.Context, id string) (*protocol.TaskAnswer, error) {
	return ask[*protocol.TaskAnswer](ctx, c, protocol.TypeStatus, &protocol.StatusQuery{TaskID: &id})
}

// Tasks lists the tasks.
func (c *Client) Tasks(ctx context.Context) (*protocol.Tasks, error) {
	return ask[*protocol.Tasks](ctx, c, protocol.TypeList, nil)
}

// Cancel ends a task.
func (c *Client) Cancel(ctx context.Context, id string) (*protocol.TaskAnswer, error) {
	return c.task(ctx, protocol.TypeCancel, id)
}

// Pause keeps a task from running until Resume.
func (c *Client) Pause(ctx context.Context, id string) (*protocol.TaskAnswer, error) {
	return c.task(ctx, protocol.TypePause, id)
}

// Resume lets a paused task run again.
func (c *Client) Resume(ctx context.Context, id string) (*protocol.TaskAnswer, error) {
	return c.task(ctx, protocol.TypeResume, id)
}

// Trigger runs a task now.
func (c *Client) Trigger(ctx context.Context, id string) (*protocol.TaskAnswer, error) {
	return c.task(ctx, protocol.TypeTrigger, id)
}

func (c *Client) task(ctx context.Context, typ, id string) (*protocol.TaskAnswer, error) {
	return ask[*protocol.TaskAnswer](ctx, c, typ, &protocol.TaskRef{TaskID: id})
}

// TaskResults returns the newest runs of a task, newest first: at most limit, or all that the terminal keeps when it is 0.
func (c *Client) TaskResults(ctx context.Context, id string, limit int64) (*protocol.TaskResults, error) {
	ref := &protocol.TaskRef{TaskID: id}
	if limit != 0 {
		ref.Limit = &limit
	}
	return ask[*protocol.TaskResults](ctx, c, protocol.TypeTaskResult, ref)
}

// Approvals lists the drives that wait for a person, and those that were decided.
func (c *Client) Approvals(ctx context.Context) ([]protocol.ApprovalInfo, error) {
	a, err := ask[*protocol.Approvals](ctx, c, protocol.TypeApproval, &protocol.Approval{Op: "ls"})
	if err != nil {
		return nil, err
	}
	return a.Approvals, nil
}

// Approval shows one drive that waits, with the code that asks for it.
func (c *Client) Approval(ctx context.Context, id string) (*protocol.ApprovalInfo, error) {
	return c.approval(ctx, protocol.Approval{Op: "show", ApprovalID: id})
}

// Approve lets the same code drive that pin in one run; the terminal lets humans only.
func (c *Client) Approve(ctx context.Context, id, reason string) (*protocol.ApprovalInfo, error) {
	return c.approval(ctx, protocol.Approval{Op: "approve", ApprovalID: id, Reason: reason})
}

// Deny refuses a drive that waits; the terminal lets humans only.
func (c *Client) Deny(ctx context.Context, id, reason string) (*protocol.ApprovalInfo, error) {
	return c.approval(ctx, protocol.Approval{Op: "deny", ApprovalID: id, Reason: reason})
}

func (c *Client) approval(ctx context.Context, body protocol.Approval) (*protocol.ApprovalInfo, error) {
	a, err := ask[*protocol.Approvals](ctx, c, protocol.TypeApproval, &body)
	if err != nil {
		return nil, err
	}
	if len(a.Approvals) != 1 || a.Approvals[0].ApprovalID != body.ApprovalID {
		return nil, fmt.Errorf("approval %s: the terminal answered about something else", body.ApprovalID)
	}
	return &a.Approvals[0], nil
}

// Audit reads the audit log: see [protocol.Audit] for its operations.
func (c *Client) Audit(ctx context.Context, a protocol.Audit) (*protocol.AuditAnswer, error) {
	return ask[*protocol.AuditAnswer](ctx, c, protocol.TypeAudit, &a)
}

// SafeMode tells whether the terminal is in safe mode and why.
func (c *Client) SafeMode(ctx context.Context) (*protocol.SafeModeAnswer, error) {
	return ask[*protocol.SafeModeAnswer](ctx, c, protocol.TypeSafeMode, &protocol.SafeMode{Op: "status"})
}

// LeaveSafeMode ends safe mode; the terminal lets humans only.
func (c *Client) LeaveSafeMode(ctx context.Context) (*protocol.SafeModeAnswer, error) {
	return ask[*protocol.SafeModeAnswer](ctx, c, protocol.TypeSafeMode, &protocol.SafeMode{Op: "leave"})
}

// BoardApply replaces board.py. seen is the SHA256 that [Client.Board] told of: when another has changed the board since, it is
// refused.
func (c *Client) BoardApply(ctx context.Context, source, seen string) (*protocol.BoardAnswer, error) {
	return ask[*protocol.BoardAnswer](ctx, c, protocol.TypeBoard, &protocol.Board{Op: "apply", Source: source, Confirm: seen})
}
