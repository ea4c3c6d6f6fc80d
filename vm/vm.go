// Package vm is the guard's side of the virtual machine processes that run guest code.
//
// # Model
//
// A [Pool] starts child processes (`pal vm`) and keeps one of them booted and idle, the hot standby. A [Machine] is an
// [hw.Executor]: it holds one child at a time, gives it jobs as [frame] records, performs the hardware calls that come back on
// the job's sink, and takes the standby's place when its child is lost. Several machines share one pool.
//
// The records go through two rings in memory that guard and child share, with a socket pair for wake-ups; through the socket pair
// alone where there is no such memory.
//
// One goroutine per child reads its channel with plain blocking reads, also between jobs, and makes the hardware calls
// itself, so that a call costs no hand-over between goroutines. After a call it looks for the next one for a moment before it
// sleeps, unless there is one core only or looking was in vain. Nobody else may block on a child: deadlines, heartbeat silence and
// refused writes kill the process from timers, which ends that read.
//
// # What it refuses
//
// The child is taken for hostile. A record that does not decode, comes at the wrong time, carries another job's number or
// more output than was allowed costs it its life, and so does a cursor in the shared memory that stands where none can; what it
// says about its own end (rung, cause) is not asked. A job that ends over a posted call that failed has broken the rules too.
// Nothing read from a child reaches a sink after its end was decided, whatever still stands in the shared memory, and
// [Machine.Run] returns only after that. A child that cannot start is tried again at growing intervals, never in a tight loop. vm
// knows no pins, opens no network and runs no guest code.
//
// Only Linux has child processes here; elsewhere [NewPool] reports [errors.ErrUnsupported].
package vm

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pal-terminal/pal/hw"
	"github.com/pal-terminal/pal/limits"
)

// Errors that a machine's outcome or a method may carry.
var (
	// ErrClosed says that the pool or the executor was closed.
	ErrClosed = errors.New("vm: closed")
	// errStartTimeout is the cause of a child's end that did not say in time that it can run.
	errStartTimeout = fmt.Errorf("machine was not ready within %v", limits.VMStartTimeout)
)

// Config says how children are started and who hears about them.
type Config struct {
	// Command is the start of the child's argument list, {"/proc/self/exe", "vm"} in the product. The flags --cache,
	// --heap, --board and --version are appended; the channel is descriptor 3.
	Command []string
	// CacheDir holds compiled engines; the only folder a child may touch, and only while it starts.
	CacheDir string
	// HeapBytes is the size of the MicroPython heap, 0 for limits.VMHeapDefault.
	HeapBytes int
	// Board and Version are what the guest reads in os.uname().
	Board, Version string
	// Log receives lost machines and their last words; nil discards them.
	Log *slog.Logger
	// Notify hears what happens to the machine of the executor named label. It is called from that executor's own
	// goroutine, one call at a time, must return soon and must not call the executor's Run, Reset or Close. May be nil.
	Notify func(label string, n hw.Notice)
	// Settle is given each child that is ready and has not run anything yet, to set its priority and its processors. May be nil.
	Settle func(pid int) error
}

// args is the child's whole argument list.
func (c *Config) args() []string {
	heap := c.HeapBytes
	if heap == 0 {
		heap = limits.VMHeapDefault
	}
	return append(slices.Clone(c.Command), "--cache", c.CacheDir, "--heap", strconv.Itoa(heap), "--board", c.Board, "--version", c.Version)
}

// Pool starts children and keeps one in hand. Methods are safe from any goroutine.
type Pool struct {
	cfg Config
	log *slog.Logger

	hot     chan *process // the keeper hands the standby over
	failed  chan error    // the keeper tells why there is none, as long as it waits to try again
	closing chan struct{}
	standby atomic.Pointer[process]
	barren  atomic.Int32 // children lost unused since one last finished a job: how long to wait before the next
	wg      sync.WaitGroup

	mu       sync.Mutex // guards what follows
	closed   bool
	machines []*Machine
}

