package lease

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pal-terminal/pal/board"
	"github.com/pal-terminal/pal/board/load"
	"github.com/pal-terminal/pal/board/sim"
	"github.com/pal-terminal/pal/hw"
	"github.com/pal-terminal/pal/pin"
)

const guardBoard = `board: guard
pins:
  - {id: 0, name: BOOT, owner: system}
  - {id: 1, name: LEFT, owner: agent, can: [out, pwm, bitstream], safe: low, interlock: [RIGHT]}
  - {id: 2, name: RIGHT, owner: agent, can: [out, pwm, bitstream], safe: low}
  - {id: 3, name: NEED, owner: agent, can: [out, pwm, bitstream], safe: low, lease_required: true}
  - {id: 4, name: HIGH, owner: agent, can: [out, pwm, bitstream], safe: high, lease_required: true}
  - {id: 5, name: PLAIN, owner: agent, can: [out, pwm, bitstream], safe: low}
  - {id: 6, name: SDA, owner: agent, can: [out, open_drain, i2c], safe: high}
  - {id: 7, name: SCL, owner: agent, can: [out, open_drain, i2c], safe: high}
buses:
  - {i2c: 0, sda: SDA, scl: SCL, owner: agent}
`

const pins = 8

// resources are all words for what can be claimed, with the pins they mean.
var resources = map[string][]pin.Handle{
	"LEFT": {1}, "1": {1}, "GPIO1": {1}, "RIGHT": {2}, "2": {2}, "NEED": {3}, "GPIO3": {3}, "HIGH": {4}, "PLAIN": {5}, "5": {5},
	"SDA": {6}, "7": {7}, "i2c0": {6, 7},
}

var words = slices.Sorted(func(yield func(string) bool) {
	for w := range resources {
		if !yield(w) {
			return
		}
	}
})

// eye stands between the table and the simulator and looks, at every drive, at what must never be.
type eye struct {
	*sim.Board
	d      *board.Description
	direct bool

	mu  sync.Mutex // guards what follows; makes a drive and the look at the lines one step
	pwm [pins]bool
	bad []string
}

func (e *eye) Immediate() bool { return e.direct }

func (e *eye) drive(p int, pwm bool, do func() error) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	err := do()
	e.pwm[p] = pwm && err == nil
	if e.on(1) && e.on(2) {
		e.bad = append(e.bad, "LEFT and RIGHT are on together")
	}
	return err
}

func (e *eye) Configure(p int, m hw.Mode, pull hw.Pull, level int) error {
	return e.drive(p, false, func() error { return e.Board.Configure(p, m, pull, level) })
}

func (e *eye) Set(p, level int) error {
	return e.drive(p, false, func() error { return e.Board.Set(p, level) })
}

func (e *eye) PWM(p int, freq int64, duty int) error {
	return e.drive(p, true, func() error { return e.Board.PWM(p, freq, duty) })
}

// on reports whether an output is on. Callers hold mu.
func (e *eye) on(p int) bool {
	level, err := e.Get(p)
	return e.pwm[p] || err != nil || level != e.d.Pins[p].Safe
}

// holder is who a claim of the model is of.
type holder struct {
	actor, task string
	pins        []pin.Handle
	conn        uint64
	ends        time.Duration
}

// world is a guard with a book, and beside it the plainest account of what they must do.
type world struct {
	t     testing.TB
	seed  uint64
	rand  *rand.Rand
	e     *eye
	table *pin.Table
	book  *Book
	start time.Time
	now   time.Duration // since start

	leases, tasks map[string]*holder
	on            [pins]bool
	stopped       bool
	what          string // the last operation
}

