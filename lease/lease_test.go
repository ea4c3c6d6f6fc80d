package lease

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pal-terminal/pal/board"
	"github.com/pal-terminal/pal/board/load"
	"github.com/pal-terminal/pal/board/sim"
	"github.com/pal-terminal/pal/limits"
	"github.com/pal-terminal/pal/pin"
)

// clock is a clock that the test turns.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// lines is a board of ten pins and a bus on two of them; pin 0 is the system's.
func lines(resource string) ([]pin.Handle, string, error) {
	switch {
	case resource == "i2c0":
		return []pin.Handle{6, 7}, "i2c0", nil
	case resource == "PUMP": // an alias of 5
		return []pin.Handle{5}, "PUMP", nil
	case resource == "0":
		return nil, "", refuse("denied", pin.RuleSystemPin, "BOOT", "BOOT belongs to the board itself")
	case len(resource) == 1 && resource[0] >= '1' && resource[0] <= '9':
		label := map[string]string{"5": "PUMP"}[resource]
		if label == "" {
			label = resource
		}
		return []pin.Handle{pin.Handle(resource[0] - '0')}, label, nil
	}
	return nil, "", refuse("not_found", pin.RuleUnknownPin, resource, "%q is no pin of this board", resource)
}

func newBook(t *testing.T, o Options) (*Book, *clock) {
	t.Helper()
	c := &clock{now: time.Now()}
	o.Now, o.Resolve = c.Now, lines
	return New(o), c
}

func drive(resources ...string) []Use {
	var list []Use
	for _, r := range resources {
		list = append(list, Use{r, true})
	}
	return list
}

