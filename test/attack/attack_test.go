//go:build unix

// Package attack is the adversary: whatever a model and a client may send against the guard, as tables. A witness that knows
// nothing of the guard looks at the lines of the simulated board; what it sees against the rules is an ungated actuation, and
// there may be none.
package attack

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pal-terminal/pal/board"
	"github.com/pal-terminal/pal/board/load"
	"github.com/pal-terminal/pal/client"
	"github.com/pal-terminal/pal/hw"
	"github.com/pal-terminal/pal/identity"
	"github.com/pal-terminal/pal/protocol"
	"github.com/pal-terminal/pal/test/terminal"
)

// patience bounds the wait for an answer that never comes.
const patience = 30 * time.Second

// score counts over all tests: attacks made, and those that moved a line against the rules.
var score struct {
	sync.Mutex
	attacks, ungated int
}

func TestMain(m *testing.M) {
	code := m.Run()
	fmt.Printf("ungated actuations: %d of %d\n", score.ungated, score.attacks)
	os.Exit(code)
}

// rig is a terminal under attack.
type rig struct {
	*terminal.Terminal
	t       *testing.T
	witness *witness
	human   *client.Client
}

// attack starts a terminal on a board (nil: bench-sim) with a witness at its lines.
func attack(t *testing.T, desc *board.Description, rules rules) *rig {
	t.Helper()
	r := &rig{Terminal: terminal.Start(t, desc), t: t}
	if desc == nil {
		var err error
		if desc, err = load.Builtin("bench-sim"); err != nil {
			t.Fatal(err)
		}
	}
	r.witness = watch(t, desc, r.Sim.(board.Driver), rules)
	r.human = r.dial(r.Human)
	return r
}

func (r *rig) dial(token string) *client.Client {
	r.t.Helper()
	c, err := client.Dial(r.t.Context(), client.Target{URL: r.URL, Token: token})
	if err != nil {
		r.t.Fatalf("dial: %v", err)
	}
	r.t.Cleanup(func() { c.Close() }) // it may have ended
	return c
}

// actor makes a token with these scopes and dials with it.
func (r *rig) actor(name string, ask bool, scopes ...identity.Scope) *client.Client {
	r.t.Helper()
	token, _, err := r.Identity.Create(name, identity.Agent, scopes, ask, 0)
	if err != nil {
		r.t.Fatal(err)
	}
	return r.dial(token)
}

// exec runs a program and counts it as an attack.
func (r *rig) exec(c *client.Client, e protocol.Exec) *protocol.Result {
	r.t.Helper()
	r.witness.attacks++
	ctx, done := context.WithTimeout(r.t.Context(), patience)
	defer done()
	res, err := c.Exec(ctx, e)
	if err != nil {
		r.t.Fatalf("exec of %.60q: %v", e.Code, err)
	}
	return res
}

// reset makes a new machine.
func (r *rig) reset() {
	r.t.Helper()
	if err := r.human.Reset(r.t.Context(), ""); err != nil {
		r.t.Fatalf("reset: %v", err)
	}
}

// works checks that the next program of an actor runs.
func (r *rig) works(c *client.Client, after string) {
	r.t.Helper()
	ctx, done := context.WithTimeout(r.t.Context(), patience)
	defer done()
	res, err := c.Exec(ctx, protocol.Exec{Code: "print(1 + 2)", Session: "new"})
	if err != nil || res.Stdout != "3\n" || res.Error {
		r.t.Errorf("next exec after %s: got %+v, %v, want 3", after, res, err)
	}
}

// rules is what the witness holds the lines to, by name. It is written down here once more, so that the guard's own reading
// of the board file is not what it is measured by.
type rules struct {
	never   []string                         // may not move at all
	apart   [][2]string                      // never on together
	longest map[string]time.Duration         // on at most
	pause   map[string]time.Duration         // off at least
	unheard map[string]func() (allowed bool) // may be on only while this holds
}

// slack is what a busy machine may add to a time.
const slack = 250 * time.Millisecond

// witness follows every line of a board.
type witness struct {
	t       *testing.T
	rules   rules
	attacks int

	mu     sync.Mutex // guards what follows
	level  map[string]bool
	onAt   map[string]time.Time
	offAt  map[string]time.Time
	broken []string
}

func watch(t *testing.T, desc *board.Description, driver board.Driver, rules rules) *witness {
	w := &witness{t: t, rules: rules, level: map[string]bool{}, onAt: map[string]time.Time{}, offAt: map[string]time.Time{}}
	w.follow(desc, driver)
	t.Cleanup(w.close)
	return w
}

