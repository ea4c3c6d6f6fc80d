package bus

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pal-terminal/pal/board"
	"github.com/pal-terminal/pal/hw"
	"github.com/pal-terminal/pal/limits"
	"github.com/pal-terminal/pal/pin"
)

// inBubble runs a test where time passes only when everything waits, behind a driver that may wait.
func inBubble(t *testing.T, run func(t *testing.T, r *rig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, testBoard, false)
		defer r.end()
		run(t, r)
	})
}

// hang makes one action wait for what it returns to be closed, deaf to its context.
func (r *rig) hang(action string) chan struct{} {
	hold := make(chan struct{})
	r.set(func(_ context.Context, what string) error {
		if what == action {
			<-hold
		}
		return nil
	})
	return hold
}

// slow makes one action wait until its context ends.
func (r *rig) slow(action string) {
	r.set(func(ctx context.Context, what string) error {
		if what == action {
			<-ctx.Done()
			return ctx.Err()
		}
		return nil
	})
}

// late is when a caller of a short transfer at the usual clock must have its answer.
const late = limits.BusSlack + time.Millisecond + 100*time.Millisecond

func TestFaults(t *testing.T) {
	boom := errors.New("controller lost")
	tests := []struct {
		name   string
		set    func(r *rig)
		errno  int32
		events []string
		fault  bool // stays
	}{
		{"held", func(r *rig) { r.f.held[i2c0] = true }, 110, []string{"bus_fault i2c0", "bus_recovered i2c0"}, false},
		{"frozen", func(r *rig) { r.f.held[i2c0], r.f.frozen = true, true }, 110, []string{"bus_fault i2c0"}, true},
		{"slow", func(r *rig) { r.slow("i2c") }, 110, []string{"bus_fault i2c0", "bus_recovered i2c0"}, false},
		{"hung", func(r *rig) { r.hungAction("i2c") }, 110, []string{"bus_fault i2c0"}, true},
		{"error", func(r *rig) {
			r.set(func(_ context.Context, what string) error {
				if what == "i2c" {
					return boom
				}
				return nil
			})
		}, 5, nil, false},
		{"unsupported", func(r *rig) { r.set(func(context.Context, string) error { return board.ErrUnsupported }) }, 95, nil, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, r *rig) {
				bus := r.open("i2c:0", "")
				r.open("i2c:1", "")
				tt.set(r)
				start := time.Now()
				got := r.do(agent, write(bus, 1))
				if got.Errno != tt.errno || got.Text == "" {
					t.Errorf("got %+v want errno %d", got, tt.errno)
				}
				if took := time.Since(start); took > late {
					t.Errorf("got an answer after %s want at most %s", took, late)
				}
				if diff := cmp.Diff(tt.events, r.kinds()); diff != "" {
					t.Errorf("events: %s", diff)
				}
				if got := r.Snapshot()[i2c0].Fault; (got != "") != tt.fault {
					t.Errorf("fault: got %q", got)
				}
				r.free()
				if got := r.do(agent, write(i2c1, 2)); got.Errno != 0 {
					t.Errorf("another bus: got %+v", got)
				}
				// Whatever it was, once it is over the bus works and says so.
				r.f.mu.Lock()
				r.f.held[i2c0], r.f.frozen = false, false
				r.f.mu.Unlock()
				synctest.Wait()
				if got := r.do(agent, write(bus, 3)); got.Errno != 0 {
					t.Errorf("afterwards: got %+v", got)
				}
				if got := r.Snapshot()[i2c0].Fault; got != "" {
					t.Errorf("fault afterwards: got %q", got)
				}
				if got := len(r.kinds()); got != map[bool]int{true: 1}[tt.fault] {
					t.Errorf("events afterwards: got %d", got)
				}
			})
		})
	}
}

// hungAction hangs an action until free.
func (r *rig) hungAction(action string) { r.held = r.hang(action) }

// free ends whatever set, slow and hang began.
func (r *rig) free() {
	r.set(nil)
	if r.held != nil {
		close(r.held)
		r.held = nil
	}
}

// TestStuckDriver: it delays one caller, once; the bus is closed when it comes back.
func TestStuckDriver(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		bus := r.open("i2c:0", "")
		r.hungAction("i2c")
		r.do(agent, read(bus, 1))
		start := time.Now()
		if got := r.do(agent, read(bus, 1)); got.Errno != 110 || !strings.Contains(got.Text, "does not answer") {
			t.Errorf("the next call: got %+v", got)
		}
		if got := r.do(agent, hw.Call{Op: hw.OpBusOpen, Text: "i2c:0"}); got.Errno != 110 {
			t.Errorf("opening it again: got %+v", got)
		}
		r.do(agent, hw.Call{Op: hw.OpBusClose, Pin: bus})
		if took := time.Since(start); took != 0 {
			t.Errorf("calls on a stuck bus waited %s", took)
		}
		if _, err := r.table.Write(agent, pin.Handle(r.h("SDA")), 1); err == nil {
			t.Error("a line of a bus whose driver is stuck was given away")
		}
		r.free()
		synctest.Wait()
		if got := r.Snapshot()[i2c0]; got.Open || got.Fault != "" {
			t.Errorf("after the driver came back: got %+v", got)
		}
		if _, err := r.table.Write(agent, pin.Handle(r.h("SDA")), 1); err != nil {
			t.Errorf("its line: %v", err)
		}
		r.open("i2c:0", "")
	})
}

