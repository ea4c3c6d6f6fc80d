package core

import (
	"context"
	"fmt"
	"time"

	"github.com/pal-terminal/pal/hw"
	"github.com/pal-terminal/pal/limits"
	"github.com/pal-terminal/pal/protocol"
)

// job is an exec on its way: admitted, waiting, running, answered.
type job struct {
	conn     *conn
	who      *who
	req      *protocol.Request
	exec     *protocol.Exec
	entry    *answer // nil without an id
	trace    string
	run      uint64
	session  string // as the client named it
	key      string // namespace in the machine; empty for a throw-away one
	received time.Time
	timeout  time.Duration

	ctx    context.Context
	cancel context.CancelCauseFunc
}

// work is what the runner does next: exactly one field is set.
type work struct {
	exec   *job
	edge   *edgeJob
	reset  *resetJob
	forget []string // namespaces to drop with the next job
}

// queue is the admission state. Only the admission goroutine touches it.
type queue struct {
	waiting  []*job
	edges    []*edgeJob
	resets   []*resetJob
	running  *job // nil also while the runner handles an edge or a reset
	busy     bool
	edgeTurn bool // the last work was not an edge: edges and execs take turns, so that neither starves the other
	sessions sessions
	forget   []string // namespaces that the next exec drops from the machine
}

func (q *queue) init() { q.sessions.init() }

// exec admits one exec request or refuses it. It runs in the read loop; the decision falls in the admission goroutine.
func (c *Core) exec(k *conn, w *who, req *protocol.Request, body *protocol.Exec) {
	timeout, err := c.checkExec(body)
	if err != nil {
		k.answer(protocol.Refuse(req.ID, err))
		return
	}
	entry, proceed := c.remember(k, w, req)
	if !proceed {
		return
	}
	j := &job{
		conn: k, who: w, req: req, exec: body, entry: entry, received: time.Now(), timeout: timeout, session: body.Session,
		run: c.traces.Add(1),
	}
	j.trace = fmt.Sprintf("t_%s_%d", c.bootID[:8], j.run)
	if j.session == "" {
		j.session = "main"
	}
	j.ctx, j.cancel = context.WithCancelCause(c.ctx)
	if !c.post(func() { c.queue.admit(c, j) }) {
		c.refuseJob(j, &protocol.Error{Code: protocol.CodeUnavailable, Message: errClosing.Error()})
	}
}

// checkExec checks what needs no state.
func (c *Core) checkExec(body *protocol.Exec) (time.Duration, error) {
	if body.DryRun || body.ApprovalID != "" {
		return 0, &protocol.Error{Code: protocol.CodeUnavailable, Message: "dry_run and approval_id come with a later version"}
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
	if j.conn.ctx.Err() != nil && !j.exec.Detach { // the client left between sending and now
		c.endJob(j, c.refusal(j, &protocol.Error{Code: protocol.CodeInterrupted, Message: errGone.Error()}))
		return
	}
	if j.conn.waiting >= limits.RequestsPerConn || len(q.waiting) >= limits.RequestsPerTerminal {
		c.refuseJob(j, &protocol.Error{Code: protocol.CodeBusy, Message: fmt.Sprintf("%d requests are waiting already; send the next when one was answered", len(q.waiting))})
		return
	}
	j.conn.waiting++
	q.waiting = append(q.waiting, j)
	q.next(c)
}

// next gives the runner its next work if it has none.
func (q *queue) next(c *Core) {
	defer c.publish()
	if q.busy || c.ctx.Err() != nil {
		return
	}
	var w work
	switch {
	case len(q.resets) > 0:
		w.reset, q.resets = q.resets[0], q.resets[1:]
	case len(q.edges) > 0 && (q.edgeTurn || len(q.waiting) == 0):
		w.edge, q.edges = q.edges[0], q.edges[1:]
		q.edgeTurn = false
	default:
		if w.exec = q.pop(c); w.exec == nil {
			return
		}
		q.edgeTurn = true
		key, gone := q.sessions.use(c, w.exec.who.actor.Name, w.exec.session)
		w.exec.key, w.forget = key, append(q.forget, gone...)
		q.forget = nil
	}
	q.running, q.busy = w.exec, true
	c.work <- w // has room: the runner was idle and admission is the only sender
}

// pop takes the first waiting job that may still start.
func (q *queue) pop(c *Core) *job {
	for len(q.waiting) > 0 {
		j := q.waiting[0]
		q.waiting = q.waiting[1:]
		j.conn.waiting--
		if ttl := j.exec.TTLMS; ttl != nil && time.Since(j.received) > time.Duration(*ttl)*time.Millisecond {
			c.endJob(j, c.refusal(j, &protocol.Error{Code: protocol.CodeExpired, Message: "the request waited longer than its ttl_ms and was not run"}))
			continue
		}
		return j
	}
	return nil
}

// ended is posted by the runner when its work is over. failed is set when an exec ended in an error.
func (q *queue) ended(c *Core, j *job, failed bool) {
	q.running, q.busy = nil, false
	if j != nil && failed && j.exec.StopOnError {
		q.drop(c, errStopped, func(o *job) bool { return o.who.actor.Name == j.who.actor.Name && o.session == j.session })
	}
	q.next(c)
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
		j.conn.waiting--
		c.endJob(j, c.refusal(j, &protocol.Error{Code: protocol.CodeInterrupted, Message: why.Error()}))
	}
	clear(q.waiting[len(kept):])
	q.waiting = kept
	return dropped
}