func newWorld(t testing.TB, d *board.Description, seed uint64, direct bool) *world {
	drv, err := sim.New(d, sim.Options{})
	if err != nil {
		t.Fatal(err)
	}
	w := &world{
		t: t, seed: seed, rand: rand.New(rand.NewPCG(seed, 1)), e: &eye{Board: drv, d: d, direct: direct}, start: time.Now(),
		leases: map[string]*holder{}, tasks: map[string]*holder{},
	}
	w.book = New(Options{
		Now: func() time.Time { return w.start.Add(w.now) }, Most: 6, Safe: w.safe,
		Resolve: func(r string) ([]pin.Handle, string, error) { return w.table.Lines(r) },
	})
	if w.table, err = pin.New(d, w.e, pin.Options{Claims: w.book}); err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *world) failf(format string, args ...any) {
	w.t.Helper()
	for _, s := range w.table.Snapshot() {
		if strings.Contains(s.Fault, "did not answer") { // on a machine that is too busy for a drive in limits.DriveTimeout; nothing more can be said
			panic(starved{})
		}
	}
	w.t.Fatalf("seed %d: %s: %s", w.seed, w.what, fmt.Sprintf(format, args...))
}

func rule(err error) string {
	if err == nil {
		return ""
	}
	if r, ok := errors.AsType[*pin.Refusal](err); ok {
		return r.Rule
	}
	return err.Error()
}

// safe is what a door does when claims end. Nobody gets in between: neither who held them nor another.
func (w *world) safe(ended []Claim) {
	for _, c := range ended {
		for _, h := range c.Pins {
			who := pin.Caller{Name: c.Actor, Task: c.Task, Drive: true}
			if got := rule(w.switchOn(who, h)); got != pin.RuleLeaseHeld && got != pin.RuleTaskHeld && got != pin.RuleEstop {
				w.failf("pin %d of a claim that is ending was driven: %q", h, got)
			}
			if _, err := w.book.Take("intruder", 1, []Use{{w.e.d.Pins[h].Name, true}}, 0, false); err == nil {
				w.failf("pin %d of a claim that is ending was leased", h)
			}
		}
		w.table.Safe("lease", func(d pin.Driven) bool { return slices.Contains(c.Pins, d.Handle) })
	}
}

func (w *world) switchOn(c pin.Caller, h pin.Handle) error {
	_, err := w.table.Write(c, h, 1-w.e.d.Pins[h].Safe)
	return err
}

// holds is the model's answer of who holds a pin, and whether c may drive it.
func (w *world) holds(c pin.Caller, h pin.Handle) (held string, own bool) {
	for id, k := range w.tasks {
		if slices.Contains(k.pins, h) {
			return pin.RuleTaskHeld, c.Task == id && c.Name == k.actor
		}
	}
	for _, k := range w.leases {
		if slices.Contains(k.pins, h) {
			return pin.RuleLeaseHeld, c.Name == k.actor && w.now < k.ends
		}
	}
	return "", false
}

// mayDrive is the rule that refuses a drive, "" when none does.
func (w *world) mayDrive(c pin.Caller, h pin.Handle, on bool) string {
	held, own := w.holds(c, h)
	switch {
	case w.stopped:
		return pin.RuleEstop
	case !on:
		return ""
	case held != "" && !own:
		return held
	case w.e.d.Pins[h].LeaseRequired && !own:
		return pin.RuleLease
	case h == 1 && w.on[2] || h == 2 && w.on[1]:
		return pin.RuleInterlock
	}
	return ""
}

// mayClaim is the rule that refuses a claim, "" when none does.
func (w *world) mayClaim(actor string, task bool, list []pin.Handle) string {
	slices.Sort(list)
	for _, h := range slices.Compact(list) {
		for _, k := range w.tasks {
			if slices.Contains(k.pins, h) {
				return pin.RuleTaskHeld
			}
		}
		for _, k := range w.leases {
			if slices.Contains(k.pins, h) && (!task || k.actor != actor || w.now >= k.ends) {
				return pin.RuleLeaseHeld
			}
		}
	}
	return ""
}

// lost takes a claim out of the model: what it held is off, but for what a task goes on with.
func (w *world) lost(k *holder) {
	for _, h := range k.pins {
		kept := false
		for _, other := range w.tasks {
			kept = kept || k.task == "" && slices.Contains(other.pins, h)
		}
		if !kept {
			w.on[h] = false
		}
	}
}

