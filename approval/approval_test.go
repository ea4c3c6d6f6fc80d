package approval

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pal-terminal/pal/limits"
	"github.com/pal-terminal/pal/pin"
)

const life = limits.ApprovalLife

// rig is a queue with a clock that the test turns.
type rig struct {
	*Queue
	t *testing.T

	mu     sync.Mutex // guards what follows
	now    time.Time
	events []map[string]any
}

func newRig(t *testing.T) *rig {
	r := &rig{t: t, now: time.Now()}
	r.Queue = New(Options{
		Now: func() time.Time { r.mu.Lock(); defer r.mu.Unlock(); return r.now },
		Event: func(name string, data map[string]any) {
			r.List() // without locks
			r.mu.Lock()
			defer r.mu.Unlock()
			if name != "approval_needed" {
				t.Errorf("event %q", name)
			}
			r.events = append(r.events, data)
		},
	})
	return r
}

func (r *rig) pass(d time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.now = r.now.Add(d)
}

// use returns what became of a drive: "yes", the id to be approved, or the rule against it.
func (r *rig) use(actor, source, pin string, run uint64) string {
	r.t.Helper()
	var code [32]byte
	if source != "" {
		code = sha256.Sum256([]byte(source))
	}
	ok, id, no := r.Use(actor, code, source, pin, run)
	switch {
	case no != nil:
		if ok || no.Resource != pin {
			r.t.Errorf("got %v with %+v", ok, no)
		}
		return no.Rule
	case ok:
		return "yes"
	}
	return id
}

func (r *rig) approve(id string) {
	r.t.Helper()
	if err := r.Decide(id, "maria", "human", true, ""); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) refused(err error, code, rule string) {
	r.t.Helper()
	no, ok := errors.AsType[*pin.Refusal](err)
	if !ok || no.Code != code || no.Rule != rule {
		r.t.Errorf("got %+v want %s by %q", err, code, rule)
	}
}

func (r *rig) want(what, got, want string) {
	r.t.Helper()
	if got != want {
		r.t.Errorf("%s: got %q want %q", what, got, want)
	}
}

func (r *rig) state(id string) string {
	got, ok := r.Get(id)
	if !ok {
		return "unknown"
	}
	return got.State
}

func TestOneGrantOneRun(t *testing.T) {
	r := newRig(t)
	id := r.use("ann", "MAIN.on()", "MAIN", 7)
	r.want("asked again", r.use("ann", "MAIN.on()", "MAIN", 7), id)
	r.want("asked again in another run", r.use("ann", "MAIN.on()", "MAIN", 8), id)
	if len(r.events) != 1 || r.events[0]["approval_id"] != id || r.events[0]["actor"] != "ann" || r.events[0]["pin"] != "MAIN" {
		t.Errorf("got events %v", r.events)
	}
	got, _ := r.Get(id)
	if got.Code != "MAIN.on()" || got.Verb != "drive" || got.State != Pending || got.CodeHash != sha256.Sum256([]byte("MAIN.on()")) {
		t.Errorf("got %+v", got)
	}
	r.approve(id)
	r.want("approved", r.use("ann", "MAIN.on()", "MAIN", 9), "yes")
	r.want("the same run", r.use("ann", "MAIN.on()", "MAIN", 9), "yes")
	second := r.use("ann", "MAIN.on()", "MAIN", 10)
	if second == "yes" || second == id {
		t.Errorf("another run: got %q", second)
	}
	r.want("the first run, while another asks", r.use("ann", "MAIN.on()", "MAIN", 9), "yes")
	r.pass(life - 1)
	r.want("the same run, late", r.use("ann", "MAIN.on()", "MAIN", 9), "yes")
	r.pass(1)
	if got := r.use("ann", "MAIN.on()", "MAIN", 9); got == "yes" || got == second {
		t.Errorf("a grant that is too old: got %q", got)
	}
	if got, _ := r.Get(id); got.State != Used || got.Run != 9 || got.By != "maria" || got.Code != "" {
		t.Errorf("got %+v", got)
	}
}

