package bus

import (
	"context"
	"strings"
	"testing"

	"github.com/pal-terminal/pal/hw"
	"github.com/pal-terminal/pal/pin"
)

// Callers of the two machines of a terminal.
var (
	taskOne = pin.Caller{Name: "agent", Drive: true, Run: 5, Machine: "tasks", Task: "001"}
	taskTwo = pin.Caller{Name: "agent", Drive: true, Run: 6, Machine: "tasks", Task: "002"}
	other   = pin.Caller{Name: "other", Drive: true, Run: 7, Machine: "agent"}
)

func openI2C(settings string) hw.Call {
	return hw.Call{Op: hw.OpBusOpen, Text: "i2c:0", Data: []byte(settings)}
}

// opened counts how often the driver was told to open i2c0 since the last look, and how often to close it.
func (r *rig) opened() (opens, closes int) {
	r.f.mu.Lock()
	defer r.f.mu.Unlock()
	for _, line := range r.f.log {
		switch {
		case strings.HasPrefix(line, "open i2c0"):
			opens++
		case strings.HasPrefix(line, "close i2c0"):
			closes++
		}
	}
	r.f.log = nil
	return opens, closes
}

// TestTwoMachinesShare: with equal settings the bus is opened once, works for both, and stays open until both are through with it.
func TestTwoMachinesShare(t *testing.T) {
	both(t, func(t *testing.T, r *rig) {
		r.open("i2c:0", `{"freq": 100000}`)
		r.do(taskOne, openI2C(`{"freq": 100000}`))
		if opens, closes := r.opened(); opens != 1 || closes != 0 {
			t.Errorf("the driver opened it %d times and closed it %d times", opens, closes)
		}
		for _, c := range []pin.Caller{agent, taskOne} {
			r.do(c, write(i2c0, 7))
		}
		f := r.refused(taskTwo, openI2C(`{"freq": 400000}`), pin.RuleInUse)
		if f.Code != "conflict" || f.Holder != "agent" || f.Errno != 16 {
			t.Errorf("got %+v", f)
		}
		r.refused(agent, openI2C(`{"freq": 100000, "timeout": 7}`), pin.RuleInUse)
		r.Forget(func(c pin.Caller) bool { return c.Machine == "agent" })
		r.do(taskOne, write(i2c0, 8))
		if got := r.Snapshot()[i2c0]; !got.Open || got.Holder != "agent" {
			t.Errorf("got %+v", got)
		}
		r.do(agent, hw.Call{Op: hw.OpBusClose, Pin: i2c0}) // it has it open no more
		r.do(taskOne, write(i2c0, 9))
		r.do(taskOne, openI2C(`{"freq": 50000}`)) // alone with it
		if opens, closes := r.opened(); opens != 1 || closes != 0 {
			t.Errorf("the driver opened it %d times and closed it %d times", opens, closes)
		}
		r.Forget(func(c pin.Caller) bool { return c.Task == "001" })
		if _, closes := r.opened(); closes != 1 {
			t.Errorf("the driver closed it %d times", closes)
		}
		r.refused(taskOne, write(i2c0, 1), RuleClosed)
		if got := string(r.sent()); got != "\x07\x07\x08\x09" {
			t.Errorf("sent %q", got)
		}
	})
}

// TestEachClosesForItself: deinit() of one machine leaves the bus to the other, whoever opened it first.
func TestEachClosesForItself(t *testing.T) {
	for _, first := range []pin.Caller{agent, taskOne} {
		both(t, func(t *testing.T, r *rig) {
			second := taskOne
			if first.Task != "" {
				second = agent
			}
			r.do(first, openI2C(""))
			r.do(second, openI2C(""))
			r.do(first, hw.Call{Op: hw.OpBusClose, Pin: i2c0})
			r.do(second, write(i2c0, 1))
			r.do(second, hw.Call{Op: hw.OpBusClose, Pin: i2c0})
			r.refused(second, write(i2c0, 1), RuleClosed)
			r.do(first, openI2C(`{"freq": 1000}`))
		})
	}
}

