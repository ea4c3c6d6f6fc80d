// Package niceties asks the kernel for what makes the guard late less often. Nothing depends on it.
//
// # Model
//
// Each [Nicety] is done or says why not; none fails a start. By default machines are kept off the first processor and run at a
// lower priority than the guard. With Realtime the guard's memory is locked and its threads run under SCHED_FIFO, where that is permitted.
//
// Go's threads come and go, and a priority belongs to a thread, so [Apply] sets it on all there are. They carry SCHED_RESET_ON_FORK,
// without which a machine, which runs guest code, would be born with a priority above the guard's; the kernel resets new threads of
// the guard with it, too. So [Keep] sets the priority again every limits.ThreadSweep.
//
// The guard itself is not tied to a processor: with one it would wait for itself. The first is its own because machines stay away.
//
// # What it refuses
//
// SCHED_FIFO on one processor, where it would starve the machines; mlockall under a limit, where Go's next allocation would end the
// process instead of being slow.
package niceties

import "context"

// Options say what is asked for.
type Options struct {
	Realtime bool // mlockall and SCHED_FIFO, too
}

// Nicety is one thing that was asked for.
type Nicety struct {
	Name string `json:"name"`
	Done bool   `json:"done"`
	Why  string `json:"why"` // what it is, or why it is not
}

// Names of niceties.
const (
	Memory   = "memory lock"
	Priority = "realtime"
	Machines = "machines apart"
)

// Apply asks for everything once, for the threads that there are.
func Apply(o Options) []Nicety { return apply(o) }

// Keep gives new threads of the guard what Apply gave the old ones, until ctx ends. It returns at once when there is nothing to do.
func Keep(ctx context.Context, o Options) { keep(ctx, o) }

// Permitted tells what Apply could do with Realtime here, and changes nothing.
func Permitted() []Nicety { return permitted() }

// ChildAffinity returns the processors for machines: all of this process's but the first; nil, no matter which, when it has one.
func ChildAffinity() []int { return childAffinity() }

// Settle makes all threads of a machine run on processors, nil for any, and yield to the guard. It is for vm.Config.Settle.
func Settle(processors []int) func(pid int) error {
	return func(pid int) error { return settle(pid, processors) }
}