// TestGrantIsForExactlyThat: nothing but what was approved may use it.
func TestGrantIsForExactlyThat(t *testing.T) {
	for _, other := range []struct{ actor, source, pin string }{
		{"bob", "MAIN.on()", "MAIN"}, {"ann", "MAIN.on() ", "MAIN"}, {"ann", "MAIN.on()", "VALVE"}, {"ann", "", "MAIN"},
	} {
		r := newRig(t)
		id := r.use("ann", "MAIN.on()", "MAIN", 1)
		r.approve(id)
		if got := r.use(other.actor, other.source, other.pin, 1); got == "yes" || got == id {
			t.Errorf("%+v: got %q", other, got)
		}
		r.want("what was approved", r.use("ann", "MAIN.on()", "MAIN", 1), "yes")
	}
	r := newRig(t)
	r.approve(r.use("ann", "", "MAIN", 0))
	r.want("without a run, once", r.use("ann", "", "MAIN", 0), "yes")
	if got := r.use("ann", "", "MAIN", 0); got == "yes" {
		t.Error("a grant without a run was used twice")
	}
	for source, code := range map[string][32]byte{"x = 1": {}, "": {1}, "y": sha256.Sum256([]byte("x"))} {
		if ok, id, no := r.Use("ann", code, source, "MAIN", 1); ok || id != "" || no == nil || no.Rule != RuleState {
			t.Errorf("%q with another hash: got %v %q %v", source, ok, id, no)
		}
	}
}

func TestTooOld(t *testing.T) {
	r := newRig(t)
	id := r.use("ann", "a", "MAIN", 1)
	r.pass(life - 1)
	r.want("before its end", r.state(id), Pending)
	r.approve(id)
	r.pass(life - 1)
	r.want("approved lately", r.state(id), Approved)
	r.pass(1)
	if got := r.use("ann", "a", "MAIN", 1); got == "yes" || got == id {
		t.Errorf("an approval that is too old: got %q", got)
	}
	r.want("state", r.state(id), Expired)
	id = r.use("ann", "b", "MAIN", 1)
	r.pass(life)
	r.refused(r.Decide(id, "maria", "human", true, ""), "expired", RuleState)
	r.Sweep(r.now)
	r.want("state", r.state(id), Expired)
	if got, _ := r.Get(id); got.Code != "" || !strings.Contains(got.Expires.String(), " m=") {
		t.Errorf("got %+v", got)
	}
}

// TestWhoDecides is the matrix of roles (T21).
func TestWhoDecides(t *testing.T) {
	for _, class := range []string{"", "agent", "service", "hub", "Human", "admin"} {
		for _, actor := range []string{"ann", "bob"} {
			for _, yes := range []bool{true, false} {
				r := newRig(t)
				id := r.use("ann", "a", "MAIN", 1)
				r.refused(r.Decide(id, actor, class, yes, ""), "denied", RuleApprover)
				r.want("state", r.state(id), Pending)
			}
		}
	}
	r := newRig(t)
	id := r.use("maria", "a", "MAIN", 1) // a person whose own token has to ask
	r.refused(r.Decide(id, "maria", "human", true, ""), "denied", RuleApprover)
	r.refused(r.Decide(id, "maria", "human", false, ""), "denied", RuleApprover)
	r.refused(r.Decide("nosuch", "maria", "human", true, ""), "not_found", RuleState)
	if err := r.Decide(id, "otto", "human", true, strings.Repeat("é", limits.ReasonBytes)); err != nil {
		t.Error(err)
	}
	if got, _ := r.Get(id); got.By != "otto" || len(got.Reason) != limits.ReasonBytes {
		t.Errorf("got %+v", got)
	}
	for _, yes := range []bool{true, false} {
		r.refused(r.Decide(id, "tom", "human", yes, ""), "conflict", RuleState)
	}
	r.want("used", r.use("maria", "a", "MAIN", 1), "yes")
	r.refused(r.Decide(id, "tom", "human", true, ""), "conflict", RuleState)
}

