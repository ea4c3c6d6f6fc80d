package core

import (
	"context"
	"fmt"
	"time"

	"github.com/pal-terminal/pal/answers"
	"github.com/pal-terminal/pal/approval"
	"github.com/pal-terminal/pal/hw"
	"github.com/pal-terminal/pal/limits"
	"github.com/pal-terminal/pal/protocol"
	"github.com/pal-terminal/pal/sessions"
)

// job is an exec on its way: admitted, waiting, running, answered.
type job struct {
	conn     *conn
	who      *who
	req      *protocol.Request
	exec     *protocol.Exec
	call     *hw.Job               // of a tool, instead of code
	entry    *answers.Entry        // nil without an id
	done     func(protocol.Result) // of boot.py and main.py: told instead of a client
	trace    string
	run      uint64
	session  string   // as the client named it
	key      string   // namespace in the machine; empty for a throw-away one
	forget   []string // namespaces that the machine is to drop first
	received time.Time
	timeout  time.Duration
	epoch    uint64   // of the e-stop when it came
	code     [32]byte // hash of its code

	ctx    context.Context
	cancel context.CancelCauseFunc
}

// queue is the admission state. Only the admission goroutine touches it.
type queue struct {
	waiting  []*job
	edges    []*edgeJob
	resets   []*resetJob
	running  *job // nil also while the runner handles an edge or a reset
	busy     bool
	revoked  []string // actors whose token ended while the runner was busy: what it does may arm an interrupt for them yet
	edgeTurn bool     // the last work was not an edge: edges and execs take turns, so that neither starves the other
	sessions sessions.Names
	forget   []string // namespaces that the next exec drops from the machine
}

// mainSession is the session of an actor that names none.
const mainSession = "main"

// tool calls a function by name: by the same way as an exec, once its arguments are known to fit.
func (c *Core) tool(k *conn, w *who, req *protocol.Request, t *protocol.Tool) {
	session := t.Session
	if session == "" {
		session = mainSession
	}
	key, args, err := c.tools.Load().Find(w.Actor.Name, session, t.Tool, t.Args)
	if err != nil {
		k.Answer(protocol.Refuse(req.ID, err))
		return
	}
	// What a person approves is this call: a hash of no code would be that of every tool.
	code := fmt.Sprintf("tool %s %s", t.Tool, args)
	body := &protocol.Exec{Code: code, Session: session, TimeoutMS: t.TimeoutMS, TTLMS: t.TTLMS, ApprovalID: t.ApprovalID}
	c.exec(k, w, req, body, &hw.Job{Kind: hw.JobFunc, Session: key, Func: t.Tool, Args: args})
}

// exec admits one exec request or refuses it. It runs in the read loop; the decision falls in the admission goroutine.
func (c *Core) exec(k *conn, w *who, req *protocol.Request, body *protocol.Exec, call *hw.Job) {
	timeout, err := c.checkExec(body)
	if err != nil {
		k.Answer(protocol.Refuse(req.ID, err))
		return
	}
	entry, proceed := c.remember(k, w, req)
	if !proceed {
		return
	}
	if id := body.ApprovalID; id != "" {
		if r, ok := c.cfg.Approvals.Get(id); !ok || r.Actor != w.Actor.Name || r.State != approval.Approved {
			c.deliver(k, entry, answers.Write(protocol.Refuse(req.ID, &protocol.Error{
				Code: protocol.CodeApprovalNeeded, Resource: id, ApprovalID: id, Message: "no person has approved that, or it was used: see approval ls",
			})))
			return
		}
	}
	j := &job{
		conn: k, who: w, req: req, exec: body, call: call, entry: entry, received: time.Now(), timeout: timeout, session: body.Session,
		run: c.traces.Add(1), epoch: c.cfg.Table.Epoch(), code: hashOf(body.Code),
	}
	j.trace = c.trace(j.run)
	if j.session == "" {
		j.session = mainSession
	}
	parent := k.Ctx // what a client runs ends with its connection
	if body.Detach {
		parent = context.WithoutCancel(k.Ctx)
	}
	j.ctx, j.cancel = context.WithCancelCause(parent)
	c.post(func() { c.queue.admit(c, j) })
}

