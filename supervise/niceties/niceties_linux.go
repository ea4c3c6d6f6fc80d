package niceties

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pal-terminal/pal/limits"
)

func apply(o Options) []Nicety {
	all := []Nicety{machines()}
	if !o.Realtime {
		const off = "not asked for: set `realtime: true`"
		return append(all, Nicety{Name: Memory, Why: off}, Nicety{Name: Priority, Why: off})
	}
	mem, prio := permittedMemory(), permittedPriority()
	if mem.Done {
		// On fault: Go reserves far more than it uses. What it gives back while locked it maps anew.
		if err := unix.Mlockall(unix.MCL_CURRENT | unix.MCL_FUTURE | unix.MCL_ONFAULT); err != nil {
			mem.Done, mem.Why = false, "mlockall: "+err.Error()
		}
	}
	if prio.Done {
		if err := raise(); err != nil {
			prio.Done, prio.Why = false, refused(err)
		}
	}
	return append(all, mem, prio)
}

func permitted() []Nicety { return []Nicety{machines(), permittedMemory(), permittedPriority()} }

func machines() Nicety {
	processors := childAffinity()
	if processors == nil {
		return Nicety{Name: Machines, Why: "there is one processor: machines share it, at a lower priority"}
	}
	return Nicety{Name: Machines, Done: true, Why: fmt.Sprintf("processors %v, niceness %d", processors, limits.MachineNice)}
}

// permittedMemory tells whether memory may be locked without a limit.
func permittedMemory() Nicety {
	limit, free := limited(unix.RLIMIT_MEMLOCK, unix.CAP_IPC_LOCK)
	if free || limit == unix.RLIM_INFINITY {
		return Nicety{Name: Memory, Done: true, Why: "permitted"}
	}
	return Nicety{Name: Memory, Why: fmt.Sprintf("RLIMIT_MEMLOCK is %d KiB: set LimitMEMLOCK=infinity", limit>>10)}
}

// permittedPriority tells whether threads may be given limits.RealtimePrio.
func permittedPriority() Nicety {
	n := Nicety{Name: Priority}
	limit, free := limited(unix.RLIMIT_RTPRIO, unix.CAP_SYS_NICE)
	switch {
	case len(allowed()) < 2:
		n.Why = "there is one processor: SCHED_FIFO would starve the machines"
	case !free && limit < limits.RealtimePrio:
		n.Why = fmt.Sprintf("RLIMIT_RTPRIO is %d: set LimitRTPRIO=%d", limit, limits.RealtimePrio)
	default:
		n.Done, n.Why = true, fmt.Sprintf("SCHED_FIFO %d, not inherited by machines", limits.RealtimePrio)
	}
	return n
}

// limited returns the limit of a resource and whether a capability lifts it.
func limited(resource int, capability uint) (limit uint64, free bool) {
	var r unix.Rlimit
	if err := unix.Getrlimit(resource, &r); err != nil {
		return 0, false
	}
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	err := unix.Capget(&header, &data[0])
	return r.Cur, err == nil && data[0].Effective&(1<<capability) != 0
}

func refused(err error) string {
	if errors.Is(err, unix.EPERM) {
		return "the kernel refuses SCHED_FIFO here, as it does in some groups of processes: " + err.Error()
	}
	return err.Error()
}

func keep(ctx context.Context, o Options) {
	if !o.Realtime || !permittedPriority().Done {
		return
	}
	tick := time.NewTicker(limits.ThreadSweep)
	defer tick.Stop()
	for raise() == nil { // what was refused once is refused again
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// raise puts every thread of this process under SCHED_FIFO.
func raise() error {
	return eachThread(os.Getpid(), func(tid int) error {
		return unix.SchedSetAttr(tid, &unix.SchedAttr{
			Size: unix.SizeofSchedAttr, Policy: unix.SCHED_FIFO, Priority: limits.RealtimePrio, Flags: unix.SCHED_FLAG_RESET_ON_FORK,
		}, 0)
	})
}

// eachThread calls f for every thread of a process until a pass finds none that is new; a thread that has ended is passed over.
func eachThread(pid int, f func(tid int) error) error {
	seen := map[int]bool{}
	for fresh := true; fresh; {
		fresh = false
		entries, err := os.ReadDir("/proc/" + strconv.Itoa(pid) + "/task")
		if err != nil {
			return err
		}
		for _, e := range entries {
			tid, err := strconv.Atoi(e.Name())
			if err != nil || seen[tid] {
				continue
			}
			seen[tid], fresh = true, true
			if err := f(tid); err != nil && !errors.Is(err, unix.ESRCH) {
				return fmt.Errorf("thread %d: %w", tid, err)
			}
		}
	}
	return nil
}

// allowed lists the processors that this process may run on.
func allowed() []int {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		return nil
	}
	var all []int
	for cpu := 0; len(all) < set.Count(); cpu++ {
		if set.IsSet(cpu) {
			all = append(all, cpu)
		}
	}
	return all
}

func childAffinity() []int {
	if all := allowed(); len(all) > 1 {
		return all[1:]
	}
	return nil
}

func settle(pid int, processors []int) error {
	var set unix.CPUSet
	for _, cpu := range processors {
		set.Set(cpu)
	}
	return eachThread(pid, func(tid int) error {
		err := unix.Setpriority(unix.PRIO_PROCESS, tid, limits.MachineNice)
		if err == nil && len(processors) > 0 {
			err = unix.SchedSetaffinity(tid, &set)
		}
		return err
	})
}
