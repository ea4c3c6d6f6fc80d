package client

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pal-terminal/pal/protocol"
)

// asking is one way to ask for something of tasks, leases, approvals, the audit log or safe mode.
type asking struct {
	typ  string
	ask  func(ctx context.Context, c *Client) (any, error)
	body any
	// answer is what the terminal says, and want what the caller gets of it; nil for the answer itself.
	answer func(h protocol.Header) protocol.Answer
	want   any
}

func task(h protocol.Header) protocol.Answer {
	return &protocol.TaskAnswer{Header: h, TaskID: "001", Status: "paused", Task: &protocol.TaskInfo{TaskID: "001", State: "paused"}}
}

func approvals(h protocol.Header) protocol.Answer {
	return &protocol.Approvals{Header: h, Approvals: []protocol.ApprovalInfo{{ApprovalID: "ap", Pin: "HEATER", State: "pending"}}}
}

func leases(h protocol.Header) protocol.Answer {
	return &protocol.Leases{Header: h, Leases: []protocol.LeaseInfo{{LeaseID: "l1", Holder: "bot", Resources: []protocol.ResourceUse{{Resource: "LED"}}}}}
}

var (
	oneApproval = &protocol.ApprovalInfo{ApprovalID: "ap", Pin: "HEATER", State: "pending"}
	oneLease    = &protocol.LeaseInfo{LeaseID: "l1", Holder: "bot", Resources: []protocol.ResourceUse{{Resource: "LED"}}}
)

func askings() map[string]asking {
	register := protocol.Register{Brief: &protocol.Brief{Name: "x", IntervalMS: ptr(int64(200))}, Code: "y"}
	take := protocol.Lease{Resources: []protocol.ResourceUse{{Resource: "LED"}}, Keep: true}
	safeMode := func(h protocol.Header) protocol.Answer {
		return &protocol.SafeModeAnswer{Header: h, Active: true, Reason: "4 failed starts", FailedStarts: 4}
	}
	return map[string]asking{
		"Register": {"register", func(ctx context.Context, c *Client) (any, error) { return c.Register(ctx, register) }, &register,
			func(h protocol.Header) protocol.Answer {
				return &protocol.TaskAnswer{Header: h, TaskID: "001", Status: "registered", NextMS: 5}
			}, nil},
		"Task":    {"status", func(ctx context.Context, c *Client) (any, error) { return c.Task(ctx, "001") }, &protocol.StatusQuery{TaskID: ptr("001")}, task, nil},
		"Cancel":  {"cancel", func(ctx context.Context, c *Client) (any, error) { return c.Cancel(ctx, "001") }, &protocol.TaskRef{TaskID: "001"}, task, nil},
		"Pause":   {"pause", func(ctx context.Context, c *Client) (any, error) { return c.Pause(ctx, "001") }, &protocol.TaskRef{TaskID: "001"}, task, nil},
		"Resume":  {"resume", func(ctx context.Context, c *Client) (any, error) { return c.Resume(ctx, "001") }, &protocol.TaskRef{TaskID: "001"}, task, nil},
		"Trigger": {"trigger", func(ctx context.Context, c *Client) (any, error) { return c.Trigger(ctx, "001") }, &protocol.TaskRef{TaskID: "001"}, task, nil},
		"Tasks": {"list", func(ctx context.Context, c *Client) (any, error) { return c.Tasks(ctx) }, nil,
			func(h protocol.Header) protocol.Answer {
				return &protocol.Tasks{Header: h, Tasks: []protocol.TaskInfo{{TaskID: "001"}}}
			}, nil},
		"TaskResults": {"task_result", func(ctx context.Context, c *Client) (any, error) { return c.TaskResults(ctx, "001", 2) },
			&protocol.TaskRef{TaskID: "001", Limit: ptr(int64(2))}, func(h protocol.Header) protocol.Answer {
				return &protocol.TaskResults{Header: h, TaskID: "001", Runs: []protocol.TaskRun{{Run: 2}, {Run: 1}}}
			}, nil},
		"TaskResults, all": {"task_result", func(ctx context.Context, c *Client) (any, error) { return c.TaskResults(ctx, "001", 0) },
			&protocol.TaskRef{TaskID: "001"}, func(h protocol.Header) protocol.Answer {
				return &protocol.TaskResults{Header: h, TaskID: "001", Runs: []protocol.TaskRun{}}
			}, nil},
		"Lease": {"lease", func(ctx context.Context, c *Client) (any, error) { return c.Lease(ctx, take) }, &take, leases, oneLease},
		"Lease, renewed": {"lease", func(ctx context.Context, c *Client) (any, error) {
			return c.Lease(ctx, protocol.Lease{LeaseID: "l1"})
		}, &protocol.Lease{LeaseID: "l1"}, leases, oneLease},
		"Leases":       {"lease", func(ctx context.Context, c *Client) (any, error) { return c.Leases(ctx) }, &protocol.Lease{}, leases, []protocol.LeaseInfo{*oneLease}},
		"LeaseRelease": {"lease_release", func(ctx context.Context, c *Client) (any, error) { return c.LeaseRelease(ctx, "l1") }, &protocol.LeaseRelease{LeaseID: "l1"}, leases, oneLease},
		"Approvals": {"approval", func(ctx context.Context, c *Client) (any, error) { return c.Approvals(ctx) }, &protocol.Approval{Op: "ls"},
			approvals, []protocol.ApprovalInfo{*oneApproval}},
		"Approval": {"approval", func(ctx context.Context, c *Client) (any, error) { return c.Approval(ctx, "ap") },
			&protocol.Approval{Op: "show", ApprovalID: "ap"}, approvals, oneApproval},
		"Approve": {"approval", func(ctx context.Context, c *Client) (any, error) { return c.Approve(ctx, "ap", "seen") },
			&protocol.Approval{Op: "approve", ApprovalID: "ap", Reason: "seen"}, approvals, oneApproval},
		"Deny": {"approval", func(ctx context.Context, c *Client) (any, error) { return c.Deny(ctx, "ap", "hot") },
			&protocol.Approval{Op: "deny", ApprovalID: "ap", Reason: "hot"}, approvals, oneApproval},
		"Audit": {"audit", func(ctx context.Context, c *Client) (any, error) {
			return c.Audit(ctx, protocol.Audit{Op: "verify", Head: "9:ab"})
		}, &protocol.Audit{Op: "verify", Head: "9:ab"}, func(h protocol.Header) protocol.Answer {
			return &protocol.AuditAnswer{Header: h, Report: &protocol.AuditReport{Entries: 9, Last: 9}, End: "9:ab"}
		}, nil},
		"SafeMode":      {"safe_mode", func(ctx context.Context, c *Client) (any, error) { return c.SafeMode(ctx) }, &protocol.SafeMode{Op: "status"}, safeMode, nil},
		"LeaveSafeMode": {"safe_mode", func(ctx context.Context, c *Client) (any, error) { return c.LeaveSafeMode(ctx) }, &protocol.SafeMode{Op: "leave"}, safeMode, nil},
		"BoardApply": {"board", func(ctx context.Context, c *Client) (any, error) { return c.BoardApply(ctx, "x = 1\n", "00ff") },
			&protocol.Board{Op: "apply", Source: "x = 1\n", Confirm: "00ff"},
			func(h protocol.Header) protocol.Answer { return &protocol.BoardAnswer{Header: h, SHA256: "11"} }, nil},
	}
}