// NewPool starts the keeper of the standby. The caller closes the pool. Descriptors above 2 that the process has so far are
// marked close-on-exec, so that no machine inherits one.
func NewPool(cfg Config) (*Pool, error) {
	if len(cfg.Command) == 0 {
		return nil, errors.New("vm: no command to start machines with")
	}
	if cfg.HeapBytes < 0 || cfg.HeapBytes > limits.VMHeapMax {
		return nil, fmt.Errorf("vm: heap of %d bytes is outside 0 to %d", cfg.HeapBytes, limits.VMHeapMax)
	}
	if err := supported(); err != nil {
		return nil, fmt.Errorf("vm: machines in child processes: %w", err)
	}
	if err := keepDescriptors(); err != nil {
		return nil, fmt.Errorf("vm: keep the guard's descriptors from machines: %w", err)
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Notify == nil {
		cfg.Notify = func(string, hw.Notice) {}
	}
	p := &Pool{
		cfg: cfg, log: cfg.Log,
		hot: make(chan *process), failed: make(chan error), closing: make(chan struct{}),
	}
	p.wg.Go(p.keep)
	return p, nil
}

// Executor returns a new executor on the pool; label names it in notices, logs and status. It takes its first machine in
// the background. The caller closes it, or the pool. On a closed pool the executor is closed too.
func (p *Pool) Executor(label string) *Machine {
	m := newMachine(p, label)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		m.stop()
		close(m.ended)
		return m
	}
	p.machines = append(p.machines, m)
	go m.live()
	return m
}

// Close ends the executors, the standby and every process and goroutine of the pool.
func (p *Pool) Close() error {
	p.mu.Lock()
	first := !p.closed
	p.closed = true
	machines := p.machines
	p.mu.Unlock()
	for _, m := range machines {
		m.stop()
	}
	for _, m := range machines {
		<-m.ended
	}
	if first {
		close(p.closing)
	}
	p.wg.Wait()
	return nil
}

// forget drops a closed executor.
func (p *Pool) forget(m *Machine) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.machines = slices.DeleteFunc(slices.Clone(p.machines), func(x *Machine) bool { return x == m })
}

// keep starts children one after the other and holds each until somebody takes it. The kernel ends a child when the
// *thread* that forked it ends, so every fork is made on this one thread, which lives as long as the pool.
func (p *Pool) keep() {
	runtime.LockOSThread() // and never unlocked: the thread ends with this goroutine
	var why error          // of the last start, nil when it went well
	for p.pause(why) {
		var child *process
		if child, why = p.start(); why != nil {
			continue
		}
		p.standby.Store(child)
		select {
		case p.hot <- child:
		case <-child.lost:
		case <-p.closing:
			child.kill(hw.RungNone, causeClosed)
		}
		p.standby.Store(nil)
	}
}

// pause waits as long as the last failures ask for and tells those who want a machine why there is none. It reports false
// when the pool closes.
func (p *Pool) pause(why error) bool {
	n := p.barren.Load()
	if n == 0 {
		select {
		case <-p.closing:
			return false
		default:
			return true
		}
	}
	wait := time.NewTimer(min(limits.VMRespawnFirst<<min(n-1, 16), limits.VMRespawnLongest))
	defer wait.Stop()
	failed := p.failed
	if why == nil {
		failed = nil
	}
	for {
		select {
		case <-wait.C:
			return true
		case failed <- why:
		case <-p.closing:
			return false
		}
	}
}

// start runs one child and waits until it is ready.
func (p *Pool) start() (*process, error) {
	c, err := spawn(p.cfg.args())
	if err != nil {
		p.barren.Add(1)
		return nil, fmt.Errorf("start machine: %w", err)
	}
	child := newProcess(c, p.log, &p.barren)
	p.wg.Go(child.live)
	late := time.NewTimer(limits.VMStartTimeout)
	defer late.Stop()
	select {
	case <-child.started:
		child.settle(p.cfg.Settle)
		return child, nil
	case <-late.C:
		child.kill(hw.RungNone, errStartTimeout.Error())
	case <-p.closing:
		child.kill(hw.RungNone, causeClosed)
	case <-child.lost:
	}
	<-child.lost
	_, cause := child.end()
	return nil, fmt.Errorf("start machine: %s", cause)
}

// wait returns when avail is closed, or tells why there is no machine.
func (p *Pool) wait(ctx context.Context, avail, stop <-chan struct{}) error {
	late := time.NewTimer(limits.VMStartTimeout)
	defer late.Stop()
	select {
	case <-avail:
		return nil
	case err := <-p.failed:
		return err
	case <-late.C:
		return errStartTimeout
	case <-ctx.Done():
		return fmt.Errorf("wait for a machine: %w", context.Cause(ctx))
	case <-stop:
		return ErrClosed
	}
}
