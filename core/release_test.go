package core

import (
	"context"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pal-terminal/pal/approval"
	"github.com/pal-terminal/pal/conns"
	"github.com/pal-terminal/pal/hw"
	"github.com/pal-terminal/pal/identity"
	"github.com/pal-terminal/pal/protocol"
)

// What an interrupt handler of before a release arms in the moment of the release drives nothing after it.
func TestHandlerThatOutlivesARelease(t *testing.T) {
	bubble(t, options{}, func(t *testing.T, r *rig) {
		inside, released := make(chan struct{}), make(chan struct{})
		first := sync.OnceFunc(func() { close(inside); <-released })
		r.agent.taught("(handler)", func(g *guest) *hw.Exception {
			first()
			if e := timer(1, 10*time.Millisecond, 0)(g); e != nil {
				return e
			}
			return g.drive("LED", 1)
		})
		agent, person := r.dial(r.bot), r.dial(r.human)
		r.run(agent, timer(1, 10*time.Millisecond, 0), protocol.Exec{})
		<-inside
		person.request("stop", "1", &protocol.Stop{})
		person.ack("1")
		person.request("estop_clear", "2", &protocol.EstopClear{})
		person.ack("2")
		close(released)
		pass(time.Second)
		r.wantLevel("after the release", "LED", 0)
	})
}

// What waited for the disk while the e-stop was set and released is not done.
func TestRequestThatOutlivesARelease(t *testing.T) {
	bubble(t, options{}, func(t *testing.T, r *rig) {
		epoch := r.table.Epoch()
		check(t, r.table.Stop("smoke"))
		check(t, r.table.Clear())
		id := "1"
		k := conns.New(context.Background(), nil, Peer{})
		defer k.End()
		w := &who{Actor: identity.Actor{Name: "a", Class: identity.Agent, Scopes: []identity.Scope{identity.Actuate}}}
		req := &protocol.Request{ID: &id, Type: protocol.TypePinSet, Body: &protocol.PinSet{Pin: "LED", Value: 1}}
		if out := r.core.do(k, w, req, epoch); !strings.Contains(string(out.Sent), `"code":"interrupted"`) {
			t.Errorf("of before: got %s, want it interrupted", out.Sent)
		}
		r.wantLevel("of before", "LED", 0)
		r.core.do(k, w, req, r.table.Epoch())
		r.wantLevel("of now", "LED", 1)
	})
}

// latchDisk is the disk of a latch.
type latchDisk struct {
	mu  sync.Mutex
	set bool
}

func (d *latchDisk) put(set bool) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.set = set
	return nil
}

func (d *latchDisk) Set(string, string, time.Time) error { return d.put(true) }
func (d *latchDisk) Clear() error                        { return d.put(false) }

// A stop that comes while the terminal closes is on the disk when it has.
func TestStopDuringClose(t *testing.T) {
	bubble(t, options{}, func(t *testing.T, r *rig) {
		disk := &latchDisk{}
		r.core.latch.Disk = disk
		slow := make(chan struct{})
		r.agent.taught("slow", func(*guest) *hw.Exception { <-slow; return nil })
		c := r.dial(r.bot)
		c.exec("1", "slow")
		synctest.Wait()
		ended := make(chan error)
		go func() { ended <- r.close() }()
		synctest.Wait()
		c.request("stop", "2", &protocol.Stop{})
		c.ack("2")
		close(slow)
		c.wantCode("1", "")
		check(t, <-ended)
		if !disk.set {
			t.Error("the stop was answered and is not on the disk")
		}
	})
}

const dangerous = `
board: press
mode: open
board_py: board.py
pins:
  - {id: 1, name: RAM, owner: agent, can: [out], safe: low, danger: high}
drivers: {kind: sim}
`

// A person who approves a call of a tool approves that call, and no other tool's.
func TestApprovalOfATool(t *testing.T) {
	bubble(t, options{yaml: dangerous}, func(t *testing.T, r *rig) {
		r.offers("def g(n):\n    pass\n", "g")
		r.agent.taught("(func f)", drives("RAM", 1))
		r.agent.taught("(func g)", drives("RAM", 1))
		token, _, err := r.identity.Create("asker", identity.Agent, []identity.Scope{identity.Read, identity.Exec, identity.Actuate}, true, 0)
		check(t, err)
		c := r.dial(token)
		c.exec("0", "def g(n):\n    pass\n")
		c.wantCode("0", "")
		call := func(id, tool, args string) string {
			c.request("tool", id, &protocol.Tool{Tool: tool, Args: []byte(args)})
			return c.wantCode(id, protocol.CodeApprovalNeeded).ApprovalID
		}
		board, one, two := call("1", "f", `{}`), call("2", "g", `{"n":1}`), call("3", "g", `{"n":2}`)
		if board == one || one == two || two == board {
			t.Errorf("got approvals %s, %s and %s, want one for each", board, one, two)
		}
		asked, _ := r.core.cfg.Approvals.Get(one)
		if !strings.HasPrefix(asked.Code, "tool g ") || !strings.Contains(asked.Code, "1") {
			t.Errorf("a person sees %q, want the call", asked.Code)
		}
		check(t, r.core.cfg.Approvals.Decide(one, "maria", string(identity.Human), true, ""))
		if got := call("4", "f", `{}`); got != board {
			t.Errorf("another tool: got %s, want %s", got, board)
		}
		r.wantLevel("before what was approved", "RAM", 0)
		c.request("tool", "5", &protocol.Tool{Tool: "g", Args: []byte(`{"n":1}`)})
		c.wantCode("5", "")
		r.wantLevel("what was approved", "RAM", 1)
		if asked, _ = r.core.cfg.Approvals.Get(one); asked.State != approval.Used {
			t.Errorf("got %s, want it used", asked.State)
		}
	})
}

// board.py runs in everybody's machine and drives in its own name: only a person changes it, who may drive.
func TestWhoAppliesBoardPy(t *testing.T) {
	bubble(t, options{yaml: shop}, func(t *testing.T, r *rig) {
		kept := ""
		r.core.cfg.Apply = func(source []byte) error { kept = string(source); return nil }
		all := []identity.Scope{identity.Read, identity.Exec, identity.Actuate}
		for _, test := range []struct {
			name   string
			class  identity.Class
			scopes []identity.Scope
			ask    bool
			want   bool
		}{
			{"reader", identity.Human, all[:1], false, false},
			{"coder", identity.Agent, all[:2], false, false},
			{"asker", identity.Agent, all, true, false},
			{"agent", identity.Agent, all, false, false},
			{"person", identity.Human, all, true, true},
		} {
			token, _, err := r.identity.Create(test.name, test.class, test.scopes, test.ask, 0)
			check(t, err)
			c := r.dial(token)
			kept = ""
			c.request("board", "1", &protocol.Board{Op: "apply", Source: "x = 1 # " + test.name, Confirm: r.core.boardHash()})
			c.read()
			if got := kept != ""; got != test.want {
				t.Errorf("%s: applied %v, want %v", test.name, got, test.want)
			}
			c.leave()
		}
	})
}
