//go:build linux

package vm_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"runtime/pprof"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pal-terminal/pal/hw"
	"github.com/pal-terminal/pal/hw/hwtest"
	"github.com/pal-terminal/pal/vm"
)

// compiled is a cache folder that the real machines of one test process share, so that the engine is compiled once.
var compiled string

func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "fake" {
		os.Exit(fakeMachine(os.Args[2], os.Args[3:]))
	}
	if len(os.Args) > 2 && os.Args[1] == "guard" {
		os.Exit(fakeGuard(os.Args[2]))
	}
	var err error
	if compiled, err = os.MkdirTemp("", "pal-vm-test-"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	goroutines, files := runtime.NumGoroutine(), descriptors()
	code := m.Run()
	if fuzzing := flag.Lookup("test.fuzz").Value.String() != ""; code == 0 && !fuzzing { // a fuzzing engine keeps its own
		code = leaks(goroutines, files)
	}
	if err := os.RemoveAll(compiled); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// leaks reports goroutines, descriptors and children that the tests left behind.
func leaks(goroutines, files int) int {
	deadline := time.Now().Add(5 * time.Second)
	await(func() bool {
		return runtime.NumGoroutine() <= goroutines && descriptors() <= files || time.Now().After(deadline)
	})
	code := 0
	if n := runtime.NumGoroutine(); n > goroutines {
		fmt.Fprintf(os.Stderr, "leak: %d goroutines, %d at the start\n", n, goroutines)
		_ = pprof.Lookup("goroutine").WriteTo(os.Stderr, 1)
		code = 1
	}
	if n := descriptors(); n > files {
		fmt.Fprintf(os.Stderr, "leak: %d descriptors, %d at the start\n", n, files)
		code = 1
	}
	if pid, err := unix.Wait4(-1, nil, unix.WNOHANG, nil); !errors.Is(err, unix.ECHILD) {
		fmt.Fprintf(os.Stderr, "leak: child processes are left (wait: %d, %v)\n", pid, err)
		code = 1
	}
	return code
}

// descriptors counts open ones; the Go runtime's poller, made on first use and kept, is not ours.
func descriptors() int {
	n := 0
	for fd := range 256 {
		target, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", fd))
		if err == nil && target != "anon_inode:[eventpoll]" && target != "anon_inode:[eventfd]" {
			n++
		}
	}
	return n
}

// notice is a hw.Notice and whose it is.
type notice struct {
	label string
	hw.Notice
}

// bench is a pool of fakes and what it reported.
type bench struct {
	*vm.Pool
	notices chan notice
}

// fakes starts a pool of fakes in a role.
func fakes(t testing.TB, role string, edit ...func(*vm.Config)) *bench {
	t.Helper()
	b := &bench{notices: make(chan notice, 100)}
	cfg := vm.Config{
		Command: []string{"/proc/self/exe", "fake", role}, HeapBytes: 1 << 20, Board: "bench-sim", Version: "1",
		Log:    slog.New(slog.NewTextHandler(t.Output(), nil)),
		Notify: func(label string, n hw.Notice) { b.notices <- notice{label, n} },
	}
	for _, f := range edit {
		f(&cfg)
	}
	pool, err := vm.NewPool(cfg)
	if err != nil {
		t.Fatal(err)
	}
	b.Pool = pool
	t.Cleanup(func() {
		if err := pool.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return b
}

// next returns the next notice of a kind, skipping others, within a time that a sound pool never needs.
func (b *bench) next(t testing.TB, kind hw.NoticeKind) notice {
	t.Helper()
	late := time.After(20 * time.Second)
	for {
		select {
		case n := <-b.notices:
			if n.Kind == kind {
				return n
			}
		case <-late:
			t.Fatalf("no notice of kind %d came", kind)
		}
	}
}

// none checks that no notice is waiting. Call it after a fact that comes behind every possible notice.
func (b *bench) none(t testing.TB) {
	t.Helper()
	select {
	case n := <-b.notices:
		t.Errorf("notice: got %+v, want none", n)
	default:
	}
}

// eventually waits for a fact.
func eventually(t testing.TB, what string, fact func() bool) {
	t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	held := false
	await(func() bool {
		held = fact()
		return held || time.Now().After(deadline)
	})
	if !held {
		t.Fatalf("never came true: %s", what)
	}
}

// within is a context for a job that may take d.
func within(t testing.TB, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

// runs runs code in a fresh namespace with plenty of time.
func runs(t testing.TB, m *vm.Machine, code string) (hw.Outcome, *hwtest.Sink) {
	t.Helper()
	s := &hwtest.Sink{T: t}
	return s.Run(within(t, 20*time.Second), m, hwtest.Exec("", code)), s
}

// works checks that the machine runs a job to its end.
func works(t testing.TB, m *vm.Machine) {
	t.Helper()
	out, s := runs(t, m, hwtest.Hello)
	if !out.Started || out.Died || out.Exception != nil || s.Text(hw.Stdout) != "pal\n" {
		t.Fatalf("the next job: got %+v, printed %q, want a good end and \"pal\\n\"", out, s.Text(hw.Stdout))
	}
}
