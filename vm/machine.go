package vm

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/pal-terminal/pal/hw"
)

// Causes of an end that the guard itself wanted: nothing was lost, so nothing is reported.
const (
	causeClosed = "closed"
	causeReset  = "reset"
)

// Machine is an [hw.Executor] whose jobs run in a child process of its pool. Run and Reset are serialised by the caller;
// every other method is safe from any goroutine.
type Machine struct {
	pool  *Pool
	label string
	quit  chan struct{} // closed by stop
	ended chan struct{} // closed when live has returned

	mu    sync.Mutex // guards what follows
	cur   *process
	avail chan struct{} // closed while cur is there
	gen   uint64
	took  time.Duration
	done  bool
}

var _ hw.Executor = (*Machine)(nil)

func newMachine(p *Pool, label string) *Machine {
	return &Machine{
		pool: p, label: label, gen: 1,
		quit: make(chan struct{}), ended: make(chan struct{}), avail: make(chan struct{}),
	}
}

// live keeps a child at hand and reports each one that was lost.
func (m *Machine) live() {
	defer close(m.ended)
	var lost *process // whose loss is still to be reported
	for {
		var child *process
		select {
		case child = <-m.pool.hot:
		case <-m.quit:
			return
		}
		took := m.adopt(child, lost)
		if lost != nil {
			_, cause := lost.end()
			m.pool.log.Warn("machine replaced", "executor", m.label, "cause", cause, "dur_ms", took.Milliseconds())
			m.pool.cfg.Notify(m.label, hw.Notice{Kind: hw.NoticeRestarted, Cause: cause, Took: took})
		}
		if !m.attend(child) {
			child.kill(hw.RungNone, causeClosed)
			<-child.lost
			m.drop(child)
			return
		}
		m.drop(child)
		_, cause := child.end()
		if cause == causeReset {
			lost = nil
			continue
		}
		lost = child
		// At once, not when a replacement is there: the guard makes outputs safe on this, and a machine that cannot be
		// replaced must not leave them on.
		m.pool.cfg.Notify(m.label, hw.Notice{Kind: hw.NoticeLost, Cause: cause})
	}
}

// attend passes on a child's warnings until it is lost (true) or the executor ends (false).
func (m *Machine) attend(child *process) bool {
	for {
		select {
		case <-child.lost:
			return true
		case <-m.quit:
			return false
		case cause := <-child.warn:
			m.pool.cfg.Notify(m.label, hw.Notice{Kind: hw.NoticeWarning, Cause: cause})
		}
	}
}

// adopt makes child the machine that jobs run in, in place of lost, and returns what that took from the loss on.
func (m *Machine) adopt(child, lost *process) time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.cur = child
	if lost != nil {
		at, _ := lost.end()
		m.took = time.Since(at)
	}
	close(m.avail)
	return m.took
}

// drop forgets child, whose end is decided. Whoever notices first does it: the generation moves once for each child.
func (m *Machine) drop(child *process) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.cur == child {
		m.cur = nil
		m.avail = make(chan struct{})
		m.gen++
	}
}

// acquire returns a child that can run and its generation, waiting for one at most limits.VMStartTimeout.
func (m *Machine) acquire(ctx context.Context) (child *process, generation uint64, err error) {
	for {
		m.mu.Lock()
		child, avail, gen := m.cur, m.avail, m.gen
		m.mu.Unlock()
		if child == nil {
			if err := m.pool.wait(ctx, avail, m.quit); err != nil {
				return nil, 0, err
			}
			continue
		}
		if !child.dying() {
			return child, gen, nil
		}
		m.drop(child)
	}
}

// Ready returns when a machine can run a job, or why none can be had: at once when the last start failed, after
// limits.VMStartTimeout when it hangs.
func (m *Machine) Ready(ctx context.Context) error {
	_, _, err := m.acquire(ctx)
	return err
}

// Run implements [hw.Executor]. Without a machine it returns at once when the last start failed (Cause has the child's own
// words) and after limits.VMStartTimeout otherwise.
func (m *Machine) Run(ctx context.Context, job hw.Job, sink hw.Sink) hw.Outcome {
	if ctx.Err() != nil {
		return hw.Outcome{Cause: fmt.Sprintf("not started: %v", context.Cause(ctx))}
	}
	for {
		child, gen, err := m.acquire(ctx)
		if err != nil {
			return hw.Outcome{Died: true, Cause: err.Error()}
		}
		if job.Generation != 0 && job.Generation != gen {
			return hw.Outcome{Stale: true}
		}
		out, err := child.run(ctx, job, sink)
		if errors.Is(err, errLost) { // before the job reached it: the next one can still run it
			m.drop(child)
			continue
		}
		if err != nil {
			return hw.Outcome{Cause: err.Error()}
		}
		if out.Died {
			m.drop(child)
		}
		return out
	}
}

// Edge implements [hw.Executor].
func (m *Machine) Edge(e hw.Edge) bool {
	m.mu.Lock()
	child := m.cur
	m.mu.Unlock()
	return child != nil && child.edge(e)
}

// Generation implements [hw.Executor]: 1 for the first machine, and one more from the moment each was lost or reset.
func (m *Machine) Generation() uint64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.gen
}

// Reset implements [hw.Executor]. It makes no notice.
func (m *Machine) Reset(ctx context.Context) error {
	m.mu.Lock()
	child := m.cur
	m.mu.Unlock()
	if child != nil {
		child.kill(hw.RungNone, causeReset)
		<-child.lost
		m.drop(child)
	}
	if _, _, err := m.acquire(ctx); err != nil {
		return fmt.Errorf("reset: %w", err)
	}
	return nil
}

// stop tells live to end.
func (m *Machine) stop() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.done {
		m.done = true
		close(m.quit)
	}
}

// Close implements [hw.Executor]. A running job ends as when its machine dies.
func (m *Machine) Close() error {
	m.stop()
	<-m.ended
	m.pool.forget(m)
	return nil
}