// TestClaimedBus: what a task has claimed only it opens, writes to and closes. Others may read.
func TestClaimedBus(t *testing.T) {
	both(t, func(t *testing.T, r *rig) {
		r.open("i2c:0", `{"freq": 100000}`)
		r.claims.take("agent", "001", 6, 7)
		for _, c := range []pin.Caller{agent, taskTwo, other} {
			for _, call := range []hw.Call{write(i2c0, 1), openI2C(`{"freq": 100000}`), openI2C(""), {Op: hw.OpBusClose, Pin: i2c0}} {
				f := r.refused(c, call, pin.RuleTaskHeld)
				if f.Code != "conflict" || f.Holder != "task 001 (agent)" {
					t.Errorf("got %+v", f)
				}
			}
		}
		if got := r.sent(); len(got) != 0 {
			t.Errorf("sent %q", got)
		}
		r.do(agent, read(i2c0, 1))
		r.do(agent, hw.Call{Op: hw.OpI2CScan, Pin: i2c0})
		r.opened()
		r.do(taskOne, openI2C(`{"freq": 400000}`)) // its own, so that it may change it
		if opens, closes := r.opened(); opens != 1 || closes != 0 {
			t.Errorf("the driver opened it %d times and closed it %d times", opens, closes)
		}
		r.do(taskOne, write(i2c0, 2))
		r.do(agent, read(i2c0, 1)) // still has it open
		r.claims.drop()
		r.do(agent, write(i2c0, 3))
		if got := string(r.sent()); got != "\x02\x03" {
			t.Errorf("sent %q", got)
		}
	})
}

// TestClaimedLine: one line that is claimed keeps the whole bus from being opened or written to, for everybody else.
func TestClaimedLine(t *testing.T) {
	both(t, func(t *testing.T, r *rig) {
		r.claims.take("other", "", 7)
		f := r.refused(agent, openI2C(""), pin.RuleLeaseHeld)
		if f.Holder != "other" || f.Resource != "SCL" {
			t.Errorf("got %+v", f)
		}
		r.do(other, openI2C(""))
		r.refused(agent, write(i2c0, 1), pin.RuleLeaseHeld)
		r.do(other, write(i2c0, 1))
		r.claims.take("other", "", 24, 25, 23)
		r.refused(agent, hw.Call{Op: hw.OpBitstream, Pin: r.h("STRIP"), Data: make([]byte, 17)}, pin.RuleLeaseHeld)
		r.refused(agent, hw.Call{Op: hw.OpOneWire, Pin: r.h("WIRE"), A: hw.OneWireReset}, pin.RuleLeaseHeld)
		r.refused(agent, hw.Call{Op: hw.OpCountOpen, Text: "FLOW", A: 1, B: -1}, pin.RuleLeaseHeld)
		r.do(other, hw.Call{Op: hw.OpBitstream, Pin: r.h("STRIP"), Data: make([]byte, 17)})
	})
}

// TestClaimWhileWaiting: a claim that is made while a write waits for its turn stands against it.
func TestClaimWhileWaiting(t *testing.T) {
	both(t, func(t *testing.T, r *rig) {
		r.open("i2c:0", "")
		inside, leave := make(chan struct{}), make(chan struct{})
		r.set(func(_ context.Context, what string) error {
			if what == "i2c" {
				inside <- struct{}{}
				<-leave
			}
			return nil
		})
		first, second := make(chan error, 1), make(chan error, 1)
		go func() {
			_, _, err := r.Call(t.Context(), agent, write(i2c0, 1))
			first <- err
		}()
		<-inside
		go func() {
			_, _, err := r.Call(t.Context(), other, write(i2c0, 2))
			second <- err
		}()
		r.claims.take("agent", "", 6)
		close(leave)
		if err := <-first; err != nil {
			t.Error(err)
		}
		if err := <-second; err == nil {
			t.Error("a write went on past a claim")
		}
		if got := string(r.sent()); got != "\x01" {
			t.Errorf("sent %q", got)
		}
	})
}

// TestGoneSharer: a program that has ended before it shares a bus does not hold it open.
func TestGoneSharer(t *testing.T) {
	both(t, func(t *testing.T, r *rig) {
		r.open("i2c:0", "")
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, _, _ = r.Call(ctx, taskOne, openI2C(""))
		r.Forget(func(c pin.Caller) bool { return c.Machine == "agent" })
		if got := r.Snapshot()[i2c0]; got.Open {
			t.Errorf("got %+v", got)
		}
	})
}

// TestSharerLeavesTransaction: who left a bus without a STOP and is gone, is gone: nobody goes on with its transaction.
func TestSharerLeavesTransaction(t *testing.T) {
	both(t, func(t *testing.T, r *rig) {
		r.open("i2c:0", "")
		r.do(taskOne, openI2C(""))
		first := write(i2c0, 1)
		first.B = hw.I2CNoStop
		r.do(taskOne, first)
		r.Forget(func(c pin.Caller) bool { return c.Machine == "tasks" })
		next := write(i2c0, 2)
		next.B = hw.I2CNoStart
		r.refused(taskOne, next, pin.RuleArgument) // the machine in its place has the same name
		r.do(agent, write(i2c0, 3))
	})
}
