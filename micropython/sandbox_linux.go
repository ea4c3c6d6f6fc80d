//go:build linux && (amd64 || arm64 || arm)

package micropython

import (
	"fmt"
	"os"
	"strconv"

	seccomp "github.com/elastic/go-seccomp-bpf"
	"github.com/landlock-lsm/go-landlock/landlock"
	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"

	"github.com/pal-terminal/pal/limits"
)

// early takes the measures that must not wait for the engine.
func (s *sandbox) early() {
	s.did("pdeathsig", unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0))
	os.Clearenv()
	s.did("empty-env", nil)
}

// close shuts the door behind a booted engine: from here the process can use its channel and its memory and no more.
func (s *sandbox) close(heapBytes int) {
	s.did("rlimits", limitResources(heapBytes))
	s.did("no-new-privs", unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
	s.landlock()
	s.did("seccomp", filterCalls())
}

// limitResources bounds memory and files. RLIMIT_NPROC is left alone: it counts every process of the user, so that a busy
// user would keep this process from starting a thread it needs; seccomp keeps it from starting a process.
func limitResources(heapBytes int) error {
	data := uint64(limits.VMDataBytes + max(0, heapBytes-limits.VMHeapDefault))
	for _, l := range []struct {
		which int
		value uint64
	}{{unix.RLIMIT_CORE, 0}, {unix.RLIMIT_FSIZE, 0}, {unix.RLIMIT_NOFILE, limits.VMOpenFiles}, {unix.RLIMIT_DATA, data}} {
		if err := unix.Setrlimit(l.which, &unix.Rlimit{Cur: l.value, Max: l.value}); err != nil {
			return fmt.Errorf("resource %d: %w", l.which, err)
		}
	}
	return nil
}

// landlock forbids every file, TCP port, abstract socket and foreign signal that this kernel's version of it knows.
func (s *sandbox) landlock() {
	version, err := ll.LandlockGetABIVersion()
	if err == nil && version < 1 {
		err = unix.ENOSYS
	}
	if err != nil {
		s.did("landlock", err)
		return
	}
	s.did("landlock-v"+strconv.Itoa(version), landlock.V8.BestEffort().Restrict())
}

// filterCalls leaves the system calls that Go's runtime and the channel need. What is not listed gets EPERM.
func filterCalls() error {
	self := uint64(os.Getpid())
	const writeExec = unix.PROT_EXEC
	filter := seccomp.Filter{
		NoNewPrivs: true,
		Flag:       seccomp.FilterFlagTSync,
		Policy: seccomp.Policy{
			DefaultAction: seccomp.ActionErrno,
			Syscalls: []seccomp.SyscallGroup{
				{Action: seccomp.ActionAllow, Names: allowedCalls},
				// A filter cannot look into clone3's arguments. "No such call" makes a C library use clone, which it can.
				{Action: seccomp.ActionErrno | seccomp.Action(unix.ENOSYS), Names: []string{"clone3"}},
				{Action: seccomp.ActionAllow, NamesWithCondtions: []seccomp.NameWithConditions{
					// Threads, never processes.
					{Name: "clone", Conditions: seccomp.ArgumentConditions{{Argument: 0, Operation: seccomp.BitsSet, Value: unix.CLONE_THREAD}}},
					// Memory, never code.
					{Name: "mprotect", Conditions: seccomp.ArgumentConditions{{Argument: 2, Operation: seccomp.BitsNotSet, Value: writeExec}}},
					{Name: mmapCall, Conditions: seccomp.ArgumentConditions{{Argument: 2, Operation: seccomp.BitsNotSet, Value: writeExec}}},
					// Signals to itself: the runtime preempts its threads with them.
					{Name: "tgkill", Conditions: seccomp.ArgumentConditions{{Argument: 0, Operation: seccomp.Equal, Value: self}}},
				}},
			},
		},
	}
	return seccomp.LoadFilter(filter)
}
