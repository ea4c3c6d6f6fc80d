package core

import (
	"context"
	"time"

	"github.com/pal-terminal/pal/desk"
	"github.com/pal-terminal/pal/hw"
	"github.com/pal-terminal/pal/identity"
	"github.com/pal-terminal/pal/limits"
	"github.com/pal-terminal/pal/pin"
	"github.com/pal-terminal/pal/printed"
	"github.com/pal-terminal/pal/protocol"
	"github.com/pal-terminal/pal/task"
)

// runTask runs a task once, on the machine of the tasks. The manager calls it for one run at a time.
func (c *Core) runTask(ctx context.Context, r task.Run) task.Outcome {
	defer c.faulted()
	start := time.Now()
	actor, ok := c.actor(r.Owner.Actor)
	if !ok {
		return task.Outcome{Code: string(protocol.CodeUnauthorized), Message: "the token of " + r.Owner.Actor + " has ended"}
	}
	ctx, done := context.WithTimeoutCause(ctx, r.Timeout, errDeadline)
	defer done()
	code := hashOf(r.Code)
	defer c.sources.Add(code, r.Code)()
	s := &sink{
		c: c, start: start, session: taskSession(r.TaskID), limit: limits.OutputDefault, text: printed.Text{Limit: limits.OutputDefault}, epoch: c.cfg.Table.Epoch(), lazy: true,
		caller: pin.Caller{
			Name: actor.Name, Drive: actor.Can(identity.Actuate), Ask: actor.Ask, Run: c.traces.Add(1), Machine: MachineTasks, Task: r.TaskID, Code: code,
		},
	}
	out := c.run(ctx, &c.tasks, hw.Job{Kind: hw.JobExec, Session: s.session, Code: r.Code, MaxOutput: s.limit, Drop: c.tasksOver()}, s)
	cause := context.Cause(ctx)
	switch {
	case out.Died:
		c.lost(MachineTasks)
	case out.Rung != hw.RungNone:
		c.cfg.Table.Safe(causeEnded, func(d pin.Driven) bool { return d.Caller.Run == s.caller.Run })
	}
	return c.taskOutcome(r, s, out, cause)
}

// taskOutcome puts together what is remembered and recorded of a run.
func (c *Core) taskOutcome(r task.Run, s *sink, out hw.Outcome, cause error) task.Outcome {
	s.finish(out)
	var res protocol.Result
	c.explain(&res, s, out, cause)
	o := task.Outcome{
		Trace: c.trace(s.caller.Run), Message: res.Message, Effects: s.effects,
		Stdout: s.text.Out(), Stderr: s.text.Err(),
	}
	o.Code = string(res.Code)
	if e := out.Exception; e != nil {
		o.Exception = desk.Exception(e)
	}
	if s.count > 0 || s.refusals > 0 || res.Code != "" {
		c.cfg.Ledger.Run(s.caller.Name, "task", o.Trace, map[string]any{
			"task_id": r.TaskID, "run": r.Number, "due_ms": r.Due.UnixMilli(), "outcome": o.Code, "effects": s.effects, "effects_count": s.count,
			"refused": s.refusals,
		})
	}
	return o
}

// openTasks makes the manager of tasks.
func (c *Core) openTasks() (err error) {
	if c.cfg.Tasks == nil {
		return nil
	}
	o := c.cfg.TaskList
	o.Run = c.runTask
	o.Claim = func(id string, owner task.Owner, uses []protocol.ResourceUse) error {
		return desk.Refusal(c.cfg.Claims.TaskClaim(id, owner.Actor, desk.Uses(uses, "")))
	}
	o.Release = func(id string) {
		c.cfg.Claims.TaskRelease(id)
		c.over.Lock()
		defer c.over.Unlock()
		c.overTasks = append(c.overTasks, taskSession(id))
	}
	o.Safe = func(id, cause string) {
		c.cfg.Table.Safe(causeTask, func(d pin.Driven) bool { return d.Caller.Task == id && id != "" })
		c.cfg.Bus.Forget(func(o pin.Caller) bool { return o.Task == id && id != "" })
	}
	o.Event = func(name string, data map[string]any) { c.cfg.Events.Emit(name, data) }
	o.Ready = func() error {
		if err := c.cfg.Ledger.Ready(); err != nil {
			return err
		}
		return nil
	}
	if stopped, _, _ := c.cfg.Table.Stopped(); stopped {
		o.Held = append(o.Held, task.HoldEstop)
	}
	if c.safe.Load() {
		o.Held = append(o.Held, task.HoldSafe)
	}
	c.manager, err = task.New(o)
	if err != nil {
		return err
	}
	for _, t := range c.manager.List() { // tokens may have ended while the terminal was off
		if _, ok := c.actor(t.Actor); !ok {
			c.manager.OwnerGone(t.Actor)
		}
	}
	return nil
}

// taskSession is the namespace of a task.
func taskSession(id string) string { return "task/" + id }

// tasksOver takes the namespaces of tasks that have ended, which the next run has the machine forget.
func (c *Core) tasksOver() []string {
	c.over.Lock()
	defer c.over.Unlock()
	list := c.overTasks
	c.overTasks = nil
	return list
}

// actor finds who a task belongs to, with the rights it has now.
func (c *Core) actor(name string) (identity.Actor, bool) {
	if c.cfg.NoAuth.Name == name && name != "" {
		return c.cfg.NoAuth, true
	}
	return c.cfg.Identity.Actor(name)
}
