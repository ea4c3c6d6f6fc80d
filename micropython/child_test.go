//go:build linux

package micropython

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/pal-terminal/pal/hw"
	"github.com/pal-terminal/pal/limits"
	"github.com/pal-terminal/pal/vm/frame"
)

// childMode in the environment turns the test binary into a machine process. The process is built apart and without the
// race detector, whose own memory no resource limit would allow for.
const childMode = "PAL_TEST_CHILD"

func TestMain(m *testing.M) {
	switch os.Getenv(childMode) {
	case "":
		code := m.Run()
		if childDir != "" {
			_ = os.RemoveAll(childDir)
		}
		os.Exit(code)
	case "main":
		opts := Options{FD: 3, CacheDir: os.Getenv("PAL_TEST_CACHE"), Board: "bench-sim", Version: "test", Log: slog.New(slog.DiscardHandler)}
		if err := Main(context.Background(), opts); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	case "probe":
		if err := probe(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}

// childDir holds the child's binary once it is built.
var childDir string

// childBinary is this package's tests, built without the race detector.
var childBinary = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "pal-vm-test")
	if err != nil {
		return "", err
	}
	childDir = dir
	bin := filepath.Join(dir, "child")
	build := exec.Command("go", "test", "-c", "-o", bin, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the child: %w\n%s", err, out)
	}
	return bin, nil
})

func childCommand(t *testing.T, mode string) *exec.Cmd {
	t.Helper()
	if err := Available(); err != nil {
		t.Fatal(err)
	}
	bin, err := childBinary()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(bin)
	cmd.Env = []string{childMode + "=" + mode, "PAL_TEST_CACHE=" + cacheDir()}
	return cmd
}