// TestStuckOpenAndClose: neither blocks, and both are made good.
func TestStuckOpenAndClose(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		for _, action := range []string{"open", "close"} {
			if action == "close" {
				r.open("i2c:0", "")
			}
			r.hungAction(action)
			start := time.Now()
			if action == "open" {
				if got := r.do(agent, hw.Call{Op: hw.OpBusOpen, Text: "i2c:0"}); got.Errno != 110 {
					t.Errorf("open: got %+v", got)
				}
			} else {
				r.do(agent, hw.Call{Op: hw.OpBusClose, Pin: i2c0})
			}
			if took := time.Since(start); took > late {
				t.Errorf("%s: got an answer after %s", action, took)
			}
			r.free()
			synctest.Wait()
			if got := r.Snapshot()[i2c0]; got.Open || got.Fault != "" {
				t.Errorf("%s: got %+v", action, got)
			}
			if got := r.table.Snapshot()[r.h("SDA")]; got.Mode == hw.ModeBus {
				t.Errorf("%s: its line is still a bus's", action)
			}
		}
	})
}

// TestStopEndsWrites: when Stop has returned, nothing is on its way to a device.
func TestStopEndsWrites(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		bus := r.open("i2c:0", `{"timeout":1000000}`)
		r.slow("i2c")
		got := make(chan error, 1)
		go func() {
			_, _, err := r.Call(context.Background(), agent, write(bus, 1))
			got <- err
		}()
		synctest.Wait()
		start := time.Now()
		if err := r.table.Stop("test"); err != nil {
			t.Errorf("stop: %v", err)
		}
		if took := time.Since(start); took != 0 {
			t.Errorf("stop waited %s for a driver that heeds its context", took)
		}
		if f, ok := errors.AsType[*pin.Refusal](<-got); !ok || f.Rule != pin.RuleEstop {
			t.Errorf("the write under way: got %v", f)
		}
		r.free()
		if f := r.refused(agent, write(bus, 2), pin.RuleEstop); f.Errno != 1 || f.Code != "estopped" {
			t.Errorf("got %+v", f)
		}
		for _, call := range []hw.Call{
			{Op: hw.OpI2C, Pin: bus, A: expander, Data: []byte{0}, C: 1}, {Op: hw.OpBusOpen, Text: "spi:1"},
			{Op: hw.OpBitstream, Pin: r.h("STRIP"), Data: make([]byte, 17)}, {Op: hw.OpDHT, Pin: r.h("PROBE")},
			{Op: hw.OpOneWire, Pin: r.h("PROBE")}, {Op: hw.OpPWM, Pin: r.h("LED"), A: 100, B: 1, C: -1},
		} {
			r.refused(agent, call, pin.RuleEstop)
		}
		if got := r.do(agent, read(bus, 1)); got.Errno != 0 {
			t.Errorf("a read: got %+v", got)
		}
		if got := r.do(agent, hw.Call{Op: hw.OpI2CScan, Pin: bus}); len(got.Data) != 2 {
			t.Errorf("a scan: got %+v", got)
		}
		if len(r.sent()) > 0 {
			t.Errorf("sent % x", r.sent())
		}
		if err := r.table.Clear(); err != nil {
			t.Fatal(err)
		}
		r.do(agent, write(bus, 4))
	})
}

// TestStopNamesABusThatDoesNotEnd: a driver deaf to its context.
func TestStopNamesABusThatDoesNotEnd(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		bus := r.open("i2c:0", "")
		r.hungAction("i2c")
		done := make(chan struct{})
		go func() {
			defer close(done)
			_, _, _ = r.Call(context.Background(), agent, write(bus, 1))
		}()
		synctest.Wait()
		start := time.Now()
		if err := r.table.Stop("test"); err == nil || !strings.Contains(err.Error(), "i2c0") {
			t.Errorf("stop: got %v", err)
		}
		if took := time.Since(start); took > limits.DriveTimeout {
			t.Errorf("stop waited %s", took)
		}
		<-done
		r.free()
		synctest.Wait()
		if err := r.table.Stop("again"); err != nil {
			t.Errorf("stop, after the driver came back: %v", err)
		}
	})
}

