package vm

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"runtime"
	"syscall"
	"time"

	"github.com/pal-terminal/pal/hw"
	"github.com/pal-terminal/pal/limits"
	"github.com/pal-terminal/pal/vm/frame"
)

// violation is what a child did against the rules of the channel. It costs it its life.
type violation string

func (v violation) Error() string { return "it broke the protocol: " + string(v) }

func violated(format string, args ...any) error { return violation(fmt.Sprintf(format, args...)) }

// server is the reading side of a process: what only its one goroutine needs.
type server struct {
	*process
	in     *bufio.Reader
	booted bool
	reply  frame.Reply
	owed   *hw.Reply // of a posted call that failed, until a call that is waited for is answered with it
	beats  int       // heartbeats since
	since  time.Time // the start of the second that beats counts in
}

// serve reads and acts until the channel ends or the child breaks a rule (a violation).
func (p *process) serve() error {
	in := bufio.NewReaderSize(p.c, frame.HeaderBytes+limits.FrameBytes)
	s := server{process: p, in: in}
	for {
		head, err := in.Peek(frame.HeaderBytes)
		if err != nil {
			return err
		}
		n, err := frame.Length([frame.HeaderBytes]byte(head))
		if err != nil {
			return violated("%v", err)
		}
		whole, err := in.Peek(frame.HeaderBytes + n)
		if err != nil {
			return err
		}
		rec, err := frame.Decode(whole[frame.HeaderBytes:])
		if err != nil {
			return violated("%v", err)
		}
		if _, err = in.Discard(frame.HeaderBytes + n); err != nil {
			return err
		}
		if err = s.handle(rec); err != nil {
			return err
		}
	}
}

// handle acts on one record.
func (s *server) handle(rec any) error {
	s.hear()
	if _, ok := rec.(frame.Heartbeat); ok { // also while it starts: a slow processor must not make it a liar
		return s.beat()
	}
	if ready, ok := rec.(frame.Ready); ok != !s.booted {
		return violated("%T at the wrong time", rec)
	} else if ok {
		if ready.Shared {
			if !s.c.share() {
				return violated("memory that it was not given")
			}
			s.in.Reset(s.c) // from here the socket carries nothing that is read
		}
		s.booted, s.ready = true, ready
		s.watch.Reset(limits.HeartbeatWarning)
		close(s.started)
		return nil
	}
	switch r := rec.(type) {
	case *frame.Call:
		return s.call(r)
	case frame.Output:
		return s.output(r)
	case frame.Done:
		return s.finish(r)
	}
	return violated("%T is the guard's to send", rec)
}

// current returns the job that a record with number seq belongs to; nil without an error when the process's end is
// decided: then nothing that it sent counts any more.
func (p *process) current(what string, seq uint32) (*running, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.isDying:
		return nil, nil
	case p.job == nil:
		return nil, violated("%s without a job", what)
	case p.job.seq != seq:
		return nil, violated("%s of job %d while job %d runs", what, seq, p.job.seq)
	}
	return p.job, nil
}

// work marks what the guard does for the child, whose silence meanwhile is not its own: the result ends it.
func (s *server) work() (done func()) {
	s.ours.Store(true)
	return func() {
		s.hear()
		s.ours.Store(false)
	}
}

// call performs one hardware call and answers it, or keeps the answer when nobody waits for it; see hw.Call.Posted.
func (s *server) call(r *frame.Call) error {
	job, err := s.current("call", r.Seq)
	if job == nil {
		return err
	}
	s.c.soon = true
	posted := r.Call.Posted
	switch {
	case posted && r.Call.Op != hw.OpPinWrite && r.Call.Op != hw.OpPinToggle:
		return violated("operation %d as a posted call", r.Call.Op)
	case posted && s.owed != nil:
		return nil
	case s.owed != nil:
		s.reply.Reply, s.owed = *s.owed, nil
	case r.Call.Op == hw.OpFlush:
		s.reply.Reply = hw.Reply{}
	default:
		done := s.work()
		s.reply.Reply = job.sink.Call(job.ctx, r.Call)
		done()
	}
	if posted {
		if s.reply.Reply.Errno != 0 {
			owed := s.reply.Reply
			s.owed = &owed
		}
		return nil
	}
	err = s.send(&s.reply)
	if errors.Is(err, frame.ErrTooLong) {
		s.reply.Reply = hw.Reply{Errno: int32(syscall.EMSGSIZE), Text: "answer is too long"}
		err = s.send(&s.reply)
	}
	if errors.Is(err, errLost) {
		return nil // the next read says why
	}
	return err
}