// loseLeases ends the leases that match and returns how many.
func (w *world) loseLeases(match func(id string, k *holder) bool) int {
	n := 0
	for id, k := range w.leases {
		if match(id, k) {
			delete(w.leases, id)
			w.lost(k)
			n++
		}
	}
	return n
}

func (w *world) someLease() (string, *holder) {
	ids := make([]string, 0, len(w.leases))
	for _, c := range w.book.List() {
		if c.Task == "" {
			ids = append(ids, c.ID)
		}
	}
	if len(ids) == 0 {
		return "lease_none", nil
	}
	id := ids[w.rand.IntN(len(ids))]
	return id, w.leases[id]
}

var actors = []string{"ann", "bob", "eve"}

// step does one operation on both and compares.
func (w *world) step() {
	actor := actors[w.rand.IntN(len(actors))]
	conn := uint64(w.rand.IntN(4) + 1)
	task := strconv.Itoa(w.rand.IntN(4))
	switch n := w.rand.IntN(20); n {
	case 0, 1, 2:
		w.take(actor, conn)
	case 3:
		w.taskClaim(actor, task)
	case 4:
		w.what = "task " + task + " ends"
		w.book.TaskRelease(task)
		if k := w.tasks[task]; k != nil {
			delete(w.tasks, task)
			w.lost(k)
		}
	case 5, 6:
		w.endOne(actor, n == 5)
	case 7:
		w.what = fmt.Sprintf("connection %d departs", conn)
		got := len(w.book.Departed(conn))
		if want := w.loseLeases(func(_ string, k *holder) bool { return k.conn == conn }); got != want {
			w.failf("%d leases ended, want %d", got, want)
		}
	case 8:
		w.what = actor + " is gone"
		got := len(w.book.ActorGone(actor))
		if want := w.loseLeases(func(_ string, k *holder) bool { return k.actor == actor }); got != want {
			w.failf("%d leases ended, want %d", got, want)
		}
	case 9:
		w.what = "expire"
		got := len(w.book.Expire(w.start.Add(w.now)))
		if want := w.loseLeases(func(_ string, k *holder) bool { return w.now >= k.ends }); got != want {
			w.failf("%d leases ended, want %d", got, want)
		}
	case 10:
		w.now += time.Duration(w.rand.IntN(40)) * time.Second // the sweep comes late, if at all
	case 11:
		w.what, w.stopped, w.on = "stop", true, [pins]bool{}
		if err := w.table.Stop("test"); err != nil {
			w.failf("%v", err)
		}
	case 12:
		w.what, w.stopped = "clear", false
		if err := w.table.Clear(); err != nil {
			w.failf("%v", err)
		}
	default:
		c := pin.Caller{Name: actor, Drive: true, Conn: conn}
		if w.rand.IntN(2) == 0 {
			c.Task = task
		}
		w.drive(c, pin.Handle(w.rand.IntN(7)+1))
	}
	w.compare()
}

func (w *world) uses() (uses []Use, list []pin.Handle) {
	for range w.rand.IntN(3) + 1 {
		u := Use{words[w.rand.IntN(len(words))], w.rand.IntN(4) > 0}
		uses = append(uses, u)
		if u.Drive {
			list = append(list, resources[u.Resource]...)
		}
	}
	return uses, list
}

func (w *world) take(actor string, conn uint64) {
	uses, list := w.uses()
	ttl, keep := time.Duration(w.rand.IntN(60)+1)*time.Second, w.rand.IntN(2) == 0
	w.what = fmt.Sprintf("%s takes %v for %s", actor, uses, ttl)
	c, err := w.book.Take(actor, conn, uses, ttl, keep)
	want := w.mayClaim(actor, false, list)
	if len(w.leases) >= 6 {
		want = "lease.full"
	}
	if got := rule(err); got != want {
		w.failf("got %q want %q", got, want)
	}
	if err == nil {
		k := &holder{actor: actor, pins: list, ends: w.now + ttl, conn: conn}
		if keep {
			k.conn = 0
		}
		w.leases[c.ID] = k
	}
}