// departed ends what a gone connection left behind, but for what it asked to keep.
func (q *queue) departed(c *Core, k *conn) {
	q.drop(c, errGone, func(j *job) bool { return j.conn == k && !j.exec.Detach })
	if j := q.running; j != nil && j.conn == k && !j.exec.Detach {
		j.cancel(errGone)
	}
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

// abandon answers everything that waits when the terminal closes.
func (q *queue) abandon(c *Core, why error) {
	q.drop(c, why, func(*job) bool { return true })
	for _, r := range q.resets {
		close(r.done)
	}
	q.resets = nil
}

// ask runs f in the admission goroutine and waits for it; false when the terminal is closing.
func (c *Core) ask(f func(q *queue)) bool {
	done := make(chan struct{})
	if !c.post(func() { f(&c.queue); close(done) }) {
		return false
	}
	select {
	case <-done:
		return true
	case <-c.ctx.Done():
		return false
	}
}

// refusal is the answer to a job that was not run.
func (c *Core) refusal(j *job, err *protocol.Error) protocol.Result {
	r := protocol.Refuse(j.req.ID, err)
	r.Session, r.Trace, r.Meta = j.session, j.trace, j.req.Meta
	return r
}

// refuseJob answers a job that was never admitted: its id is not remembered.
func (c *Core) refuseJob(j *job, err *protocol.Error) {
	raw := encode(c.refusal(j, err))
	c.answers.forget(j.entry, raw)
	j.conn.send(raw)
	j.cancel(nil)
}

// written is an answer as it goes out and as it is remembered.
type written struct{ sent, kept []byte }

func (c *Core) written(r protocol.Result) written {
	w := written{sent: encode(r)}
	w.kept = w.sent
	if len(r.Stdout) > limits.DedupStreamKept || len(r.Stderr) > limits.DedupStreamKept {
		short := r
		short.Stdout, short.Stderr = shorten(&short, r.Stdout), shorten(&short, r.Stderr)
		w.kept = encode(short)
	}
	return w
}

// deliver remembers and sends the answer of an admitted job. It does not wait.
func (c *Core) deliver(j *job, w written) {
	c.answers.finish(j.entry, w.kept)
	j.conn.send(w.sent)
	j.cancel(nil)
}

// endJob answers an admitted job that was not run.
func (c *Core) endJob(j *job, r protocol.Result) { c.deliver(j, c.written(r)) }

// shorten cuts text for the store of answers and says so in r.
func shorten(r *protocol.Result, text string) string {
	kept, dropped := protocol.Cut([]byte(text), limits.DedupStreamKept)
	if dropped > 0 {
		r.Truncated = true
		r.DroppedBytes += dropped
	}
	return string(kept)
}

// sessions names the namespaces of each actor, least recently used last.
type sessions struct {
	names map[string][]string // actor → session names, most recent first
	next  uint64
}

func (s *sessions) init() { s.names = map[string][]string{} }

// sessionKey is the namespace of an actor's session in the machine.
func sessionKey(actor, name string) string { return actor + "\x00" + name }

// use marks a session as used and returns its namespace and those to forget.
func (s *sessions) use(c *Core, actor, name string) (key string, forget []string) {
	if name == "new" {
		return "", nil
	}
	list := s.names[actor]
	for i, n := range list {
		if n == name {
			copy(list[1:i+1], list[:i])
			list[0] = name
			return sessionKey(actor, name), nil
		}
	}
	list = append([]string{name}, list...)
	for len(list) > limits.SessionsPerActor {
		old := list[len(list)-1]
		list = list[:len(list)-1]
		forget = append(forget, sessionKey(actor, old))
		c.cfg.Events.Emit("session_dropped", map[string]any{"actor": actor, "session": old, "cause": "limit"})
	}
	s.names[actor] = list
	return sessionKey(actor, name), forget
}

// remove forgets one session and reports whether it was known.
func (s *sessions) remove(actor, name string) bool {
	for i, n := range s.names[actor] {
		if n == name {
			s.names[actor] = append(s.names[actor][:i:i], s.names[actor][i+1:]...)
			return true
		}
	}
	return false
}

// edgeJob is an interrupt to be handled while no exec runs.
type edgeJob struct {
	reg  *registration
	edge hw.Edge
}

// resetJob replaces the machine; done is closed when it has been, or will not be.
type resetJob struct {
	err  error
	done chan struct{}
}