// output passes printed bytes on. The machine was told what it may print: one byte more is a lie about its cutting.
func (s *server) output(r frame.Output) error {
	job, err := s.current("output", r.Seq)
	if job == nil {
		return err
	}
	if r.Stream != hw.Stdout && r.Stream != hw.Stderr {
		return violated("output on stream %d", r.Stream)
	}
	left := &job.left[r.Stream-hw.Stdout]
	data := r.Data[:min(len(r.Data), *left)]
	*left -= len(data)
	if len(data) > 0 {
		done := s.work()
		job.sink.Output(r.Stream, data)
		done()
	}
	if len(data) < len(r.Data) {
		return violated("more output than it was allowed")
	}
	return nil
}

// finish ends the job as the machine reports.
func (s *server) finish(r frame.Done) error {
	job, err := s.current("end", r.Seq)
	if job == nil {
		return err
	}
	if s.owed != nil { // a success that hides a refusal
		return violated("its job ended before it heard of a posted call that failed")
	}
	out := r.Outcome
	out.Started = true
	s.mu.Lock()
	out.Rung = job.rung
	s.job = nil
	s.mu.Unlock()
	s.barren.Store(0)
	job.done <- out
	// Run goes on here and now; otherwise it waits until another thread steals it from this one, which is about to block in
	// a read (measured: 31 µs instead of 54 µs for an empty job).
	runtime.Gosched()
	return nil
}

// beat counts heartbeats: hearing each costs the guard a little, so there is an end to it.
func (s *server) beat() error {
	now := time.Now()
	if now.Sub(s.since) > time.Second {
		s.since, s.beats = now, 0
	}
	if s.beats++; s.beats > limits.HeartbeatFlood {
		return violated("a flood of heartbeats")
	}
	return nil
}

// run gives the process one job and waits for its end. The error is errLost, errBusy or frame.ErrTooLong, each of a job
// that did not reach the machine.
func (p *process) run(ctx context.Context, job hw.Job, sink hw.Sink) (hw.Outcome, error) {
	kept := min(max(job.MaxOutput, 0), limits.OutputMax)
	job.MaxOutput = kept
	j := &running{
		ctx: ctx, sink: sink, left: [2]int{kept, kept},
		done: make(chan hw.Outcome, 1), climbed: make(chan struct{}),
	}
	if err := p.begin(j); err != nil {
		return hw.Outcome{}, err
	}
	if err := p.send(frame.Run{Seq: j.seq, Job: job}); err != nil {
		if !errors.Is(err, errLost) {
			p.abandon(j)
			return hw.Outcome{}, fmt.Errorf("job cannot be sent: %w", err)
		}
		<-p.lost
		return hw.Outcome{}, err
	}
	stop := context.AfterFunc(ctx, func() { p.interrupt(j) })
	out := <-j.done
	if !stop() {
		<-j.climbed
	}
	p.mu.Lock()
	if j.grace != nil {
		j.grace.Stop()
	}
	p.mu.Unlock()
	if out.Died {
		<-p.lost
	}
	return out, nil
}

func (p *process) begin(j *running) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.isDying {
		return errLost
	}
	if p.job != nil {
		return errBusy
	}
	p.seq++
	j.seq = p.seq
	p.job, p.worked, p.missed = j, true, 0
	return nil
}

// abandon takes back a job that was never sent.
func (p *process) abandon(j *running) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.job == j {
		p.job = nil
	}
}

// interrupt climbs the ladder for j, whose context has ended: KeyboardInterrupt, and after the grace the end of the
// process. The grace runs from here, whether or not the machine takes the record.
func (p *process) interrupt(j *running) {
	defer close(j.climbed)
	p.mu.Lock()
	if p.job != j || p.isDying {
		p.mu.Unlock()
		return
	}
	j.rung = hw.RungInterrupt
	j.grace = time.AfterFunc(limits.InterruptGrace, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.job == j {
			p.killLocked(hw.RungKill, fmt.Sprintf("KeyboardInterrupt did not end the job within %v", limits.InterruptGrace))
		}
	})
	p.mu.Unlock()
	_ = p.send(frame.Interrupt{Seq: j.seq}) // a failure is the machine's end, which the job hears of
}

// edge queues a level change for the running job.
func (p *process) edge(e hw.Edge) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.job == nil || p.isDying {
		return false
	}
	e.Lost += p.missed
	select {
	case p.edges <- tiedEdge{seq: p.seq, edge: e}:
		p.missed = 0
		return true
	default:
		p.missed++
		return false
	}
}

// deliver writes queued edges, so that nobody who reports one waits for the machine.
func (p *process) deliver() {
	for e := range p.edges {
		p.mu.Lock()
		current := p.job != nil && p.seq == e.seq
		p.mu.Unlock()
		if current {
			_ = p.send(frame.Edge{Edge: e.edge}) // a failure is the machine's end
		}
	}
}