func (w *world) taskClaim(actor, task string) {
	uses, list := w.uses()
	w.what = fmt.Sprintf("task %s of %s claims %v", task, actor, uses)
	want := w.mayClaim(actor, true, list)
	if w.tasks[task] != nil {
		want = pin.RuleTaskHeld
	}
	if got := rule(w.book.TaskClaim(task, actor, uses)); got != want {
		w.failf("got %q want %q", got, want)
	}
	if want == "" {
		w.tasks[task] = &holder{actor: actor, task: task, pins: list}
	}
}

// endOne releases or renews a lease.
func (w *world) endOne(actor string, release bool) {
	id, k := w.someLease()
	force := w.rand.IntN(4) == 0
	w.what = fmt.Sprintf("%s releases (%v) or renews %s", actor, release, id)
	want := ""
	switch {
	case k == nil || w.now >= k.ends:
		want = "lease.unknown"
	case k.actor != actor && (!release || !force):
		want = pin.RuleLeaseHeld
	}
	var err error
	if release {
		_, err = w.book.Release(id, actor, force)
	} else {
		_, err = w.book.Renew(id, actor, 50*time.Second)
	}
	if got := rule(err); got != want {
		w.failf("got %q want %q", got, want)
	}
	switch {
	case want != "":
	case release:
		w.loseLeases(func(other string, _ *holder) bool { return other == id })
	default:
		k.ends = w.now + 50*time.Second
	}
}

// drive switches an output on or off in one of the ways there are.
func (w *world) drive(c pin.Caller, h pin.Handle) {
	on, how := w.rand.IntN(3) > 0, w.rand.IntN(4)
	safe := w.e.d.Pins[h].Safe
	level := map[bool]int{true: 1 - safe, false: safe}[on]
	w.what = fmt.Sprintf("%+v drives %d on=%v, way %d", c, h, on, how)
	want, after := w.mayDrive(c, h, on), on
	var err error
	switch {
	case how == 0 && on && h < 6:
		_, err = w.table.PWM(c, h, 1000, 1, -1)
	case how == 1 && on && h < 6:
		_, err = w.table.Lend(context.Background(), c, h, board.CapBitstream, time.Second, func(context.Context) error { return nil })
		after = false
	case how == 2 && w.on[h] != on:
		_, err = w.table.Toggle(c, h)
	default:
		_, err = w.table.Write(c, h, level)
	}
	if got := rule(err); got != want {
		w.failf("got %q want %q", got, want)
	}
	if want == "" {
		w.on[h] = after
	}
}

// compare holds every line to the model.
func (w *world) compare() {
	w.e.mu.Lock()
	defer w.e.mu.Unlock()
	for h := 1; h < pins; h++ {
		if got := w.e.on(h); got != w.on[h] {
			w.failf("pin %d is on=%v, want %v", h, got, w.on[h])
		}
	}
	if len(w.e.bad) > 0 {
		w.failf("%v", w.e.bad)
	}
}

// soak multiplies the work of a test by PAL_SOAK.
func soak(n int) int {
	if more, err := strconv.Atoi(os.Getenv("PAL_SOAK")); err == nil && more > 0 {
		return n * more
	}
	return n
}

func description(t testing.TB) *board.Description {
	t.Helper()
	d, err := load.Bytes("guard.yaml", []byte(guardBoard), nil)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestGuardWithClaims: whatever actors, tasks, time and stops do, nobody drives what another holds, interlocked outputs are never on
// together, nothing is on under the latch, and what is lost is off.
func TestGuardWithClaims(t *testing.T) {
	d := description(t)
	for name, seeds := range map[string]int{"direct": 10_000, "workers": 500} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			lost := 0
			defer func() {
				if lost > seeds/10 {
					t.Errorf("%d of %d seeds were starved", lost, seeds)
				}
			}()
			for seed := range soak(seeds) {
				w := newWorld(t, d, uint64(seed), name == "direct")
				if !w.lives() {
					lost++
					w.table.Close()
				}
				if err := w.e.Close(); err != nil {
					w.failf("%v", err)
				}
			}
		})
	}
}