// answerTypes are those that differ from the request's.
var answerTypes = map[string]string{"register": "task", "cancel": "task", "pause": "task", "resume": "task", "trigger": "task", "list": "tasks", "lease_release": "lease"}

func TestAnswersOfTasks(t *testing.T) {
	for name, test := range askings() {
		t.Run(name, func(t *testing.T) {
			want := test.want
			c, f := overPipe(t, func(f *fake, r *protocol.Request) {
				typ := r.Type
				if of, ok := answerTypes[typ]; ok {
					typ = of
				}
				if name == "Task" {
					typ = "task"
				}
				said := test.answer(protocol.NewHeader(r.ID, typ))
				if want == nil {
					want = said
				}
				f.say(said)
			})
			got, err := test.ask(t.Context(), c)
			if err != nil {
				t.Fatalf("got error %v", err)
			}
			f.mu.Lock()
			defer f.mu.Unlock()
			if r := f.seen[0]; r.Type != test.typ || !cmp.Equal(test.body, r.Body) {
				t.Errorf("request: got %s %+v, want %s (-want +got):\n%s", r.Type, r.Body, test.typ, cmp.Diff(test.body, r.Body))
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("answer (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRefusalOfTasks(t *testing.T) {
	want := &protocol.Error{Code: protocol.CodeApprovalNeeded, Message: "a person has to approve", ApprovalID: "ap"}
	c, _ := overPipe(t, func(f *fake, r *protocol.Request) { f.refuse(r, want) })
	for name, test := range askings() {
		_, err := test.ask(t.Context(), c)
		got, ok := errors.AsType[*protocol.Error](err)
		if diff := cmp.Diff(want, got); !ok || diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// A terminal that answers about nothing, about two things or about another is not believed.
func TestAnswersAboutSomethingElse(t *testing.T) {
	for n, said := range [][]string{{}, {"other"}, {""}, {"mine", "other"}} {
		c, _ := overPipe(t, func(f *fake, r *protocol.Request) {
			if r.Type == protocol.TypeApproval {
				a := &protocol.Approvals{Header: protocol.NewHeader(r.ID, "approval")}
				for _, id := range said {
					a.Approvals = append(a.Approvals, protocol.ApprovalInfo{ApprovalID: id})
				}
				f.say(a)
				return
			}
			a := &protocol.Leases{Header: protocol.NewHeader(r.ID, "lease")}
			for _, id := range said {
				a.Leases = append(a.Leases, protocol.LeaseInfo{LeaseID: id})
			}
			f.say(a)
		})
		if got, err := c.Approve(t.Context(), "mine", ""); err == nil {
			t.Errorf("%d: approve: got %+v, want an error", n, got)
		}
		if got, err := c.Lease(t.Context(), protocol.Lease{LeaseID: "mine"}); err == nil {
			t.Errorf("%d: renew: got %+v, want an error", n, got)
		}
		if got, err := c.LeaseRelease(t.Context(), "mine"); err == nil {
			t.Errorf("%d: release: got %+v, want an error", n, got)
		}
	}
}