// checkExec checks what needs no state.
func (c *Core) checkExec(body *protocol.Exec) (time.Duration, error) {
	if c.safe.Load() {
		return 0, c.safeModeRefusal()
	}
	if body.DryRun {
		return 0, &protocol.Error{Code: protocol.CodeUnavailable, Message: "dry_run comes with a later version"}
	}
	longest := c.cfg.Board.MaxExec
	timeout := min(limits.ExecTimeoutDefault, longest)
	if body.TimeoutMS != nil {
		if *body.TimeoutMS < 1 || *body.TimeoutMS > longest.Milliseconds() {
			return 0, &protocol.Error{Code: protocol.CodeBadRequest, Message: fmt.Sprintf("timeout_ms must be from 1 to %d on this board", longest.Milliseconds())}
		}
		timeout = time.Duration(*body.TimeoutMS) * time.Millisecond
	}
	return timeout, nil
}

func (q *queue) admit(c *Core, j *job) {
	switch {
	case c.ctx.Err() != nil:
		c.refuse(j, unavailable())
		return
	case j.conn.Waiting >= limits.RequestsPerConn || len(q.waiting) >= limits.RequestsPerTerminal:
		c.refuse(j, &protocol.Error{Code: protocol.CodeBusy, Message: fmt.Sprintf("%d requests are waiting already; send the next when one was answered", len(q.waiting))})
		return
	}
	if j.done == nil {
		q.yield(c, errYielded)
	}
	j.conn.Waiting++
	q.waiting = append(q.waiting, j)
	q.next(c)
}

// orphan reports whether the job's client is gone, and the job must not outlive it. It asks the connection: the job's own
// context ends with that one, but a moment later.
func (j *job) orphan() bool {
	return j.conn.Revoked.Load() || !j.exec.Detach && j.conn.Ctx.Err() != nil
}

func interrupted(why error) *protocol.Error {
	return &protocol.Error{Code: protocol.CodeInterrupted, Message: why.Error()}
}

// next gives the runner its next work if it has none.
func (q *queue) next(c *Core) {
	defer c.publish()
	if q.busy || c.ctx.Err() != nil {
		return
	}
	var work func() // each ends by posting that it has ended
	switch {
	case len(q.resets) > 0:
		r := q.resets[0]
		q.resets = q.resets[1:]
		work = func() { c.runReset(r) }
	case len(q.edges) > 0 && (q.edgeTurn || len(q.waiting) == 0):
		e := q.edges[0]
		q.edges, q.edgeTurn, e.reg.waiting = q.edges[1:], false, false
		work = func() { c.runHandler(e) }
	default:
		j := q.pop(c)
		if j == nil {
			return
		}
		if j.call == nil || j.call.Session != "" { // a function of the board needs no names
			key, gone := c.useSession(j.who.Actor.Name, j.session)
			now := min(len(q.forget), limits.SessionsDropped) // a job is one record, and the next one takes the rest
			j.key, j.forget, q.forget = key, append(gone, q.forget[:now]...), q.forget[now:]
		}
		q.running, q.edgeTurn = j, true
		work = func() { c.runExec(j) }
	}
	q.busy = true
	c.work <- work // has room: the runner was idle and admission is the only sender
}

// pop takes the first waiting job that may still start.
func (q *queue) pop(c *Core) *job {
	for len(q.waiting) > 0 {
		j := q.waiting[0]
		q.waiting = q.waiting[1:]
		j.conn.Waiting--
		if ttl := j.exec.TTLMS; ttl != nil && time.Since(j.received) > time.Duration(*ttl)*time.Millisecond {
			c.refuse(j, &protocol.Error{Code: protocol.CodeExpired, Message: "the request waited longer than its ttl_ms and was not run"})
			continue
		}
		if j.orphan() {
			c.refuse(j, interrupted(context.Cause(j.conn.Ctx)))
			continue
		}
		return j
	}
	return nil
}