func (b *Book) must(t *testing.T, actor string, conn uint64, uses []Use, ttl time.Duration, keep bool) Claim {
	t.Helper()
	c, err := b.Take(actor, conn, uses, ttl, keep)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func refused(t *testing.T, err error, code, rule string) *pin.Refusal {
	t.Helper()
	r, ok := errors.AsType[*pin.Refusal](err)
	if !ok || r.Code != code || r.Rule != rule {
		t.Errorf("got %+v want a refusal %s by %q", err, code, rule)
		return &pin.Refusal{}
	}
	return r
}

// may reports what the pin table is told.
func (b *Book) may(c pin.Caller, h pin.Handle) string {
	held, own, holder, _ := b.Holder(c, h)
	switch {
	case !held:
		return "free"
	case own:
		return "own"
	}
	return holder
}

var (
	ann      = pin.Caller{Name: "ann", Conn: 1}
	annElse  = pin.Caller{Name: "ann", Conn: 9}
	annTask  = pin.Caller{Name: "ann", Task: "001"}
	annMixed = pin.Caller{Name: "ann", Conn: 1, Shared: true}
	bob      = pin.Caller{Name: "bob", Conn: 2}
	bobTask  = pin.Caller{Name: "bob", Task: "001"} // says it is what it is not
)

func TestWhoMayDrive(t *testing.T) {
	b, _ := newBook(t, Options{})
	check := func(when string, h pin.Handle, want map[*pin.Caller]string) {
		t.Helper()
		for c, w := range want {
			if got := b.may(*c, h); got != w {
				t.Errorf("%s: pin %d, %+v: got %q want %q", when, h, *c, got, w)
			}
		}
	}
	check("empty", 5, map[*pin.Caller]string{&ann: "free", &bob: "free"})
	c := b.must(t, "ann", 1, append(drive("PUMP", "i2c0"), Use{"8", false}), time.Minute, false)
	if want := []pin.Handle{5, 6, 7}; !slices.Equal(c.Pins, want) {
		t.Errorf("got pins %v want %v", c.Pins, want)
	}
	for _, h := range c.Pins {
		check("leased", h, map[*pin.Caller]string{&ann: "own", &annElse: "own", &annTask: "own", &annMixed: "ann", &bob: "ann", &bobTask: "ann"})
	}
	check("read", 8, map[*pin.Caller]string{&ann: "free", &bob: "free"})
	check("beyond", 9, map[*pin.Caller]string{&ann: "free"})
	check("far beyond", 65_535, map[*pin.Caller]string{&ann: "free"})

	if err := b.TaskClaim("001", "ann", drive("5")); err != nil {
		t.Fatal(err)
	}
	check("task", 5, map[*pin.Caller]string{&ann: "task 001 (ann)", &annTask: "own", &bob: "task 001 (ann)", &bobTask: "task 001 (ann)"})
	check("task", 6, map[*pin.Caller]string{&ann: "own", &annTask: "own"})
	b.TaskRelease("001")
	b.TaskRelease("001")
	check("task gone", 5, map[*pin.Caller]string{&ann: "own", &annTask: "own", &bob: "ann"})
	if _, err := b.Release(c.ID, "ann", false); err != nil {
		t.Fatal(err)
	}
	check("released", 5, map[*pin.Caller]string{&ann: "free", &bob: "free"})
}

func TestTakeRefuses(t *testing.T) {
	b, clk := newBook(t, Options{Most: 3})
	ours := b.must(t, "ann", 1, drive("5"), time.Minute, false)
	if err := b.TaskClaim("001", "ann", drive("4")); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name, actor string
		uses        []Use
		ttl         time.Duration
		code, rule  string
		holder      string
	}{
		{"held", "bob", drive("5"), 0, "conflict", pin.RuleLeaseHeld, "ann"},
		{"alias", "bob", drive("PUMP"), 0, "conflict", pin.RuleLeaseHeld, "ann"},
		{"own", "ann", drive("5"), 0, "conflict", pin.RuleLeaseHeld, "ann"},
		{"task's", "bob", drive("4"), 0, "conflict", pin.RuleTaskHeld, "task 001 (ann)"},
		{"own task's", "ann", drive("4"), 0, "conflict", pin.RuleTaskHeld, "task 001 (ann)"},
		{"one of several", "bob", drive("1", "2", "5"), 0, "conflict", pin.RuleLeaseHeld, "ann"},
		{"system", "bob", drive("1", "0"), 0, "denied", pin.RuleSystemPin, ""},
		{"system, to read", "bob", []Use{{"0", false}}, 0, "denied", pin.RuleSystemPin, ""},
		{"unknown", "bob", drive("1", "NOSUCH"), 0, "not_found", pin.RuleUnknownPin, ""},
		{"nothing", "bob", nil, 0, "bad_request", pin.RuleArgument, ""},
		{"negative", "bob", drive("1"), -1, "bad_request", pin.RuleArgument, ""},
		{"too long", "bob", drive("1"), limits.LeaseLongest + 1, "bad_request", pin.RuleArgument, ""},
		{"too many", "bob", make([]Use, limits.BoardPins+1), 0, "bad_request", pin.RuleArgument, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := b.Take(tt.actor, 2, tt.uses, tt.ttl, false)
			r := refused(t, err, tt.code, tt.rule)
			if r.Holder != tt.holder || tt.holder != "" && !r.Since.Equal(clk.Now()) {
				t.Errorf("got holder %q since %s", r.Holder, r.Since)
			}
		})
	}
	for _, h := range []pin.Handle{1, 2} { // all or nothing
		if got := b.may(bob, h); got != "free" {
			t.Errorf("pin %d after refusals: got %q", h, got)
		}
	}
	if _, err := b.Take("bob", 2, []Use{{"5", false}, {"4", false}}, limits.LeaseLongest, false); err != nil {
		t.Errorf("to read what others have: %v", err)
	}
	b.must(t, "bob", 2, drive("1"), 0, false)
	_, err := b.Take("bob", 2, drive("2"), 0, false)
	refused(t, err, "full", "lease.full")
	if _, err := b.Release(ours.ID, "ann", false); err != nil {
		t.Fatal(err)
	}
	b.must(t, "bob", 2, drive("2"), 0, false)
}

