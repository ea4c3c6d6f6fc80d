package endure

import (
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pal-terminal/pal/audit"
	"github.com/pal-terminal/pal/store/crash"
)

// A life with something of each kind, cut at each operation of its disk. What was told to clients is so when power is back, and
// nothing is done twice.
func TestCutAtEachOperation(t *testing.T) {
	s, f := newSetting(t), &figures{}
	var cuts atomic.Int64
	total := 0
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 0, s, f)
		d := crash.New(0)
		w.script(d, -1)
		total = d.Ops() + 5 // a run may take some more than another
	})
	if total < 50 {
		t.Fatalf("the script takes %d operations: it tests nothing", total)
	}
	ways, step := soak(4), 1
	if pace > 1 { // a part, each with another seed
		ways, step = 1, 3
	}
	for part := range runtime.GOMAXPROCS(0) {
		t.Run(fmt.Sprint("part ", part), func(t *testing.T) {
			t.Parallel()
			for n := part; n < total && !t.Failed(); n += step * runtime.GOMAXPROCS(0) {
				for way := range ways {
					seed := uint64(way)
					if ways == 1 {
						seed = uint64(n / 2 % 4)
					}
					synctest.Test(t, func(t *testing.T) { cutAt(t, n, seed, s, f) })
					cuts.Add(1)
				}
			}
		})
	}
	t.Cleanup(func() {
		t.Logf("cut at each %d. of %d operations, in %d ways each (%d cuts)\n%v", step, total, ways, cuts.Load(), f)
	})
}

func cutAt(t *testing.T, n int, seed uint64, s *setting, f *figures) {
	w := newWorld(t, uint64(n)<<8|seed, s, f)
	d := crash.New(seed)
	d.Unordered(seed%2 == 1)
	w.script(d, n)
	w.count.cuts.Add(1)
	d = d.Restart(seed)
	pass(time.Duration(seed+1) * 10 * time.Second)
	w.last = true
	all := func(int, *command) bool { return true }
	for range 2 { // what was answered after the cut is so after the next start
		l := w.back(d, -1, all)
		if l == nil {
			t.Fatal("no terminal")
		}
		pass(5 * time.Second) // what is owed is run
		l.end()
		r, err := audit.VerifyFiles(t.Context(), d, "audit", "", nil)
		if err != nil || r.Problem != "" {
			w.failf("the audit log of a terminal that ended does not verify: %v %s", err, r.Problem)
		}
	}
	w.doubles()
}

// script is the life. It ends in good order when the power stays.
func (w *world) script(d *crash.Disk, cutAfter int) {
	l := w.start(d, cutAfter)
	if l == nil {
		return
	}
	agent, other, human := l.dial(w.agent, "c0"), l.dial(w.agent, "c1"), l.dial(w.human, "h")
	w.do(agent, w.exec("c0", "pulse", "A0", 1000))
	w.do(agent, w.register("c0", 0, 1500*time.Millisecond))
	w.do(agent, w.register("c0", 7*time.Second, 0))
	w.do(agent, w.register("c0", 3*time.Second, 0))
	w.do(other, w.pinSet("c1", 1))
	w.look(human)
	pass(2 * time.Second)
	gone := w.tasks[2]
	if gone.id != "" {
		w.do(agent, w.cancel("c0", gone))
	}
	w.do(other, w.lease("c1"))
	w.do(agent, w.exec("c0", "on", "LEASED", 1000))
	w.do(other, w.exec("c1", "pulse", "LEASED", 1000))
	w.do(agent, w.exec("c0", "die", "A1", 1000))
	w.do(agent, w.exec("c0", "spin", "A2", 50))
	w.do(agent, w.exec("c0", "on", "A3", 1000))
	pass(6 * time.Second)
	w.do(agent, w.register("c0", 0, time.Hour))
	w.stop(agent)
	w.do(agent, w.exec("c0", "pulse", "A0", 1000))
	w.look(human)
	w.release(human)
	for _, j := range w.tasks {
		w.resume(human, j)
	}
	w.do(other, w.exec("c1", "toggle", "A1", 1000))
	w.do(other, w.pinSet("c1", 0))
	w.stop(human)
	pass(2 * time.Second)
	w.release(human)
	w.do(other, w.exec("c1", "read", "A1", 1000))
	w.stop(other)
	for _, p := range []*peer{agent, other, human} {
		p.leave()
	}
	l.end()
}
