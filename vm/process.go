package vm

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pal-terminal/pal/hw"
	"github.com/pal-terminal/pal/limits"
	"github.com/pal-terminal/pal/vm/frame"
)

var (
	errLost = errors.New("machine was lost before the job reached it")
	errBusy = errors.New("machine already runs a job")
	// errWriteTimeout is the end of a child that does not read.
	errWriteTimeout = fmt.Errorf("it did not read what it was sent within %v", limits.VMWriteTimeout)
)

// process is one child from its start to the end of its last goroutine. live owns it; others reach it through run, edge,
// kill and the accessors, from any goroutine.
type process struct {
	c      *child
	log    *slog.Logger
	barren *atomic.Int32 // the pool's count of unused losses

	started chan struct{} // closed when it can run jobs; ready may be read from then on
	lost    chan struct{} // closed when its end is decided and known to the job that ran
	exited  chan struct{} // closed when it was reaped; exit and words may be read from then on
	warn    chan string   // one warning of silence at a time
	ready   frame.Ready
	exit    string
	words   lastWords

	born  time.Time
	watch *time.Timer
	heard atomic.Int64 // when the last record came, since born
	ours  atomic.Bool  // the guard is at work for the child: its silence is not the child's

	edges chan tiedEdge

	wmu  sync.Mutex // guards the channel's write side and what follows
	wbuf []byte

	mu      sync.Mutex // guards what follows; never held while reading, writing or calling a sink
	job     *running
	seq     uint32
	missed  uint32 // edges of the running job that found the queue full
	warned  bool
	worked  bool // it was given a job
	isDying bool
	reaped  bool
	closed  bool
	rung    hw.Rung
	cause   string
	lostAt  time.Time
}

// running is the job that a process has.
type running struct {
	ctx     context.Context // the caller's, for the sink's calls
	seq     uint32
	sink    hw.Sink
	left    [2]int          // bytes of each stream still allowed
	done    chan hw.Outcome // one
	climbed chan struct{}   // closed when interrupt has returned
	rung    hw.Rung         // guarded by process.mu
	grace   *time.Timer     // guarded by process.mu
}

// tiedEdge is an edge and the job it is for: one that is late must not reach the next job.
type tiedEdge struct {
	seq  uint32
	edge hw.Edge
}

func newProcess(c *child, log *slog.Logger, barren *atomic.Int32) *process {
	p := &process{
		c: c, log: log.With("pid", c.proc.Pid), barren: barren, born: time.Now(),
		started: make(chan struct{}), lost: make(chan struct{}), exited: make(chan struct{}),
		warn: make(chan string, 1), edges: make(chan tiedEdge, limits.EdgeQueue),
		words: lastWords{eof: make(chan struct{})},
	}
	p.watch = time.AfterFunc(time.Hour, p.look)
	p.watch.Stop() // until it is ready it may be silent: the compiler runs; Pool.start bounds that
	return p
}

// live serves the child until its end and returns when nothing of it is left.
func (p *process) live() {
	var parts sync.WaitGroup
	parts.Go(func() { p.words.listen(p.c.stderr) })
	parts.Go(p.await)
	parts.Go(p.deliver)
	p.decide(p.serve())

	p.mu.Lock()
	p.watch.Stop()
	job, rung, cause := p.job, p.rung, p.cause
	p.job = nil
	if !p.worked && cause != causeClosed && cause != causeReset {
		p.barren.Add(1)
	}
	p.mu.Unlock()
	if job != nil {
		job.done <- hw.Outcome{Started: true, Died: true, Rung: rung, Cause: cause}
	}
	close(p.lost)
	close(p.edges)
	parts.Wait()

	p.wmu.Lock()
	p.mu.Lock()
	p.closed = true
	err := p.c.close()
	p.mu.Unlock()
	p.wmu.Unlock()
	if cause != causeClosed && cause != causeReset {
		p.log.Warn("machine lost", "cause", cause, "exit", p.exit, "stderr", p.words.text(), "close", err)
	}
}

// settle lets f have the process, whose number stays its own meanwhile. What f cannot do costs time, not safety.
func (p *process) settle(f func(pid int) error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if f == nil || p.reaped {
		return
	}
	if err := f(p.c.proc.Pid); err != nil {
		p.log.Warn("machine could not be settled", "error", err)
	}
}

// decide makes sure that the process ends and that there is a cause; err is what ended the reading.
func (p *process) decide(err error) {
	var bad violation
	if errors.As(err, &bad) {
		p.kill(hw.RungNone, bad.Error())
		return
	}
	if p.dying() {
		return
	}
	p.mu.Lock()
	if p.lostAt.IsZero() { // finding out why is part of what the loss costs
		p.lostAt = time.Now()
	}
	p.mu.Unlock()
	// It ended by itself, or it only closed its channel: a moment tells.
	wait := time.NewTimer(limits.VMExitWait)
	defer wait.Stop()
	select {
	case <-p.exited:
		cause := p.exit
		if line := p.words.line(); line != "" {
			cause += ": " + line
		}
		p.kill(hw.RungNone, cause)
	case <-wait.C:
		p.kill(hw.RungNone, "it closed its channel")
	}
}