// TestGone: what a machine that is gone had opened is closed, also in the middle of a transfer, and only that.
func TestGone(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		bus := r.open("i2c:0", `{"timeout":1000000}`)
		r.do(agent, hw.Call{Op: hw.OpCountOpen, Text: "FLOW", A: 1, B: -1})
		other := pin.Caller{Name: "board", Drive: true, Machine: "board"}
		r.do(other, hw.Call{Op: hw.OpBusOpen, Text: "i2c:1"})
		r.slow("i2c")
		got := make(chan error, 2)
		for range 2 { // one under way, one waiting
			go func() {
				_, _, err := r.Call(context.Background(), agent, write(bus, 1))
				got <- err
			}()
		}
		synctest.Wait()
		start := time.Now()
		r.Forget(func(c pin.Caller) bool { return c.Machine == agent.Machine })
		if took := time.Since(start); took != 0 {
			t.Errorf("forgetting took %s", took)
		}
		for range 2 {
			if err := <-got; err != nil {
				if f, ok := errors.AsType[*pin.Refusal](err); !ok || f.Rule != RuleClosed {
					t.Errorf("got %v", err)
				}
			}
		}
		r.free()
		open := map[string]bool{}
		for _, s := range r.Snapshot() {
			open[s.Name] = s.Open
		}
		if open["i2c0"] || !open["i2c1"] {
			t.Errorf("open: got %v", open)
		}
		modeOf := map[string]hw.Mode{"SDA": hw.ModeOpenDrain, "FLOW": hw.ModeOut}
		for name := range modeOf {
			if _, err := r.table.Configure(agent, pin.Handle(r.h(name)), modeOf[name], hw.PullNone, 1); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		r.refused(agent, hw.Call{Op: hw.OpCount}, RuleClosed)
	})
}

// TestCancelledCaller: a program that is ended leaves the bus fit for the next.
func TestCancelledCaller(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		bus := r.open("i2c:0", `{"timeout":1000000}`)
		r.slow("i2c")
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(10*time.Millisecond, cancel)
		reply, _, err := r.Call(ctx, agent, write(bus, 1))
		if err != nil || reply.Errno != 110 {
			t.Errorf("got %+v, %v", reply, err)
		}
		r.free()
		if got := r.f.log[len(r.f.log)-1]; got != "recover i2c0" {
			t.Errorf("last done: %q", got)
		}
		if got := r.kinds(); len(got) > 0 {
			t.Errorf("events: got %v", got)
		}
		if got := r.do(agent, write(bus, 2)); got.Errno != 0 {
			t.Errorf("the next: got %+v", got)
		}
	})
}

// TestLateProtocol: a line whose protocol does not end is out of service, and safe once it has.
func TestLateProtocol(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.hungAction("bits")
		start := time.Now()
		f := r.refused(agent, hw.Call{Op: hw.OpBitstream, Pin: r.h("STRIP"), Data: make([]byte, 20)}, pin.RuleFault)
		if took := time.Since(start); took > limits.BusGrace+2*limits.DriveTimeout+time.Millisecond {
			t.Errorf("got %+v after %s", f, took)
		}
		if got := r.table.Snapshot()[r.h("STRIP")]; got.Fault == "" || !got.On {
			t.Errorf("got %+v", got)
		}
		r.free()
		synctest.Wait()
		if got := r.table.Snapshot()[r.h("STRIP")]; got.On || got.Level != 0 {
			t.Errorf("afterwards: got %+v", got)
		}
		if err := r.table.Clear(); err != nil {
			t.Fatal(err)
		}
		r.do(agent, hw.Call{Op: hw.OpBitstream, Pin: r.h("STRIP"), Data: make([]byte, 20)})
	})
}

// TestStopEndsProtocols: a one-wire transfer under way is broken off by a stop, which leaves the line safe.
func TestStopEndsProtocols(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.slow("onewire")
		got := make(chan error, 1)
		go func() {
			_, _, err := r.Call(context.Background(), agent, hw.Call{Op: hw.OpOneWire, Pin: r.h("PROBE"), A: hw.OneWireRead, B: 200})
			got <- err
		}()
		synctest.Wait()
		if _, err := r.table.Write(agent, pin.Handle(r.h("PROBE")), 0); err == nil {
			t.Error("a write got into the middle of a timed transfer")
		}
		start := time.Now()
		if err := r.table.Stop("test"); err != nil || time.Since(start) != 0 {
			t.Errorf("stop: got %v after %s", err, time.Since(start))
		}
		if f, ok := errors.AsType[*pin.Refusal](<-got); !ok || f.Rule != pin.RuleEstop {
			t.Errorf("got %v", f)
		}
		if got := r.table.Snapshot()[r.h("PROBE")]; got.On || got.Fault != "" || got.Level != 1 {
			t.Errorf("got %+v", got)
		}
	})
}