func TestTaskClaimRefuses(t *testing.T) {
	b, clk := newBook(t, Options{})
	lease := b.must(t, "ann", 1, drive("5"), time.Minute, false)
	if err := b.TaskClaim("001", "ann", drive("4", "PUMP")); err != nil {
		t.Fatalf("on what its actor has leased: %v", err)
	}
	refused(t, b.TaskClaim("001", "ann", drive("1")), "conflict", pin.RuleTaskHeld)
	if r := refused(t, b.TaskClaim("002", "ann", drive("1", "5")), "conflict", pin.RuleTaskHeld); r.Holder != "task 001 (ann)" || r.Resource != "PUMP" {
		t.Errorf("got %+v", r)
	}
	b.TaskRelease("001")
	refused(t, b.TaskClaim("002", "bob", drive("5")), "conflict", pin.RuleLeaseHeld)
	clk.pass(time.Minute)
	refused(t, b.TaskClaim("002", "ann", drive("5")), "conflict", pin.RuleLeaseHeld) // its outputs are not safe yet
	b.Expire(clk.Now())
	if err := b.TaskClaim("002", "bob", drive("5")); err != nil {
		t.Error(err)
	}
	if got := b.List(); len(got) != 1 || got[0].ID != "002" || got[0].Task != "002" {
		t.Errorf("got %+v; the lease was %s", got, lease.ID)
	}
}

func TestRenewAndRelease(t *testing.T) {
	b, clk := newBook(t, Options{})
	if got := b.Next(); !got.IsZero() {
		t.Errorf("empty: next end %s", got)
	}
	start := clk.Now()
	c := b.must(t, "ann", 1, drive("5"), 0, false)
	if err := b.TaskClaim("001", "ann", drive("4")); err != nil {
		t.Fatal(err)
	}
	if got := c.Expires.Sub(start); got != limits.LeaseDefault || !b.Next().Equal(c.Expires) {
		t.Errorf("got %s, next %s", got, b.Next())
	}
	if !strings.Contains(c.Expires.String(), " m=") {
		t.Error("the end of a lease has no monotonic reading: a jump of the wall clock moves it")
	}
	_, err := b.Renew(c.ID, "bob", 0)
	refused(t, err, "denied", pin.RuleLeaseHeld)
	_, err = b.Renew("001", "ann", 0) // a task's is no lease
	refused(t, err, "not_found", "lease.unknown")
	_, err = b.Renew(c.ID, "ann", limits.LeaseLongest+1)
	refused(t, err, "bad_request", pin.RuleArgument)
	clk.pass(limits.LeaseDefault - 1)
	if got := b.Expire(clk.Now()); len(got) != 0 {
		t.Errorf("a nanosecond too soon: got %+v", got)
	}
	if c, err = b.Renew(c.ID, "ann", time.Hour); err != nil || !c.Expires.Equal(clk.Now().Add(time.Hour)) || !c.Since.Equal(start) {
		t.Errorf("got %+v, %v", c, err)
	}
	clk.pass(time.Hour)
	_, err = b.Renew(c.ID, "ann", 0)
	refused(t, err, "not_found", "lease.unknown")
	if got := b.may(ann, 5); got != "ann" {
		t.Errorf("past its end, its outputs not safe yet: got %q, so that somebody may drive", got)
	}
	if got := b.Expire(clk.Now()); len(got) != 1 || got[0].ID != c.ID {
		t.Errorf("got %+v", got)
	}
	if got := b.Next(); !got.IsZero() {
		t.Errorf("only a task is left: next end %s", got)
	}

	c = b.must(t, "ann", 1, drive("5"), 0, false)
	_, err = b.Release(c.ID, "bob", false)
	refused(t, err, "denied", pin.RuleLeaseHeld)
	_, err = b.Release("001", "ann", true)
	refused(t, err, "not_found", "lease.unknown")
	if got, err := b.Release(c.ID, "someone", true); err != nil || got.ID != c.ID || got.Actor != "ann" {
		t.Errorf("got %+v, %v", got, err)
	}
	_, err = b.Release(c.ID, "ann", false)
	refused(t, err, "not_found", "lease.unknown")
}

