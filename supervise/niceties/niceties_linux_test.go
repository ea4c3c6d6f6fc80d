package niceties

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"golang.org/x/sys/unix"

	"github.com/pal-terminal/pal/limits"
)

// What a process of its own finds out about itself: niceties are for life.
type found struct {
	Niceties    []Nicety
	Policies    []uint32 // of the threads after Apply
	Later       []uint32 // of the threads after more have come, and raise again
	ChildPolicy uint32
	Locked      bool
}

const inside = "PAL_TEST_NICETIES"

func TestMain(m *testing.M) {
	if os.Getenv(inside) == "" {
		os.Exit(m.Run())
	}
	if err := json.NewEncoder(os.Stdout).Encode(find(os.Getenv(inside) == "realtime")); err != nil {
		os.Exit(1)
	}
}

func policies() (all []uint32) {
	err := eachThread(os.Getpid(), func(tid int) error {
		a, err := unix.SchedGetAttr(tid, 0)
		if err == nil {
			all = append(all, a.Policy)
		}
		return err
	})
	if err != nil {
		panic(err)
	}
	return all
}

func find(realtime bool) (f found) {
	f.Niceties = Apply(Options{Realtime: realtime})
	f.Policies = policies()
	done := make(chan struct{})
	for range 8 { // threads that cannot be shared
		ready := make(chan struct{})
		go func() {
			runtime.LockOSThread()
			close(ready)
			<-done
		}()
		<-ready
	}
	f.Later = policies()
	for range 100 { // the runtime may make one more thread meanwhile, as it does in Keep
		if !realtime || !f.Niceties[2].Done || only(f.Later, unix.SCHED_FIFO) {
			break
		}
		if err := raise(); err != nil {
			panic(err)
		}
		f.Later = policies()
	}
	close(done)
	child := exec.Command("sleep", "60")
	if err := child.Start(); err != nil {
		panic(err)
	}
	a, err := unix.SchedGetAttr(child.Process.Pid, 0)
	if err != nil {
		panic(err)
	}
	f.ChildPolicy = a.Policy
	_ = child.Process.Kill()
	_ = child.Wait()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		panic(err)
	}
	f.Locked = !strings.Contains(string(status), "VmLck:\t       0 kB")
	return f
}

func run(t *testing.T, mode string) (f found) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "/proc/self/exe")
	cmd.Env = append(os.Environ(), inside+"="+mode)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(out, &f); err != nil {
		t.Fatalf("%s: %v", out, err)
	}
	return f
}

func only(all []uint32, policy uint32) bool {
	return !slices.ContainsFunc(all, func(p uint32) bool { return p != policy })
}

func TestOffByDefault(t *testing.T) {
	f := run(t, "plain")
	if f.Locked || !only(f.Later, unix.SCHED_NORMAL) || f.ChildPolicy != unix.SCHED_NORMAL {
		t.Errorf("got %+v, want nothing changed", f)
	}
	for _, n := range f.Niceties[1:] {
		if n.Done || !strings.Contains(n.Why, "realtime: true") {
			t.Errorf("got %+v, want it not done for it was not asked for", n)
		}
	}
}

// TestRealtime wants what is told to be true, whatever is permitted where it runs.
func TestRealtime(t *testing.T) {
	f := run(t, "realtime")
	mem, prio := f.Niceties[1], f.Niceties[2]
	t.Logf("%+v", f.Niceties)
	if mem.Name != Memory || mem.Done != f.Locked {
		t.Errorf("told %+v, memory is locked: %v", mem, f.Locked)
	}
	want := uint32(unix.SCHED_NORMAL)
	if prio.Done {
		want = unix.SCHED_FIFO
	}
	if prio.Name != Priority || !only(f.Policies, want) || !only(f.Later, want) {
		t.Errorf("told %+v, the threads run under %v, later %v", prio, f.Policies, f.Later)
	}
	if f.ChildPolicy != unix.SCHED_NORMAL {
		t.Errorf("a child runs under policy %d: it must not inherit the guard's", f.ChildPolicy)
	}
	if mem.Why == "" || prio.Why == "" {
		t.Errorf("not explained: %+v", f.Niceties)
	}
}

// TestKeepEnds: it returns at once when nothing was asked for.
func TestKeepEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { Keep(t.Context(), Options{}) })
}

func TestSettle(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), "cat")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintln(in, "ready")
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	processors := ChildAffinity()
	if err := Settle(processors)(cmd.Process.Pid); err != nil {
		t.Fatal(err)
	}
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(cmd.Process.Pid, &set); err != nil {
		t.Fatal(err)
	}
	all := allowed()
	if len(all) > 1 && (set.IsSet(all[0]) || set.Count() != len(all)-1) {
		t.Errorf("the machine may run on %d processors, on the first: %v", set.Count(), set.IsSet(all[0]))
	}
	if len(all) == 1 && processors != nil {
		t.Errorf("one processor, machines get %v", processors)
	}
	// The system call answers 20 - niceness.
	if n, err := unix.Getpriority(unix.PRIO_PROCESS, cmd.Process.Pid); err != nil || 20-n != limits.MachineNice {
		t.Errorf("niceness %d (%v), want %d", 20-n, err, limits.MachineNice)
	}
	in.Close()
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	if err := Settle(nil)(cmd.Process.Pid); err == nil {
		t.Error("a process that is gone was settled")
	}
}
