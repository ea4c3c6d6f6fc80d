//go:build linux

package vm_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/pal-terminal/pal/hw"
	"github.com/pal-terminal/pal/hw/hwtest"
	"github.com/pal-terminal/pal/limits"
	"github.com/pal-terminal/pal/vm"
)

// alive reports whether pid is a process that still runs: one that its adopter has not waited for yet does not.
func alive(pid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, rest, ok := strings.Cut(string(text), ") ")
	return ok && !strings.HasPrefix(rest, "Z") && !strings.HasPrefix(rest, "X")
}

func inFolder(dir string) func(*vm.Config) {
	return func(c *vm.Config) { c.CacheDir = dir }
}

func starts(t testing.TB, dir string) int {
	info, err := os.Stat(filepath.Join(dir, "starts"))
	if os.IsNotExist(err) {
		return 0
	}
	if err != nil {
		t.Fatal(err)
	}
	return int(info.Size())
}

func TestNewPoolRefuses(t *testing.T) {
	for _, cfg := range []vm.Config{{}, {Command: []string{"x"}, HeapBytes: -1}, {Command: []string{"x"}, HeapBytes: limits.VMHeapMax + 1}} {
		if pool, err := vm.NewPool(cfg); err == nil {
			t.Errorf("NewPool(%+v): got no error", cfg)
			_ = pool.Close()
		}
	}
}

// A machine that cannot start answers at once with its own words, and is tried again ever more slowly.
func TestMachineThatCannotStart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	b := fakes(t, "words", inFolder(dir))
	m := b.Executor("agent")
	began := time.Now()
	for range 3 {
		out, s := runs(t, m, hwtest.Drive)
		if out.Started || !out.Died || !strings.Contains(out.Cause, "pal: engine file missing: run make build") || len(s.Calls()) > 0 {
			t.Errorf("outcome: got %+v, want a machine that could not be had and its last words", out)
		}
	}
	if err := m.Ready(t.Context()); err == nil || !strings.Contains(err.Error(), "engine file missing") {
		t.Errorf("Ready: got %v, want the machine's words", err)
	}
	eventually(t, "three starts", func() bool { return starts(t, dir) >= 3 })
	if took, least := time.Since(began), 3*limits.VMRespawnFirst; took < least {
		t.Errorf("three starts took %v, want at least %v", took, least)
	}
	if s := b.Status(); s.Standby || len(s.Machines) != 1 || s.Machines[0].Pid != 0 {
		t.Errorf("status: got %+v, want one executor without a machine", s)
	}
	b.none(t)
}

func TestCommandThatDoesNotExist(t *testing.T) {
	t.Parallel()
	b := fakes(t, "", func(c *vm.Config) { c.Command = []string{"/does/not/exist"} })
	out, _ := runs(t, b.Executor("agent"), hwtest.Hello)
	if out.Started || !out.Died || !strings.Contains(out.Cause, "no such file") {
		t.Errorf("outcome: got %+v, want no such file", out)
	}
}

func TestStartsThatBreakTheRules(t *testing.T) {
	for role, cause := range map[string]string{"hasty": "*frame.Call at the wrong time"} {
		t.Run(role, func(t *testing.T) {
			t.Parallel()
			b := fakes(t, role)
			out, s := runs(t, b.Executor("agent"), hwtest.Hello)
			if out.Started || !out.Died || !strings.Contains(out.Cause, cause) || len(s.Calls()) > 0 {
				t.Errorf("outcome: got %+v, want %q and no call", out, cause)
			}
		})
	}
}

// Machines that start and then die without ever being given a job are replaced, but not in a tight loop.
func TestShortLivedMachinesDoNotSpin(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	began := time.Now()
	b := fakes(t, "double", inFolder(dir))
	b.Executor("agent")
	eventually(t, "five starts", func() bool { return starts(t, dir) >= 5 })
	// Two may be on their way before the first loss counts; after that the waits double.
	if took, least := time.Since(began), 3*limits.VMRespawnFirst; took < least {
		t.Errorf("five starts took %v, want at least %v", took, least)
	}
}