// TestConcurrentTakes: of many at once one gets it, whatever names they use for it.
func TestConcurrentTakes(t *testing.T) {
	b, _ := newBook(t, Options{})
	for range 200 {
		var wg sync.WaitGroup
		got := make(chan Claim, 8)
		for i := range 8 {
			wg.Go(func() {
				actor := string(rune('a' + i))
				c, err := b.Take(actor, 1, drive([]string{"5", "PUMP"}[i%2], string(rune('1'+i%3))), 0, false)
				if err == nil {
					got <- c
				}
			})
		}
		wg.Wait()
		close(got)
		var winners []Claim
		for c := range got {
			winners = append(winners, c)
		}
		if len(winners) != 1 {
			t.Fatalf("got %d holders: %+v", len(winners), winners)
		}
		if _, err := b.Release(winners[0].ID, winners[0].Actor, false); err != nil {
			t.Fatal(err)
		}
	}
}

// TestAliases: whatever a pin is called by, it is the same pin (T6).
func TestAliases(t *testing.T) {
	d, err := load.Builtin("bench-sim")
	if err != nil {
		t.Fatal(err)
	}
	drv, err := sim.New(d, sim.Options{})
	if err != nil {
		t.Fatal(err)
	}
	table, err := pin.New(d, drv, pin.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer table.Close()
	b := New(Options{Resolve: table.Lines})
	tried := 0
	for i := range d.Pins {
		p := &d.Pins[i]
		names := []string{string(p.ID), p.Name, "GPIO" + string(p.ID)}
		for _, first := range names {
			for _, second := range names {
				c, err := b.Take("ann", 1, drive(first), 0, false)
				if p.Owner == board.OwnerSystem {
					if rule(err) != pin.RuleSystemPin && rule(err) != pin.RuleUnknownPin {
						t.Errorf("%q of the system: got %v", first, err)
					}
					continue
				}
				if rule(err) == pin.RuleUnknownPin { // no number, or no name
					continue
				}
				if err != nil {
					t.Fatal(err)
				}
				if _, err = b.Take("bob", 2, drive(second), 0, false); rule(err) != pin.RuleLeaseHeld && rule(err) != pin.RuleUnknownPin {
					t.Errorf("%q is leased, %q: got %v", first, second, err)
				} else if r := rule(b.TaskClaim("001", "bob", drive(second))); r != rule(err) {
					t.Errorf("%q is leased, %q for a task: got %q", first, second, r)
				}
				if rule(err) == pin.RuleLeaseHeld {
					tried++
				}
				if _, err := b.Release(c.ID, "ann", false); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	if tried < 4*len(d.Pins)/2 {
		t.Errorf("%d pairs of names were tried", tried)
	}
}

// TestTwoTasksRace: of two tasks that claim a pin at once by different names one gets it, and only that one drives (T6).
func TestTwoTasksRace(t *testing.T) {
	d := description(t)
	for seed := range uint64(200) {
		w := newWorld(t, d, seed, true)
		var wg sync.WaitGroup
		drove := make(chan string, 2)
		for i, name := range []string{"NEED", "GPIO3"} {
			wg.Go(func() {
				id := []string{"001", "002"}[i]
				claimed := w.book.TaskClaim(id, "ann", drive(name)) == nil
				if err := w.switchOn(pin.Caller{Name: "ann", Task: id, Drive: true}, 3); (err == nil) != claimed {
					t.Errorf("task %s: claimed %v, drove: %v", id, claimed, err)
				} else if claimed {
					drove <- id
				}
			})
		}
		wg.Wait()
		if len(drove) != 1 {
			t.Fatalf("%d tasks drove", len(drove))
		}
		if err := w.table.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func BenchmarkHolder(bench *testing.B) {
	for name, uses := range map[string][]Use{"nothing": nil, "own": drive("5"), "other": drive("4")} {
		bench.Run(name, func(bench *testing.B) {
			b := New(Options{Resolve: lines})
			if uses != nil {
				if _, err := b.Take("ann", 1, uses, 0, false); err != nil {
					bench.Fatal(err)
				}
			}
			for bench.Loop() {
				b.Holder(ann, 5)
			}
		})
	}
}
