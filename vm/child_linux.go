package vm

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pal-terminal/pal/limits"
)

// supported reports whether this system has the child processes that the pool needs.
func supported() error { return nil }

// child is one process as the system knows it: its id, the guard's end of its channel and its standard error. It has no
// locks: who may use what when is process's business.
type child struct {
	proc   *os.Process
	fd     int // blocking, see the package comment
	stderr *os.File
	soon   bool // the next Read looks before it sleeps; only the goroutine that reads touches it and rest
	rest   int  // Reads that sleep at once, since looking was in vain
	shared shared
}

// keepDescriptors makes sure that what the guard itself inherited, from a shell or a supervisor, ends with it: Go opens
// everything close-on-exec, others do not.
func keepDescriptors() error {
	const folder = "/proc/self/fd"
	entries, err := os.ReadDir(folder)
	if err != nil {
		return fmt.Errorf("list open descriptors: %w", err)
	}
	for _, e := range entries {
		if fd, err := strconv.Atoi(e.Name()); err == nil && fd > 2 {
			unix.CloseOnExec(fd)
		}
	}
	return nil
}

// spawn starts args with an empty environment, in a process group of its own, with no descriptors but /dev/null (0, 1),
// standard error (2), the channel (3) and, where the system has it, shared memory (4). The kernel kills it when the calling thread ends, and before any other process when
// memory runs out.
func spawn(args []string) (*child, error) {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer null.Close() //nolint:errcheck // nothing was written
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("make its channel: %w", err)
	}
	theirs := os.NewFile(uintptr(fds[1]), "channel")
	defer theirs.Close() //nolint:errcheck // the child has its own copy
	stderr, words, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("make its standard error: %w", err), unix.Close(fds[0]))
	}
	defer words.Close() //nolint:errcheck // the child has its own copy
	mem, memory := makeShared()
	files := []*os.File{null, null, words, theirs}
	if memory != nil {
		files = append(files, memory)
		defer memory.Close() //nolint:errcheck // the mappings stay
	}
	limit := unix.NsecToTimeval(limits.VMWriteTimeout.Nanoseconds())
	err = unix.SetsockoptTimeval(fds[0], unix.SOL_SOCKET, unix.SO_SNDTIMEO, &limit)
	var proc *os.Process
	if err == nil {
		proc, err = os.StartProcess(args[0], args, &os.ProcAttr{
			Dir: "/", Env: []string{}, Files: files,
			Sys: &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL},
		})
	}
	if err != nil {
		return nil, errors.Join(err, unix.Close(fds[0]), stderr.Close(), unmap(mem))
	}
	// When the system runs out of memory the machine is to go, not the guard. Where that cannot be said the kernel's own choice,
	// the process that has most, is nearly always the same.
	_ = os.WriteFile("/proc/"+strconv.Itoa(proc.Pid)+"/oom_score_adj", []byte("1000"), 0)
	return &child{proc: proc, fd: fds[0], stderr: stderr, shared: shared{mem: mem, late: limits.RingBytes}}, nil
}

// Read blocks until the child sends something, shutdown is called or the child's end is closed (io.EOF).
func (c *child) Read(p []byte) (int, error) {
	if n, err := c.look(p); n > 0 || err != nil {
		return n, err
	}
	if !c.shared.used {
		return c.receive(p)
	}
	for {
		n, err := c.take(p)
		if n > 0 || err != nil {
			return n, err
		}
		if err = c.sleep(); err != nil {
			if n, bad := c.take(p); n > 0 || bad != nil { // what it said before its end still counts
				return n, bad
			}
			return 0, err
		}
	}
}

// receive reads from the socket.
func (c *child) receive(p []byte) (int, error) {
	for {
		n, err := unix.Read(c.fd, p)
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return 0, err
		case n == 0:
			return 0, io.EOF
		default:
			return n, nil
		}
	}
}

// look looks for what the child sends next, for a moment: programs use hardware in bursts, and to put this thread to sleep and
// wake it costs far more than such a program takes from one call to the next. After looking in vain it sleeps at once for a
// while. Only the goroutine that reads calls it.
func (c *child) look(p []byte) (int, error) {
	soon := c.soon
	c.soon = false
	if !soon || c.rest > 0 || cores < 2 {
		if soon {
			c.rest--
		}
		return 0, nil
	}
	for start := time.Now(); time.Since(start) < limits.SpinWait; {
		switch {
		case c.shared.used:
			if n, err := c.take(p); n > 0 || err != nil {
				return n, err
			}
		case c.waiting():
			return c.receive(p)
		}
	}
	c.rest = limits.SpinRest
	return 0, nil
}

// cores is how many threads of the guard can run at a time: with one, nobody else gets on while it looks for something.
var cores = min(runtime.NumCPU(), runtime.GOMAXPROCS(0))

// write sends all of p or fails after limits.VMWriteTimeout, however slowly the child reads.
func (c *child) write(p []byte) error {
	var began time.Time
	for {
		n, err := c.put(p)
		if err != nil {
			return err
		}
		if p = p[n:]; len(p) == 0 {
			return nil
		}
		if began.IsZero() {
			began = time.Now()
		} else if time.Since(began) > limits.VMWriteTimeout {
			return errWriteTimeout
		}
	}
}

// put sends some of p.
func (c *child) put(p []byte) (int, error) {
	if c.shared.used {
		return c.give(p)
	}
	n, err := unix.Write(c.fd, p)
	switch {
	case errors.Is(err, unix.EAGAIN):
		return 0, errWriteTimeout
	case errors.Is(err, unix.EINTR):
		return 0, nil
	}
	return max(n, 0), err
}

// unread reports whether the child sent something that the guard has not read yet. While the guard's own goroutine is awake that
// is for it to say, not for memory that the child can write.
func (c *child) unread() bool { return c.shared.used && !c.shared.asleep.Load() || c.waiting() }

// waiting reports whether there is something to read in the socket.
func (c *child) waiting() bool {
	n, err := unix.IoctlGetInt(c.fd, unix.TIOCINQ)
	return err == nil && n > 0
}

// shutdown ends a blocked Read and write, also when somebody else still holds the child's end.
func (c *child) shutdown() {
	c.shared.down.Store(true)
	_ = unix.Shutdown(c.fd, unix.SHUT_RDWR) // fails only when the peer is gone, which is as good
}

// close frees the guard's end. Nothing may use the channel any more.
func (c *child) close() error { return errors.Join(unix.Close(c.fd), unmap(c.shared.mem)) }

// killGroup ends the process and whatever it started. The process must not have been reaped.
func (c *child) killGroup() { _ = unix.Kill(-c.proc.Pid, unix.SIGKILL) } // fails only when nobody is left

// awaitExit returns when the process has ended and leaves it unreaped, so that its number stays its own.
func (c *child) awaitExit() {
	for {
		err := unix.Waitid(unix.P_PID, c.proc.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			return
		}
	}
}

// reap frees the process's number and says how it ended.
func (c *child) reap() string {
	state, err := c.proc.Wait()
	if err != nil {
		return "its end could not be read: " + err.Error()
	}
	if ws, ok := state.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return "killed by " + unix.SignalName(ws.Signal())
	}
	return "exited with status " + strconv.Itoa(state.ExitCode())
}

// ResidentBytes is the memory that process pid holds, 0 when it is gone.
func ResidentBytes(pid int) int64 {
	var all, resident int64
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/statm")
	if err != nil {
		return 0
	}
	if _, err := fmt.Sscan(string(text), &all, &resident); err != nil {
		return 0
	}
	return resident * int64(os.Getpagesize())
}