// startChild runs a whole machine process and waits until it is ready.
func startChild(t *testing.T) (*guard, *exec.Cmd, frame.Ready, *bytes.Buffer) {
	t.Helper()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	cmd := childCommand(t, "main")
	theirs := os.NewFile(uintptr(fds[0]), "machine")
	cmd.ExtraFiles = []*os.File{theirs}
	stderr := &bytes.Buffer{}
	cmd.Stderr = stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	g := &guard{t: t, file: os.NewFile(uintptr(fds[1]), "guard")}
	t.Cleanup(func() {
		_ = g.file.Close()
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	if err := theirs.Close(); err != nil {
		t.Fatal(err)
	}
	ready, ok := g.next().(frame.Ready)
	if !ok {
		t.Fatalf("no Ready came: %s", stderr)
	}
	return g, cmd, ready, stderr
}

func TestMainServes(t *testing.T) {
	g, cmd, ready, stderr := startChild(t)
	for _, want := range []string{"pdeathsig", "empty-env", "rlimits", "no-new-privs", "seccomp"} {
		if !slices.Contains(ready.Sandbox, want) {
			t.Errorf("sandbox: got %q, missing %q, want %s", ready.Sandbox, ready.Missing, want)
		}
	}
	if !slices.ContainsFunc(slices.Concat(ready.Sandbox, ready.Missing), func(s string) bool { return strings.HasPrefix(s, "landlock") }) {
		t.Errorf("landlock is neither active nor missing: %q, %q", ready.Sandbox, ready.Missing)
	}
	if ready.Engine != EngineVersion || ready.HeapBytes != limits.VMHeapDefault || ready.BootUS <= 0 {
		t.Errorf("got %+v", ready)
	}
	g.answer = board(map[uint16]int64{})
	if r := g.exec("p = Pin(5, Pin.OUT); p.on(); print(p.value())"); r.out != "1\n" || r.Exception != nil {
		t.Errorf("got %q, %+v", r.out, r.Exception)
	}
	if err := g.file.Close(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("after the channel's end: %v, %s", err, stderr)
	}
}

func TestMainEndsWithItsChannel(t *testing.T) {
	g, cmd, _, stderr := startChild(t)
	if err := g.file.Close(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("after the channel's end: %v, %s", err, stderr)
	}
}

func TestMainRefusesNonsense(t *testing.T) {
	g, cmd, _, stderr := startChild(t)
	g.send(&frame.Reply{})
	err := cmd.Wait()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 1 || !strings.Contains(stderr.String(), "an answer that nobody waits for\n") || strings.Count(stderr.String(), "\n") != 1 {
		t.Errorf("got %v, %q, want exit code 1 and one line", err, stderr)
	}
}

// A machine whose program spins must hear the guard all the same, and end by its word.
func TestMainEndsWhileBusy(t *testing.T) {
	for _, tt := range []struct {
		name, code string
		end        func(g *guard) error
		exit       int
		last       string
	}{
		{"closed in a loop", "while True: pass", func(g *guard) error { return g.file.Close() }, 0, ""},
		{"closed in a sleep", "import time\ntime.sleep(100)", func(g *guard) error { return g.file.Close() }, 0, ""},
		{"nonsense in a loop", "while True: pass", func(g *guard) error { g.send(&frame.Reply{}); return nil }, 1, "the engine failed: an answer that nobody waits for\n"},
		{"full for ever", "import machine\nmachine.hog = None\nwhile True: machine.hog = (machine.hog, bytearray(100))", func(*guard) error { return nil }, 1, "the heap stays full after every session was forgotten\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g, cmd, _, stderr := startChild(t)
			g.begin(hw.Job{Kind: hw.JobExec, Code: tt.code, MaxOutput: 4096})
			if err := tt.end(g); err != nil {
				t.Fatal(err)
			}
			err := cmd.Wait()
			if code := cmd.ProcessState.ExitCode(); code != tt.exit || stderr.String() != tt.last {
				t.Errorf("got %v, %q, want exit code %d, %q", err, stderr, tt.exit, tt.last)
			}
		})
	}
}

// One gigabyte of garbage in one job must leave the process as large as it was.
func TestGarbageLeavesMemoryFlat(t *testing.T) {
	g, cmd, _, _ := startChild(t)
	code := "for k in range(%d): b = bytearray(100000)"
	if r := g.exec(fmt.Sprintf(code, 500)); r.Exception != nil {
		t.Fatalf("got %+v", r.Exception)
	}
	before := residentKB(t, cmd.Process.Pid)
	if r := g.exec(fmt.Sprintf(code, 10_000)); r.Exception != nil {
		t.Fatalf("got %+v", r.Exception)
	}
	if after := residentKB(t, cmd.Process.Pid); after > before+8<<10 {
		t.Errorf("resident memory went from %d to %d KiB", before, after)
	}
}

func residentKB(t *testing.T, pid int) int {
	t.Helper()
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for line := range strings.Lines(string(raw)) {
		if _, err := fmt.Sscanf(line, "VmRSS: %d kB", &n); err == nil {
			return n
		}
	}
	t.Fatal("no VmRSS")
	return 0
}

func TestSleepBurnsNothing(t *testing.T) {
	g, cmd, _, stderr := startChild(t)
	g.exec("pass")
	before := cpuTime(t, cmd.Process.Pid)
	g.begin(hw.Job{Kind: hw.JobExec, Code: "import time\nfor k in range(10): time.sleep(0.1)", MaxOutput: 100})
	if r := g.finish(); r.Exception != nil {
		t.Fatalf("got %+v, %s", r.Exception, stderr)
	}
	if used := cpuTime(t, cmd.Process.Pid) - before; used > 100*time.Millisecond {
		t.Errorf("a second of sleep took %v of processor time", used)
	}
}

// cpuTime is what a process has used, in steps of a hundredth of a second.
func cpuTime(t *testing.T, pid int) time.Duration {
	t.Helper()
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := bytes.Cut(raw, []byte(") "))
	f := strings.Fields(string(rest))
	user, system := 0, 0
	if _, err := fmt.Sscan(f[11]+" "+f[12], &user, &system); err != nil {
		t.Fatal(err)
	}
	return time.Duration(user+system) * 10 * time.Millisecond
}

// probe boots a machine, closes the sandbox and tries what the sandbox is for. It prints errno by attempt as JSON.
func probe() error {
	opts := Options{CacheDir: os.Getenv("PAL_TEST_CACHE"), HeapBytes: limits.VMHeapDefault, Board: "bench-sim", Version: "test"}
	box := newSandbox()
	box.early()
	m, err := newMachine(context.Background(), opts, nil)
	if err != nil {
		return err
	}
	box.close(opts.HeapBytes)
	got := map[string]int{}
	try := func(name string, trap uintptr, args ...uintptr) {
		a := [6]uintptr{}
		copy(a[:], args)
		_, _, errno := syscall.Syscall6(trap, a[0], a[1], a[2], a[3], a[4], a[5])
		got[name] = int(errno)
	}
	path := uintptr(unsafe.Pointer(unsafe.SliceData([]byte("/etc/passwd\x00"))))
	here := ^uintptr(99) // AT_FDCWD
	try("open", unix.SYS_OPENAT, here, path, unix.O_RDONLY)
	try("create", unix.SYS_OPENAT, here, path, unix.O_CREAT|unix.O_WRONLY)
	try("socket", unix.SYS_SOCKET, unix.AF_INET, unix.SOCK_STREAM)
	try("execve", unix.SYS_EXECVE, path)
	try("fork", unix.SYS_CLONE, uintptr(unix.SIGCHLD))
	try("clone3", unix.SYS_CLONE3, 0, 0)
	try("ptrace", unix.SYS_PTRACE, unix.PTRACE_ATTACH, uintptr(os.Getppid()))
	try("kill", unix.SYS_KILL, uintptr(os.Getppid()), 0)
	try("tgkill another", unix.SYS_TGKILL, uintptr(os.Getppid()), uintptr(os.Getppid()), 0)
	try("executable memory", mmapTrap, 0, 4096, unix.PROT_READ|unix.PROT_EXEC, unix.MAP_ANON|unix.MAP_PRIVATE, ^uintptr(0))
	try("make executable", unix.SYS_MPROTECT, 0, 4096, unix.PROT_EXEC)
	try("memfd", unix.SYS_MEMFD_CREATE, path)
	try("process_vm_readv", unix.SYS_PROCESS_VM_READV, uintptr(os.Getppid()))
	try("io_uring", unix.SYS_IO_URING_SETUP, 1)
	try("bpf", unix.SYS_BPF)
	try("unshare", unix.SYS_UNSHARE, unix.CLONE_NEWUSER)
	try("prctl", unix.SYS_PRCTL, unix.PR_SET_PDEATHSIG, 0)
	try("more memory", mmapTrap, 0, 1<<30, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE, ^uintptr(0))
	got["environment"] = len(os.Environ())
	// What is left must work: Python, threads, the collector.
	done := make(chan bool)
	for range 8 {
		go func() {
			b := make([]byte, 1<<20)
			done <- len(b) > 0
		}()
	}
	for range 8 {
		<-done
	}
	got["python"] = 0
	if err := m.eng.exec(m.ctx, "if sum(range(10)) != 45: raise ValueError"); err != nil {
		got["python"] = 1
	}
	return json.NewEncoder(os.Stdout).Encode(got)
}

func TestSandbox(t *testing.T) {
	cmd := childCommand(t, "probe")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, stderr.String())
	}
	var got map[string]int
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatal(err)
	}
	want := map[string]int{"more memory": int(unix.ENOMEM), "clone3": int(unix.ENOSYS), "python": 0, "environment": 0}
	for _, name := range []string{"open", "create", "socket", "execve", "fork", "ptrace", "kill", "tgkill another", "executable memory",
		"make executable", "memfd", "process_vm_readv", "io_uring", "bpf", "unshare", "prctl"} {
		want[name] = int(unix.EPERM)
	}
	for name, errno := range want {
		if n, ok := got[name]; !ok || n != errno {
			t.Errorf("%s: got %v, want %v", name, syscall.Errno(n), syscall.Errno(errno))
		}
	}
}