// ended is posted by the runner when its work is over.
func (q *queue) ended(c *Core) {
	for _, name := range q.revoked {
		c.forgetActor(name)
	}
	q.running, q.busy, q.revoked = nil, false, nil
	q.next(c)
}

// execEnded is ended for an exec.
func (q *queue) execEnded(c *Core, j *job, started, failed bool) {
	if !started { // the machine has not heard what it was to forget; the bound is for one that cannot be had for long
		q.forget = append(j.forget, q.forget...)
		q.forget = q.forget[:min(len(q.forget), limits.SessionsPerActor*limits.Tokens)]
	}
	if failed && j.exec.StopOnError {
		q.drop(c, errStopped, func(o *job) bool { return o.who.Actor.Name == j.who.Actor.Name && o.session == j.session })
	}
	q.ended(c)
}

// drop removes waiting jobs and answers them as interrupted.
func (q *queue) drop(c *Core, why error, match func(*job) bool) (dropped int) {
	kept := q.waiting[:0]
	for _, j := range q.waiting {
		if !match(j) {
			kept = append(kept, j)
			continue
		}
		dropped++
		j.conn.Waiting--
		c.refuse(j, interrupted(why))
	}
	clear(q.waiting[len(kept):])
	q.waiting = kept
	return dropped
}

// departed drops what a gone connection left waiting, but for what it asked to keep. What runs was cancelled with it.
func (q *queue) departed(c *Core, k *conn) {
	q.drop(c, context.Cause(k.Ctx), func(j *job) bool { return j.conn == k && !j.exec.Detach })
	q.next(c)
}

// interrupt cancels the jobs that match, wherever they are, and reports how many there were.
func (q *queue) interrupt(c *Core, why error, match func(*job) bool) int {
	n := q.drop(c, why, match)
	if j := q.running; j != nil && match(j) {
		j.cancel(why)
		n++
	}
	q.next(c)
	return n
}

// close answers everything that waits, cancels what runs and ends the runner.
func (q *queue) close(c *Core) {
	for _, j := range q.waiting {
		c.refuse(j, unavailable())
	}
	for _, r := range q.resets {
		r.answer(unavailable())
	}
	if q.running != nil {
		q.running.cancel(errClosing)
	}
	q.waiting, q.resets, q.edges = nil, nil, nil
	close(c.work)
}

// refuse answers a job that is not run.
func (c *Core) refuse(j *job, err *protocol.Error) {
	r := protocol.Refuse(j.req.ID, err)
	r.Session, r.Trace, r.Meta = j.session, j.trace, j.req.Meta
	if j.done != nil {
		j.done(r)
	}
	c.deliver(j.conn, j.entry, answers.Write(r))
	j.cancel(nil)
}

// deliver remembers and sends an answer. It does not wait.
func (c *Core) deliver(k *conn, entry *answers.Entry, w answers.Written) {
	c.answers.Finish(entry, w, time.Now())
	k.Send(w.Sent)
}

// useSession marks a session as used and returns its namespace, and the one to forget for it, if any.
func (c *Core) useSession(actor, name string) (key string, forget []string) {
	key, dropped, forget := c.queue.sessions.Use(actor, name)
	if dropped != "" {
		c.forgetSessions(forget)
		c.cfg.Events.Emit("session_dropped", map[string]any{"actor": actor, "session": dropped, "cause": "limit"})
	}
	return key, forget
}

// edgeJob is an interrupt to be handled while no exec runs.
type edgeJob struct {
	reg  *registration
	edge hw.Edge
}

// resetJob replaces the machines.
type resetJob struct {
	actor  string
	answer func(error) // called once, in the admission goroutine
}
