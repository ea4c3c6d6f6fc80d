package lease

import (
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pal-terminal/pal/board/sim"
	"github.com/pal-terminal/pal/limits"
	"github.com/pal-terminal/pal/pin"
)

// TestLeaseEnds is every way in which a lease ends or does not, against what its output was doing. What ends leaves the output safe
// and free for the next; what does not leaves both as they are.
func TestLeaseEnds(t *testing.T) {
	ann := pin.Caller{Name: "ann", Conn: 1, Run: 7, Drive: true}
	bob := pin.Caller{Name: "bob", Conn: 2, Drive: true}
	expire := func(w *world) int { return len(w.book.Expire(w.start.Add(w.now))) }
	ways := []struct {
		name  string
		keep  bool
		end   func(w *world, c Claim) int // how many leases it ended
		ended bool
	}{
		{"expired", false, func(w *world, _ Claim) int { w.now += time.Minute; return expire(w) }, true},
		{"expired, kept", true, func(w *world, _ Claim) int { w.now += time.Minute; return expire(w) }, true},
		{"not yet", false, func(w *world, _ Claim) int { w.now += time.Minute - 1; return expire(w) }, false},
		{"renewed", false, func(w *world, c Claim) int {
			w.now += time.Minute - 1
			if _, err := w.book.Renew(c.ID, "ann", time.Minute); err != nil {
				w.failf("%v", err)
			}
			w.now += time.Minute - 1
			return expire(w)
		}, false},
		{"renewed late", false, func(w *world, c Claim) int {
			w.now += time.Minute
			if _, err := w.book.Renew(c.ID, "ann", time.Minute); rule(err) != "lease.unknown" {
				w.failf("renewed after its end: %v", err)
			}
			return expire(w)
		}, true},
		{"client killed", false, func(w *world, _ Claim) int { return len(w.book.Departed(1)) }, true},
		{"client killed, kept", true, func(w *world, _ Claim) int { return len(w.book.Departed(1)) }, false},
		{"no connection, kept", true, func(w *world, _ Claim) int { return len(w.book.Departed(0)) }, false},
		{"another client killed", false, func(w *world, _ Claim) int { return len(w.book.Departed(2)) }, false},
		{"actor revoked", true, func(w *world, _ Claim) int { return len(w.book.ActorGone("ann")) }, true},
		{"another revoked", true, func(w *world, _ Claim) int { return len(w.book.ActorGone("bob")) }, false},
		{"released", true, func(w *world, c Claim) int {
			if _, err := w.book.Release(c.ID, "ann", false); err != nil {
				w.failf("%v", err)
			}
			return 1
		}, true},
		{"ended twice at once", false, func(w *world, c Claim) int {
			w.now += time.Minute
			n := make(chan int, 3)
			var wg sync.WaitGroup
			wg.Go(func() { n <- expire(w) })
			wg.Go(func() { n <- len(w.book.Departed(1)) })
			wg.Go(func() { n <- len(w.book.ActorGone("ann")) })
			wg.Wait()
			return <-n + <-n + <-n
		}, true},
	}
	for _, way := range ways {
		for _, use := range []string{"unused", "on by an exec", "on by its task", "pwm", "off again"} {
			t.Run(way.name+"/"+use, func(t *testing.T) {
				w := newWorld(t, description(t), 0, true)
				w.what = way.name
				c := w.book.must(t, "ann", 1, drive("NEED", "i2c0"), time.Minute, way.keep)
				on := w.begin(use, ann)
				n := way.end(w, c)
				if want := map[bool]int{true: 1}[way.ended]; n != want {
					t.Errorf("%d leases ended, want %d", n, want)
				}
				w.e.mu.Lock()
				if got := w.e.on(3); got != (on && !way.ended) {
					t.Errorf("on is %v", got)
				}
				w.e.mu.Unlock()
				next, err := w.book.Take("bob", 2, drive("NEED"), 0, false)
				if (err == nil) != way.ended || rule(w.switchOn(bob, 3)) != map[bool]string{true: "", false: pin.RuleLeaseHeld}[way.ended] {
					t.Errorf("the next one: got %+v, %v", next, err)
				}
				if err := w.table.Close(); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// begin does with NEED what use says, and reports whether it is on after it.
func (w *world) begin(use string, c pin.Caller) (on bool) {
	w.t.Helper()
	var err error
	switch use {
	case "unused":
		return false
	case "pwm":
		_, err = w.table.PWM(c, 3, 1000, 100, -1)
	case "on by its task":
		c.Task = "009" // without resources of its own
		err = w.switchOn(c, 3)
	default:
		err = w.switchOn(c, 3)
	}
	if use == "off again" {
		_, err = w.table.Write(c, 3, 0)
	}
	if err != nil {
		w.failf("%v", err)
	}
	return use != "off again"
}

// TestTerminalRestarts: leases are in memory only. What was on is safe before anybody can ask, and nothing is held.
func TestTerminalRestarts(t *testing.T) {
	w := newWorld(t, description(t), 0, true)
	old := w.book.must(t, "ann", 1, drive("NEED"), time.Hour, true)
	ann := pin.Caller{Name: "ann", Drive: true}
	if err := w.switchOn(ann, 3); err != nil {
		t.Fatal(err)
	}
	// The process is gone without a word; the lines keep their levels.
	book := New(Options{Resolve: func(r string) ([]pin.Handle, string, error) { return w.table.Lines(r) }})
	table, err := pin.New(w.e.d, w.e, pin.Options{Claims: book})
	if err != nil {
		t.Fatal(err)
	}
	w.table, w.book = table, book
	if level, err := w.e.Get(3); level != 0 || err != nil {
		t.Errorf("after the start: got %d, %v", level, err)
	}
	if got := rule(w.switchOn(ann, 3)); got != pin.RuleLease {
		t.Errorf("got %q", got)
	}
	_, err = book.Renew(old.ID, "ann", 0)
	refused(t, err, "not_found", "lease.unknown")
	if len(book.List()) != 0 || len(book.Expire(time.Now().Add(limits.LeaseLongest))) != 0 {
		t.Error("something is held")
	}
	book.must(t, "bob", 2, drive("NEED"), 0, false)
}

// TestExpiryWhileADriverHangs: the lease ends, its other outputs are safe in time, and the book does not wait for ever.
func TestExpiryWhileADriverHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := description(t)
		var hangs atomic.Bool
		back := make(chan struct{})
		hook := func(action string, p int) error {
			if action == "set" && p == 3 && hangs.Load() {
				<-back
			}
			return nil
		}
		drv, err := sim.New(d, sim.Options{Hook: hook})
		if err != nil {
			t.Fatal(err)
		}
		w := &world{t: t, e: &eye{Board: drv, d: d}}
		w.book = New(Options{
			Resolve: func(r string) ([]pin.Handle, string, error) { return w.table.Lines(r) },
			Safe: func(list []Claim) {
				w.table.Safe("lease", func(d pin.Driven) bool { return slices.Contains(list[0].Pins, d.Handle) })
			},
		})
		if w.table, err = pin.New(d, drv, pin.Options{Claims: w.book}); err != nil {
			t.Fatal(err)
		}
		w.book.must(t, "ann", 1, drive("NEED", "PLAIN"), time.Minute, false)
		for _, h := range []pin.Handle{3, 5} {
			if err := w.switchOn(pin.Caller{Name: "ann", Drive: true}, h); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(time.Minute) //nolint:forbidigo // in a bubble: simulated time
		hangs.Store(true)
		time.AfterFunc(2*limits.DriveTimeout, func() { close(back) })
		start := time.Now()
		if got := len(w.book.Expire(start)); got != 1 {
			t.Errorf("%d leases ended", got)
		}
		if took := time.Since(start); took > limits.DriveTimeout {
			t.Errorf("took %s", took)
		}
		if level, _ := drv.Get(5); level != 0 {
			t.Error("an output was left on because another's driver hangs")
		}
		if got := w.table.Snapshot()[3].Fault; got == "" {
			t.Error("the output that hangs is not reported")
		}
		time.Sleep(3 * limits.DriveTimeout) //nolint:forbidigo // in a bubble: simulated time
		if level, _ := drv.Get(3); level != 0 {
			t.Error("it is on after its driver came back")
		}
		if err := w.table.Close(); err != nil {
			t.Error(err)
		}
	})
}

// TestHammer lets everybody do everything at once. What must never be is looked at inside the driver; in the end, when nobody holds
// anything, nothing that needs a lease is on.
func TestHammer(t *testing.T) {
	d := description(t)
	for _, direct := range []bool{true, false} {
		t.Run(fmt.Sprint("direct=", direct), func(t *testing.T) {
			w := newWorld(t, d, 0, direct)
			w.book.o.Now, w.book.o.Safe = time.Now, func(list []Claim) {
				for _, c := range list {
					w.table.Safe("lease", func(d pin.Driven) bool { return slices.Contains(c.Pins, d.Handle) })
				}
			}
			var wg sync.WaitGroup
			for g := range 6 {
				wg.Go(func() {
					actor := actors[g%3]
					for i := range soak(300) {
						c := pin.Caller{Name: actor, Drive: true, Conn: uint64(g + 1), Task: []string{"", fmt.Sprint(i % 3)}[g%2]}
						h := pin.Handle((g+i)%7 + 1)
						switch (g*5 + i) % 9 {
						case 0, 1:
							_, _ = w.book.Take(actor, c.Conn, drive(words[(g*7+i)%len(words)]), time.Millisecond, i%2 == 0)
						case 2:
							_ = w.book.TaskClaim(fmt.Sprint(i%3), actor, drive(words[(g+i)%len(words)]))
						case 3:
							w.book.TaskRelease(fmt.Sprint(i % 3))
							w.book.Departed(c.Conn)
						case 4:
							w.book.Expire(time.Now())
							w.book.List()
						case 5:
							if i%20 == 5 {
								_ = w.table.Stop("hammer")
							}
							_ = w.table.Clear()
							_, _ = w.table.PWM(c, h, 1000, 100, -1)
						default:
							_ = w.switchOn(c, h)
							runtime.Gosched()
						}
					}
				})
			}
			wg.Wait()
			for _, actor := range actors {
				w.book.ActorGone(actor)
			}
			for i := range 3 {
				w.book.TaskRelease(fmt.Sprint(i))
			}
			if got := w.book.List(); len(got) != 0 {
				t.Errorf("held in the end: %+v", got)
			}
			w.e.mu.Lock()
			if w.e.on(3) || w.e.on(4) || len(w.e.bad) > 0 {
				t.Errorf("NEED on %v, HIGH on %v, seen %v", w.e.on(3), w.e.on(4), w.e.bad)
			}
			w.e.mu.Unlock()
			if err := w.table.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}