// A job that comes while the first machine still compiles waits for it.
func TestLateMachine(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	b := fakes(t, "trickle", inFolder(dir))
	m := b.Executor("agent")
	out, _ := hurried(t, m, 50*time.Millisecond)
	if out.Started || !out.Died || !strings.Contains(out.Cause, "wait for a machine") {
		t.Errorf("a job with no time: got %+v, want one that was not started", out)
	}
	done := make(chan hw.Outcome, 1)
	go func() {
		s := &hwtest.Sink{T: t}
		done <- s.Run(within(t, 20*time.Second), m, hwtest.Exec("", hwtest.Hello))
	}()
	if err := os.WriteFile(filepath.Join(dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if out := <-done; !out.Started || out.Died || out.Exception != nil {
		t.Errorf("a job with time: got %+v, want a good end", out)
	}
}

func hurried(t *testing.T, m *vm.Machine, d time.Duration) (hw.Outcome, *hwtest.Sink) {
	t.Helper()
	s := &hwtest.Sink{T: t}
	return s.Run(within(t, d), m, hwtest.Exec("", hwtest.Hello)), s
}

func TestWhatTheChildIsGiven(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	inherited, err := unix.Dup(0) // not close-on-exec, as one left open by a careless parent
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(inherited)
	b := fakes(t, "good", inFolder(dir))
	out, s := runs(t, b.Executor("agent"), inspect)
	if out.Exception != nil {
		t.Fatalf("exception: %+v", out.Exception)
	}
	want := strings.Join([]string{
		"environment 0", "own group true", "first to go 1000 <nil>", "folder / <nil>",
		"descriptor 0 /dev/null", "descriptor 1 /dev/null", "descriptor 2 pipe", "descriptor 3 socket",
		"arguments good --cache " + dir + " --heap 1048576 --board bench-sim --version 1", "",
	}, "\n")
	if d := cmp.Diff(want, s.Text(hw.Stdout)); d != "" {
		t.Errorf("the child's surroundings (-want +got):\n%s", d)
	}
}

// TestSettle: each machine is settled once, alive and before it runs anything; what cannot be settled serves all the same.
func TestSettle(t *testing.T) {
	var mu sync.Mutex
	settled := map[int]int{}
	b := fakes(t, "good", func(c *vm.Config) {
		c.Settle = func(pid int) error {
			mu.Lock()
			defer mu.Unlock()
			if !alive(pid) {
				t.Errorf("process %d is not there to be settled", pid)
			}
			settled[pid]++
			return fmt.Errorf("no such processor")
		}
	})
	m := b.Executor("agent")
	works(t, m)
	mu.Lock()
	defer mu.Unlock()
	if n := settled[m.Status().Pid]; n != 1 {
		t.Errorf("the machine was settled %d times, want once", n)
	}
}

// Callers serialise jobs; one that does not is refused and harms nothing.
func TestSecondJobIsRefused(t *testing.T) {
	t.Parallel()
	b := fakes(t, "good")
	m := b.Executor("agent")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	s := &hwtest.Sink{T: t, Answer: func(c hw.Call) (hw.Reply, bool) {
		if c.Op == hw.OpPinMode {
			out, second := runs(t, m, hwtest.Drive)
			if out.Started || out.Died || out.Cause == "" || len(second.Calls()) > 0 {
				t.Errorf("second job: got %+v and %d calls, want a refusal", out, len(second.Calls()))
			}
			cancel()
		}
		return hw.Reply{}, false
	}}
	if out := s.Run(ctx, m, hwtest.Exec("", hwtest.Endless)); out.Died || out.Rung != hw.RungInterrupt {
		t.Errorf("first job: got %+v, want rung %d", out, hw.RungInterrupt)
	}
	works(t, m)
}

func TestJobThatIsTooLong(t *testing.T) {
	t.Parallel()
	b := fakes(t, "good")
	m := b.Executor("agent")
	out, _ := runs(t, m, strings.Repeat("#", limits.FrameBytes))
	if out.Started || out.Died || !strings.Contains(out.Cause, "too long") {
		t.Errorf("outcome: got %+v, want a job that was not started", out)
	}
	works(t, m)
}

func TestAnswerThatIsTooLong(t *testing.T) {
	t.Parallel()
	b := fakes(t, "good")
	m := b.Executor("agent")
	s := &hwtest.Sink{T: t, Answer: func(c hw.Call) (hw.Reply, bool) {
		return hw.Reply{Data: make([]byte, limits.FrameBytes)}, c.Op == hw.OpPinOpen
	}}
	out := s.Run(within(t, 20*time.Second), m, hwtest.Exec("", hwtest.Drive))
	if out.Exception == nil || !strings.Contains(out.Exception.Message, "answer is too long") {
		t.Errorf("outcome: got %+v (exception %+v), want OSError", out, out.Exception)
	}
	works(t, m)
}

func TestStatus(t *testing.T) {
	t.Parallel()
	b := fakes(t, "good")
	m := b.Executor("agent")
	works(t, m)
	eventually(t, "a standby", func() bool { return b.Status().Standby })
	s := b.Status()
	if len(s.Machines) != 2 || s.Machines[0].Label != "agent" || s.Machines[1].Label != "standby" {
		t.Fatalf("machines: got %+v, want agent and standby", s.Machines)
	}
	for _, got := range s.Machines {
		if got.Pid == 0 || got.RSSBytes <= 0 {
			t.Errorf("%s: got process %d of %d bytes, want both known", got.Label, got.Pid, got.RSSBytes)
		}
		want := vm.MachineStatus{
			Label: got.Label, Pid: got.Pid, RSSBytes: got.RSSBytes, Engine: "bench-sim 1", Sandbox: []string{"none"},
			Missing: []string{"all: a fake"}, Boot: 7 * time.Microsecond, HeapBytes: 1 << 20, Shared: true,
		}
		if got.Label == "agent" {
			want.Generation = 1
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", got.Label, d)
		}
	}
	if err := unix.Kill(s.Machines[0].Pid, unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
	n := b.next(t, hw.NoticeRestarted)
	now := m.Status()
	if now.Pid != s.Machines[1].Pid {
		t.Errorf("after a loss: got process %d, want the standby's %d", now.Pid, s.Machines[1].Pid)
	}
	if now.Replaced <= 0 || now.Replaced > n.Took {
		t.Errorf("replaced: got %v, want more than 0 and at most the notice's %v", now.Replaced, n.Took)
	}
}

// Executors of one pool share nothing but the standby.
func TestExecutorsAreApart(t *testing.T) {
	t.Parallel()
	b := fakes(t, "good")
	agent, board := b.Executor("agent"), b.Executor("board")
	works(t, agent)
	works(t, board)
	if out, _ := runs(t, agent, misdeed+"exit"); !out.Died {
		t.Fatalf("outcome: got %+v, want a dead machine", out)
	}
	if n := b.next(t, hw.NoticeRestarted); n.label != "agent" {
		t.Errorf("notice: got label %q, want agent", n.label)
	}
	if a, o := agent.Generation(), board.Generation(); a != 2 || o != 1 {
		t.Errorf("generations: got %d and %d, want 2 and 1", a, o)
	}
	works(t, board)
	if err := agent.Close(); err != nil {
		t.Fatal(err)
	}
	works(t, board)
	if s := b.Status(); s.Machines[0].Label != "board" {
		t.Errorf("machines: got %+v, want board first", s.Machines)
	}
}

func TestResetMakesNoNotice(t *testing.T) {
	t.Parallel()
	b := fakes(t, "good")
	m := b.Executor("agent")
	works(t, m)
	old := m.Status().Pid
	if err := m.Reset(t.Context()); err != nil {
		t.Fatal(err)
	}
	if now := m.Status().Pid; now == old || now == 0 {
		t.Errorf("process: got %d, want another than %d", now, old)
	}
	works(t, m)
	b.none(t)
}

// Close from many sides, with jobs running, ends everything (TestMain looks for what is left).
func TestHammerClose(t *testing.T) {
	t.Parallel()
	for range 10 {
		b := fakes(t, "good")
		var all sync.WaitGroup
		for i := range 3 {
			m := b.Executor(strconv.Itoa(i))
			all.Go(func() {
				s := &hwtest.Sink{T: t}
				out := s.Run(within(t, 20*time.Second), m, hwtest.Exec("", hwtest.Endless))
				if !out.Died || out.Rung != hw.RungNone {
					t.Errorf("outcome: got %+v, want a machine that died without a rung", out)
				}
			})
			all.Go(func() {
				if err := m.Close(); err != nil && i == 0 {
					t.Error(err)
				}
			})
		}
		for range 2 {
			all.Go(func() {
				if err := b.Close(); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if m := b.Executor("late"); m.Ready(t.Context()) == nil {
			t.Error("an executor of a closed pool is ready")
		}
	}
}

// fakeGuard is a guard in a process of its own: it makes a pool, tells the machines' process ids and waits to be killed.
func fakeGuard(role string) int {
	pool, err := vm.NewPool(vm.Config{Command: []string{"/proc/self/exe", "fake", role}})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	pool.Executor("agent")
	await(func() bool {
		s := pool.Status()
		return s.Standby && s.Machines[0].Pid != 0
	})
	for _, m := range pool.Status().Machines {
		fmt.Fprintln(os.Stdout, m.Pid)
	}
	_, _ = io.Copy(io.Discard, os.Stdin)
	return 0
}

// When the guard is killed the kernel kills its machines.
func TestMachinesDieWithTheGuard(t *testing.T) {
	t.Parallel()
	guard := exec.Command("/proc/self/exe", "guard", "good")
	in, err := guard.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := guard.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := guard.Start(); err != nil {
		t.Fatal(err)
	}
	var pids []int
	lines := bufio.NewScanner(out)
	for len(pids) < 2 && lines.Scan() {
		pid, err := strconv.Atoi(lines.Text())
		if err != nil {
			t.Fatal(err)
		}
		pids = append(pids, pid)
	}
	if len(pids) != 2 || !alive(pids[0]) || !alive(pids[1]) {
		t.Errorf("machines: got processes %v, want two that live", pids)
	}
	if err := guard.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = guard.Wait() // reports the kill
	eventually(t, "the machines are gone", func() bool {
		for _, pid := range pids {
			if alive(pid) {
				return false
			}
		}
		return true
	})
}
