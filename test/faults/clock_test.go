//go:build unix

package faults

import (
	"sync"
	"testing"
	"time"

	"github.com/pal-terminal/pal/protocol"
	"github.com/pal-terminal/pal/task"
	"github.com/pal-terminal/pal/test/terminal"
)

// clock runs as fast as the real one and can be set: the time of day, and, as after a suspend, both.
type clock struct {
	began time.Time

	mu     sync.Mutex // guards what follows
	wall   time.Time  // at began
	boot   time.Duration
	timers []*timer
}

func newClock(wall time.Time) *clock {
	return &clock{began: time.Now(), wall: wall, boot: time.Hour}
}

func (c *clock) Now() task.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	since := time.Since(c.began)
	return task.Time{Wall: c.wall.Add(since), Boot: c.boot + since}
}

// step sets the time of day.
func (c *clock) step(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wall = c.wall.Add(d)
}

func (c *clock) set(wall time.Time) { c.step(wall.Sub(c.Now().Wall)) }

// suspend is a sleep of the computer: timers that were due meanwhile wake at its end.
func (c *clock) suspend(d time.Duration) {
	c.mu.Lock()
	c.wall, c.boot = c.wall.Add(d), c.boot+d
	timers := c.timers
	c.mu.Unlock()
	for _, t := range timers {
		t.arm()
	}
}

func (c *clock) Timer() (task.Timer, error) {
	t := &timer{clock: c, c: make(chan struct{}, 1)}
	t.real = time.AfterFunc(time.Hour, func() {
		select {
		case t.c <- struct{}{}:
		default:
		}
	})
	c.mu.Lock()
	defer c.mu.Unlock()
	c.timers = append(c.timers, t)
	return t, nil
}

// timer is one of that clock.
type timer struct {
	clock *clock
	c     chan struct{}
	real  *time.Timer
	mu    sync.Mutex // guards due
	due   time.Duration
}

func (t *timer) C() <-chan struct{} { return t.c }
func (t *timer) Stop()              { t.real.Stop() }

func (t *timer) Set(boot time.Duration) {
	t.mu.Lock()
	t.due = boot
	t.mu.Unlock()
	t.arm()
}

func (t *timer) arm() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.real.Reset(t.due - t.clock.Now().Boot)
}