func TestDenied(t *testing.T) {
	r := newRig(t)
	id := r.use("ann", "a", "MAIN", 1)
	if err := r.Decide(id, "maria", "human", false, "not while I am at it"); err != nil {
		t.Fatal(err)
	}
	r.want("asked again", r.use("ann", "a", "MAIN", 2), RuleDenied)
	r.pass(life - 1)
	r.want("asked again", r.use("ann", "a", "MAIN", 3), RuleDenied)
	r.pass(1)
	if got := r.use("ann", "a", "MAIN", 3); got == id || len(got) != len(id) {
		t.Errorf("much later: got %q", got)
	}
	if len(r.events) != 2 {
		t.Errorf("got %d events", len(r.events))
	}
}

// TestFlood: one actor cannot bury the others' requests, nor ask for ever (T20).
func TestFlood(t *testing.T) {
	r := newRig(t)
	for i := range limits.ApprovalsActor {
		if got := r.use("ann", fmt.Sprint(i), "MAIN", 1); got == RuleFull {
			t.Fatalf("request %d: got %q", i, got)
		}
	}
	r.want("one too many", r.use("ann", "more", "MAIN", 1), RuleFull)
	if len(r.events) != limits.ApprovalsActor {
		t.Errorf("got %d events", len(r.events))
	}
	for i := limits.ApprovalsActor; i < limits.Approvals; i++ {
		if got := r.use(fmt.Sprint("other", i/4), fmt.Sprint(i), "MAIN", 1); got == RuleFull {
			t.Fatalf("request %d: got %q", i, got)
		}
	}
	r.want("all full", r.use("bob", "x", "MAIN", 1), RuleFull)
	r.pass(life)
	for i := range limits.ApprovalAsks { // decided at once, so that few wait
		id := r.use("ann", fmt.Sprint("quick", i), "MAIN", 1)
		if err := r.Decide(id, "maria", "human", i%2 == 0, ""); err != nil {
			t.Fatal(i, err)
		}
		if got := r.use("ann", fmt.Sprint("quick", i), "MAIN", 1); got != map[bool]string{true: "yes", false: RuleDenied}[i%2 == 0] {
			t.Fatalf("decided: got %q", got)
		}
	}
	r.want("asked too often", r.use("ann", "again", "MAIN", 1), RuleFull)
	for i := range 2 * limits.ApprovalsKept {
		actor := fmt.Sprint("many", i)
		if got := r.use(actor, "x", "MAIN", 1); got == RuleFull {
			r.pass(life)
		}
		if got := len(r.List()); got > limits.ApprovalsKept {
			t.Fatalf("%d are kept", got)
		}
	}
	if got := len(r.List()); got != limits.ApprovalsKept {
		t.Errorf("got %d kept want %d", got, limits.ApprovalsKept)
	}
}

// TestRaces: of two who decide at once one does, and of two runs that use a grant at once one gets it (T19).
func TestRaces(t *testing.T) {
	for range 200 {
		r := newRig(t)
		id := r.use("ann", "a", "MAIN", 1)
		var wg sync.WaitGroup
		decided, used := make(chan bool, 2), make(chan bool, 2)
		for i := range 2 {
			wg.Go(func() { decided <- r.Decide(id, fmt.Sprint("person", i), "human", true, "") == nil })
		}
		wg.Wait()
		for i := range 2 {
			wg.Go(func() { used <- r.use("ann", "a", "MAIN", uint64(i+1)) == "yes" })
		}
		wg.Wait()
		if a, b := <-decided, <-decided; a == b {
			t.Fatalf("decided by %v and %v", a, b)
		}
		if a, b := <-used, <-used; a == b {
			t.Fatalf("used by %v and %v", a, b)
		}
	}
}

// TestOtherTerminal: an approval of one terminal is for nothing on another, nor after a restart.
func TestOtherTerminal(t *testing.T) {
	one, two := newRig(t), newRig(t)
	id := one.use("ann", "a", "MAIN", 1)
	other := two.use("ann", "a", "MAIN", 1)
	one.approve(id)
	if id == other {
		t.Errorf("both are %q", id)
	}
	two.want("on the other", two.use("ann", "a", "MAIN", 1), other)
	two.refused(two.Decide(id, "maria", "human", true, ""), "not_found", RuleState)
}