// follow looks at every line until the test ends.
func (w *witness) follow(desc *board.Description, driver board.Driver) {
	for i := range desc.Pins {
		name := desc.Pins[i].Label()
		cancel, err := driver.Watch(i, hw.EdgeRising|hw.EdgeFalling, func(rose bool, at time.Time) { w.see(name, rose, at) })
		if err != nil {
			w.t.Fatalf("watch %s: %v", name, err)
		}
		w.t.Cleanup(cancel)
	}
}

// see takes in a change of a line.
func (w *witness) see(name string, on bool, at time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.level[name] = on
	if slices.Contains(w.rules.never, name) {
		w.note("%s moved", name)
	}
	if !on {
		if most := w.rules.longest[name]; most > 0 && at.Sub(w.onAt[name]) > most+slack {
			w.note("%s was on for %v", name, at.Sub(w.onAt[name]))
		}
		w.offAt[name] = at
		return
	}
	for _, pair := range w.rules.apart {
		if slices.Contains(pair[:], name) && w.level[pair[0]] && w.level[pair[1]] {
			w.note("%s and %s were on together", pair[0], pair[1])
		}
	}
	if least := w.rules.pause[name]; least > 0 && !w.offAt[name].IsZero() && at.Sub(w.offAt[name]) < least-time.Millisecond {
		w.note("%s was off for %v only", name, at.Sub(w.offAt[name]))
	}
	if allowed := w.rules.unheard[name]; allowed != nil && !allowed() {
		w.note("%s went on when it may not", name)
	}
	w.onAt[name] = at
}

func (w *witness) note(format string, args ...any) {
	w.broken = append(w.broken, fmt.Sprintf(format, args...))
}

// close tells what was seen, and what is still on too long.
func (w *witness) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for name, most := range w.rules.longest {
		if w.level[name] && time.Since(w.onAt[name]) > most+slack {
			w.note("%s is still on after %v", name, time.Since(w.onAt[name]))
		}
	}
	if len(w.broken) > 0 {
		w.t.Errorf("ungated: %s", strings.Join(w.broken, "; "))
	}
	score.Lock()
	defer score.Unlock()
	score.attacks += w.attacks
	score.ungated += len(w.broken)
}

// usage is what this process, in which the guard lives, holds.
type usage struct {
	goroutines, descriptors int
	heap                    uint64
}

func measure(t *testing.T) usage {
	t.Helper()
	open, err := os.ReadDir("/dev/fd")
	if err != nil {
		t.Fatal(err)
	}
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return usage{runtime.NumGoroutine(), len(open), m.HeapAlloc}
}

// flat waits until no more is held than before, give or take what a machine being replaced needs.
func (r *rig) flat(before usage) {
	r.t.Helper()
	var now usage
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(patience); time.Now().Before(end); <-tick.C {
		now = measure(r.t)
		if now.goroutines <= before.goroutines+2 && now.descriptors <= before.descriptors+2 && now.heap <= before.heap+12<<20 {
			return
		}
	}
	r.t.Errorf("the guard grew: from %+v to %+v", before, now)
}

// A witness that saw nothing would make every attack a failure.
func TestWitness(t *testing.T) {
	r := &rig{Terminal: terminal.Start(t, benchBoard(t, "open")), t: t}
	w := &witness{
		t: t, level: map[string]bool{}, onAt: map[string]time.Time{}, offAt: map[string]time.Time{},
		rules: rules{
			never: []string{"SECRET"}, apart: [][2]string{{"LEFT", "LAMP"}}, pause: map[string]time.Duration{"LEFT": time.Hour},
			unheard: map[string]func() bool{"LAMP": func() bool { return false }},
		},
	}
	w.follow(benchBoard(t, "open"), r.Sim.(board.Driver))
	res, err := r.dial(r.Agent).Exec(t.Context(), protocol.Exec{Code: "for n in ('SECRET', 'LAMP', 'LEFT', 'LEFT'):\n  Pin(n).off()\n  Pin(n).on()"})
	if err != nil || res.Error {
		t.Fatalf("got %+v, %v", res, err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, want := range []string{"SECRET moved", "LAMP went on when it may not", "LEFT and LAMP were on together", "LEFT was off for"} {
		if !strings.Contains(strings.Join(w.broken, "; "), want) {
			t.Errorf("the witness saw %q, want %q too", w.broken, want)
		}
	}
}
