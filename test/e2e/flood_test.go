//go:build unix

package e2e

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/pal-terminal/pal/client"
	"github.com/pal-terminal/pal/limits"
	"github.com/pal-terminal/pal/transport"
)

// A thousand clients come at once. As many as there are places are served, the rest are refused quickly, `pal stop` still
// gets in, and no descriptor stays behind.
func TestThousandConnections(t *testing.T) {
	u := start(t)
	descriptors := func() int {
		entries, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", u.cmd.Process.Pid))
		if err != nil {
			t.Fatal(err)
		}
		return len(entries)
	}
	human := u.dial("", "watcher")
	if res, err := human.PinSet(u.ctx(), "RELAY_1", 1); err != nil || res.Error {
		t.Fatalf("PinSet: %v, %+v", err, res)
	}
	for late := time.Now().Add(30 * time.Second); ; { // machines that are still on their way have descriptors, too
		st, err := human.Status(u.ctx())
		if err != nil || time.Now().After(late) {
			t.Fatalf("the machines are not there: %v, %+v", err, st)
		}
		if len(st.Machines) == 3 && st.Machines[0].PID*st.Machines[1].PID*st.Machines[2].PID != 0 {
			break
		}
	}
	before := descriptors()
	target := client.Target{URL: "ws://" + u.addr + "/pal", Token: u.agent}

	const callers = 1000
	type answer struct {
		c    *client.Client
		err  error
		took time.Duration
	}
	answers := make(chan answer, callers)
	places := make(chan struct{}, 100) // so many dial at a time: what is tested is the terminal, not this process
	var wg sync.WaitGroup
	for range callers {
		wg.Go(func() {
			places <- struct{}{}
			defer func() { <-places }()
			began := time.Now()
			c, err := client.Dial(u.ctx(), target)
			answers <- answer{c, err, time.Since(began)}
		})
	}
	wg.Wait()
	close(answers)
	var served []*client.Client
	var slowest time.Duration
	for a := range answers {
		switch {
		case a.err == nil:
			served = append(served, a.c)
		case errors.Is(a.err, transport.ErrBusy), errors.Is(a.err, transport.ErrClosed):
			slowest = max(slowest, a.took)
		default:
			t.Errorf("a caller was turned away with %v, want busy", a.err)
		}
	}
	// Reserved places last a moment each, so a few more than the regular ones got in at one time or another.
	alive := 0
	for _, c := range served {
		if c.Ping(u.ctx()) == nil {
			alive++
		}
	}
	if most := limits.Connections + limits.ConnectionsReserved - 1; alive < limits.Connections-1 || alive > most {
		t.Errorf("served: got %d at one time, want %d to %d beside the watcher", alive, limits.Connections-1, most)
	}
	if slowest > 5*time.Second {
		t.Errorf("the slowest refusal took %v, want it quick", slowest)
	}

	stop := exec.Command(u.bin, "stop", "--state", u.state, "flood")
	began := time.Now()
	if out, err := stop.CombinedOutput(); err != nil {
		t.Errorf("pal stop in the flood: %v: %s", err, out)
	}
	t.Logf("%d alive, slowest refusal %v, stop took %v", alive, slowest, time.Since(began))
	if got := u.levels(human)["RELAY_1"]; got != 0 {
		t.Errorf("RELAY_1 after stop: got %d, want 0", got)
	}
	for _, c := range served {
		c.Close() // the terminal may have ended it
	}
	u.eventually("descriptors are back where they were", func() bool { return descriptors() <= before })
}