// Clocks that jump make no burst of runs, whatever the tasks are and whatever they want done about runs that they missed; the tasks go
// on, and those that need the time of day wait while it cannot be right.
func TestClockAttacks(t *testing.T) {
	const year = 365 * 24 * time.Hour
	now := time.Date(2026, 12, 1, 12, 0, 20, 0, time.UTC)
	for _, attack := range []struct {
		name  string
		do    func(*clock)
		waits bool
	}{
		{"+1 h", func(c *clock) { c.step(time.Hour) }, false},
		{"-1 h", func(c *clock) { c.step(-time.Hour) }, false},
		{"+1 y", func(c *clock) { c.step(year) }, false},
		{"-1 y", func(c *clock) { c.step(-year) }, true}, // before this program was made
		{"1970", func(c *clock) { c.set(time.Unix(5, 0)) }, true},
		{"1970 and back", func(c *clock) { c.set(time.Unix(5, 0)); c.set(now.Add(time.Second)) }, false},
		{"suspend for 1 h", func(c *clock) { c.suspend(time.Hour) }, false},
		{"to and fro", func(c *clock) {
			for range 20 {
				c.step(time.Hour)
				c.step(-time.Hour)
			}
		}, false},
	} {
		t.Run(attack.name, func(t *testing.T) {
			t.Parallel()
			c := newClock(now)
			r := start(t, terminal.Options{Clock: c, Board: newBoard(t, "open")})
			code := "Pin('FAN', Pin.OUT).toggle()"
			quick := protocol.Brief{Name: "quick", IntervalMS: new(int64(50)), Misfire: "all", Storage: "persistent", Resources: []protocol.ResourceUse{drives("FAN")}}
			ids := map[string]string{"quick": r.task(r.agent, code, quick)}
			ids["cron"] = r.task(r.agent, "pass", protocol.Brief{Name: "cron", Cron: "* * * * *", Misfire: "all", Storage: "persistent"})
			ids["hourly"] = r.task(r.agent, "pass", protocol.Brief{Name: "hourly", Cron: "0 * * * *", Misfire: "once", Storage: "persistent"})
			ids["at"] = r.task(r.agent, "pass", protocol.Brief{Name: "at", At: now.Add(30 * time.Minute).Format(time.RFC3339), Storage: "persistent"})
			ids["after"] = r.task(r.agent, "pass", protocol.Brief{Name: "after", AfterMS: new(int64(40 * 60_000)), Storage: "persistent"})
			eventually(t, "it runs", func() bool { return r.info(ids["quick"]).Runs >= 2 })
			before := r.info(ids["quick"]).Runs
			changes := r.watchLines()
			began := time.Now()
			attack.do(c)
			window := time.NewTimer(500 * time.Millisecond)
			<-window.C
			eventually(t, "it goes on", func() bool { return r.info(ids["quick"]).Runs > before+2 })
			runs, driven := r.info(ids["quick"]).Runs-before, len(changes())
			most := uint64(time.Since(began)/(50*time.Millisecond)) + 2
			if runs > most || uint64(driven) > most {
				t.Errorf("%d runs and %d drives in %v, want at most %d", runs, driven, time.Since(began), most)
			}
			for _, name := range []string{"cron", "hourly", "at", "after"} {
				i := r.info(ids[name])
				if i.Runs > 1 {
					t.Errorf("%s ran %d times", name, i.Runs)
				}
				if needs := name != "after"; needs && attack.waits != (i.State == "waiting_for_clock") && i.State != "done" {
					t.Errorf("%s is %s, waits for the clock: want %v", name, i.State, attack.waits)
				}
			}
			figure("clock %s: %d runs in %v", attack.name, runs, time.Since(began).Round(time.Millisecond))
			if attack.waits {
				c.set(now.Add(time.Minute))
				eventually(t, "the clock is right again", func() bool { return r.info(ids["hourly"]).State == "pending" })
				if i := r.info(ids["cron"]); i.Runs > 1 {
					t.Errorf("cron ran %d times when the clock was set", i.Runs)
				}
			}
		})
	}
}

// A terminal that starts before its clock is set keeps those that need it waiting, over the loss of power too.
func TestStartBeforeClock(t *testing.T) {
	dir := t.TempDir()
	now := time.Date(2026, 12, 1, 12, 0, 50, 0, time.UTC)
	r := start(t, terminal.Options{Clock: newClock(now), Dir: dir})
	cron := r.task(r.agent, "pass", protocol.Brief{Name: "cron", Cron: "* * * * *", Misfire: "all", Storage: "persistent"})
	quick := every("quick", 50*time.Millisecond)
	quick.Storage, quick.Misfire = "persistent", "all"
	id := r.task(r.agent, "pass", quick)
	r.end()
	c := newClock(time.Unix(100, 0))
	r = start(t, terminal.Options{Clock: c, Dir: dir})
	eventually(t, "cron waits for the clock", func() bool { return r.info(cron).State == "waiting_for_clock" })
	began := r.info(id).Runs
	eventually(t, "the interval runs on", func() bool { return r.info(id).Runs > began+1 })
	c.set(now.Add(2 * time.Hour))
	eventually(t, "cron goes on", func() bool { return r.info(cron).State != "waiting_for_clock" })
	window := time.NewTimer(300 * time.Millisecond)
	<-window.C
	if i := r.info(cron); i.Runs > 1 {
		t.Errorf("cron made up for %d runs after a step of the clock", i.Runs)
	}
}