// await reaps the process. Between its end and the reaping its number cannot be given to another process, so the group is
// killed safely there.
func (p *process) await() {
	p.c.awaitExit()
	p.mu.Lock()
	p.c.killGroup()
	p.c.shutdown() // what it sent before can still be read
	p.reaped = true
	p.mu.Unlock()
	p.exit = p.c.reap()
	p.words.finish(p.c.stderr)
	close(p.exited)
}

// kill decides the process's end, once: the first rung and cause stay.
func (p *process) kill(rung hw.Rung, cause string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.killLocked(rung, cause)
}

func (p *process) killLocked(rung hw.Rung, cause string) {
	if p.isDying {
		return
	}
	p.isDying, p.rung, p.cause = true, rung, cause
	if p.lostAt.IsZero() {
		p.lostAt = time.Now()
	}
	p.watch.Stop()
	if !p.reaped {
		p.c.killGroup()
	}
	if !p.closed {
		p.c.shutdown()
	}
}

func (p *process) dying() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.isDying
}

// end says when and why the process's end was decided.
func (p *process) end() (at time.Time, cause string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.lostAt, p.cause
}

// send writes one record. A child that does not take it within limits.VMWriteTimeout is killed, as is one whose channel
// fails; frame.ErrTooLong alone leaves it as it was.
func (p *process) send(rec any) error {
	p.wmu.Lock()
	defer p.wmu.Unlock()
	buf, err := frame.Append(p.wbuf[:0], rec)
	if err != nil {
		return err
	}
	p.wbuf = buf
	if p.dying() { // closed comes after dying, so the descriptor is still ours below
		return errLost
	}
	if err := p.c.write(buf); err != nil {
		if bad := new(violation); errors.As(err, bad) {
			p.kill(hw.RungNone, err.Error())
		} else if errors.Is(err, errWriteTimeout) {
			p.kill(hw.RungKill, err.Error())
		}
		return errLost // any other error is the channel's end, whose cause the reader finds out
	}
	return nil
}

// look is the watch's turn: it measures the child's silence. A child is not silent while the guard works for it, nor when
// what it said has not been read yet.
func (p *process) look() {
	silent := time.Since(p.born) - time.Duration(p.heard.Load())
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.isDying:
		return
	case p.ours.Load() || silent >= limits.HeartbeatWarning && p.c.unread():
		p.watch.Reset(limits.HeartbeatPeriod)
	case silent >= limits.HeartbeatSilence:
		p.killLocked(hw.RungSilence, fmt.Sprintf("no heartbeat for %v", limits.HeartbeatSilence))
	case silent >= limits.HeartbeatWarning:
		p.watch.Reset(limits.HeartbeatSilence - silent)
		if !p.warned {
			p.warned = true
			select {
			case p.warn <- fmt.Sprintf("no heartbeat for %v", limits.HeartbeatWarning):
			default: // the last one was not even taken yet
			}
		}
	default:
		p.warned = false
		p.watch.Reset(limits.HeartbeatWarning - silent)
	}
}

// hear notes that the child is alive.
func (p *process) hear() { p.heard.Store(int64(time.Since(p.born))) }

// lastWords keeps the beginning and the end of what a child wrote on its standard error: Go's runtime says why it gives up at
// the beginning of its report, a message before an orderly exit stands at the end.
type lastWords struct {
	mu   sync.Mutex // guards what follows
	head []byte
	tail []byte
	eof  chan struct{}
}

// listen reads until the end of r, which it closes.
func (w *lastWords) listen(r io.ReadCloser) {
	defer close(w.eof)
	defer r.Close() //nolint:errcheck // nothing was written
	const half = limits.VMStderrBytes / 2
	buf := make([]byte, half)
	for {
		n, err := r.Read(buf)
		w.mu.Lock()
		into := min(n, half-len(w.head))
		w.head = append(w.head, buf[:into]...)
		w.tail = append(w.tail, buf[into:n]...)
		if over := len(w.tail) - half; over > 0 {
			w.tail = append(w.tail[:0], w.tail[over:]...)
		}
		w.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// finish waits for the end of r after its writer ended, a moment only: a descendant may hold it open.
func (w *lastWords) finish(r interface{ SetReadDeadline(time.Time) error }) {
	if r.SetReadDeadline(time.Now().Add(limits.VMExitWait)) == nil { // an error means it is closed already
		<-w.eof
	}
}

// text is all that is kept.
func (w *lastWords) text() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.ToValidUTF8(string(w.head)+string(w.tail), "\uFFFD")
}

// reports are the beginnings of a report of Go's runtime, whose first line says most: what follows are stacks and registers.
var reports = []string{"panic: ", "fatal error: ", "runtime: ", "runtime/cgo: ", "unexpected fault ", "SIG"}

// line is the one line that says most: the first of a report of the runtime, else the last there is.
func (w *lastWords) line() string {
	last := ""
	for line := range strings.Lines(w.text()) {
		if line = strings.TrimSpace(line); line != "" {
			last = line
		}
		if slices.ContainsFunc(reports, func(begin string) bool { return strings.HasPrefix(line, begin) }) {
			break
		}
	}
	if len(last) > limits.ReasonBytes {
		last = strings.ToValidUTF8(last[:limits.ReasonBytes], "")
	}
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, last)
}
