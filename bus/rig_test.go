package bus

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/pal-terminal/pal/board"
	"github.com/pal-terminal/pal/hw"
	"github.com/pal-terminal/pal/pin"
)

// rig is a gate on a fake.
type rig struct {
	*Gate
	t     *testing.T
	f     *fake
	table *pin.Table

	held chan struct{} // what hungAction made wait

	claims *claims

	mu     sync.Mutex // guards events
	events []Event
}

// agent may drive; reader may not.
var (
	agent  = pin.Caller{Name: "agent", Drive: true, Run: 1, Machine: "agent"}
	reader = pin.Caller{Name: "reader", Machine: "reader"}
)

func newRig(t *testing.T, src string, direct bool) *rig {
	t.Helper()
	d := parse(t, src)
	r := &rig{t: t, f: newFake(d, direct), claims: &claims{d: d}}
	table, err := pin.New(d, r.f, pin.Options{Claims: r.claims})
	if err != nil {
		t.Fatal(err)
	}
	r.table = table
	r.Gate = New(d, r.f, table, Options{OnEvent: func(e Event) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.events = append(r.events, e)
	}})
	return r
}

// claims are one claim at a time, of an actor or of its task, on pins by their ids.
type claims struct {
	d *board.Description

	mu          sync.Mutex // guards what follows
	actor, task string
	ids         []int
}

func (k *claims) take(actor, task string, ids ...int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.actor, k.task, k.ids = actor, task, ids
}

func (k *claims) drop() { k.take("", "") }

func (k *claims) Holder(c pin.Caller, h pin.Handle) (held, own bool, holder string, since time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	id, _ := k.d.Pins[h].ID.Number()
	if k.actor == "" || !slices.Contains(k.ids, id) {
		return false, false, "", time.Time{}
	}
	if k.task != "" {
		return true, c.Name == k.actor && c.Task == k.task, "task " + k.task + " (" + k.actor + ")", time.Unix(0, 0)
	}
	return true, c.Name == k.actor, k.actor, time.Unix(0, 0)
}

func (r *rig) end() {
	r.t.Helper()
	if err := errors.Join(r.Close(), r.table.Close()); err != nil {
		r.t.Error(err)
	}
}

// kinds returns "kind bus" of the events so far and forgets them.
func (r *rig) kinds() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var list []string
	for _, e := range r.events {
		list = append(list, e.Kind+" "+e.Bus)
	}
	r.events = nil
	return list
}

// do makes a call that must not be refused.
func (r *rig) do(c pin.Caller, call hw.Call) hw.Reply {
	r.t.Helper()
	reply, _, err := r.Call(r.t.Context(), c, call)
	if err != nil {
		r.t.Fatalf("operation %d: %v", call.Op, err)
	}
	return reply
}

// refused makes a call that must be refused by a rule.
func (r *rig) refused(c pin.Caller, call hw.Call, rule string) *pin.Refusal {
	r.t.Helper()
	_, _, err := r.Call(r.t.Context(), c, call)
	f, ok := errors.AsType[*pin.Refusal](err)
	if !ok || f.Rule != rule {
		r.t.Errorf("operation %d: got %v want a refusal by %q", call.Op, err, rule)
		return &pin.Refusal{}
	}
	return f
}

func (r *rig) open(text, settings string) uint16 {
	r.t.Helper()
	reply := r.do(agent, hw.Call{Op: hw.OpBusOpen, Text: text, Data: []byte(settings)})
	if reply.Errno != 0 {
		r.t.Fatalf("open %s: got %d %s", text, reply.Errno, reply.Text)
	}
	return uint16(reply.Value)
}

func (r *rig) h(name string) uint16 {
	r.t.Helper()
	h, err := r.table.Resolve(name)
	if err != nil {
		r.t.Fatal(err)
	}
	return uint16(h)
}

// set changes how the fake acts.
func (r *rig) set(act func(ctx context.Context, what string) error) {
	r.f.mu.Lock()
	defer r.f.mu.Unlock()
	r.f.act = act
}

func (r *rig) sent() []byte {
	r.f.mu.Lock()
	defer r.f.mu.Unlock()
	return r.f.wrote
}

func write(bus uint16, data ...byte) hw.Call {
	return hw.Call{Op: hw.OpI2C, Pin: bus, A: expander, Data: data}
}

func read(bus uint16, n int64) hw.Call {
	return hw.Call{Op: hw.OpI2C, Pin: bus, A: expander, C: n}
}
