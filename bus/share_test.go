package bus

import (
	"context"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/pal-terminal/pal/board"
	"github.com/pal-terminal/pal/hw"
	"github.com/pal-terminal/pal/pin"
)

// TestOpenAgainFails: who had the bus keeps it.
func TestOpenAgainFails(t *testing.T) {
	both(t, func(t *testing.T, r *rig) {
		bus := r.open("i2c:0", "")
		r.set(func(_ context.Context, what string) error {
			if what == "open" {
				return board.ErrUnsupported
			}
			return nil
		})
		r.claims.take("other", "", 6, 7, 8, 9)
		other := pin.Caller{Name: "other", Drive: true, Machine: "board"}
		for _, text := range []string{"i2c:0", "i2c:1"} {
			if got := r.do(other, hw.Call{Op: hw.OpBusOpen, Text: text, Data: []byte(`{"freq": 100000}`)}); got.Errno != 95 {
				t.Errorf("%s: got %+v", text, got)
			}
		}
		r.claims.drop()
		if got := r.Snapshot(); got[i2c0].Holder != "agent" || got[i2c1].Open {
			t.Errorf("got %+v", got)
		}
		if got := r.do(agent, write(bus, 1)); got.Errno != 0 {
			t.Errorf("got %+v", got)
		}
	})
}

// TestOpenerGone: a program that ends while its bus is being opened leaves nothing open.
func TestOpenerGone(t *testing.T) {
	both(t, func(t *testing.T, r *rig) {
		ctx, cancel := context.WithCancel(t.Context())
		r.set(func(_ context.Context, what string) error {
			if what == "open" {
				cancel()
			}
			return nil
		})
		_, _, _ = r.Call(ctx, agent, hw.Call{Op: hw.OpBusOpen, Text: "i2c:0"})
		if got := r.Snapshot()[i2c0]; got.Open {
			t.Errorf("got %+v", got)
		}
	})
}

// TestNoByteAfterStop: writers that never rest, and stops in between. When Stop has returned nothing more is sent.
func TestNoByteAfterStop(t *testing.T) {
	// Behind an immediate driver: nothing here depends on how long a busy machine takes.
	r := newRig(t, testBoard, true)
	defer r.end()
	for _, text := range []string{"i2c:0", "i2c:1", "uart:1"} {
		r.open(text, "")
	}
	done := make(chan struct{})
	var wg sync.WaitGroup
	for _, call := range []hw.Call{write(i2c0, 1), write(i2c1, 2), {Op: hw.OpUARTWrite, Pin: uart1, Data: []byte{3}}} {
		wg.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
					_, _, _ = r.Call(context.Background(), agent, call)
				}
			}
		})
	}
	for range 100 {
		if err := r.table.Stop("test"); err != nil {
			t.Error(err)
		}
		before := len(r.sent())
		for range 10 {
			runtime.Gosched()
		}
		if after := len(r.sent()); after != before {
			t.Errorf("%d bytes were sent after a stop", after-before)
		}
		if err := r.table.Clear(); err != nil {
			t.Error(err)
		}
		for len(r.sent()) == before {
			runtime.Gosched()
		}
	}
	close(done)
	wg.Wait()
}

// TestEngineeringMode: nobody but board.py gets at a bus, to read neither.
func TestEngineeringMode(t *testing.T) {
	r := newRig(t, strings.Replace(testBoard, "mode: open", "mode: engineering", 1), true)
	defer r.end()
	py := pin.Caller{Name: "agent", Drive: true, Board: true, Machine: "board"}
	r.refused(agent, hw.Call{Op: hw.OpBusOpen, Text: "i2c:0"}, pin.RuleEngineering)
	r.do(py, hw.Call{Op: hw.OpBusOpen, Text: "i2c:0"})
	for _, call := range []hw.Call{
		write(i2c0, 1), read(i2c0, 1), {Op: hw.OpI2CScan, Pin: i2c0}, {Op: hw.OpBusClose, Pin: i2c0},
		{Op: hw.OpCountOpen, Text: "FLOW", A: 1, B: -1}, {Op: hw.OpPWM, Pin: r.h("LED"), A: 1, C: -1},
		{Op: hw.OpDHT, Pin: r.h("PROBE")}, {Op: hw.OpBitstream, Pin: r.h("STRIP"), Data: make([]byte, 16)},
	} {
		r.refused(agent, call, pin.RuleEngineering)
	}
	r.do(py, write(i2c0, 1))
}

// TestClosed: after Close everything is refused and nothing is left open.
func TestClosed(t *testing.T) {
	both(t, func(t *testing.T, r *rig) {
		bus := r.open("i2c:0", "")
		r.do(agent, hw.Call{Op: hw.OpCountOpen, Text: "FLOW", A: 1, B: -1})
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		r.refused(agent, write(bus, 1), pin.RuleClosed)
		if got := r.f.log[len(r.f.log)-1]; got != "close i2c0" {
			t.Errorf("last done: %q", got)
		}
		if _, _, err := r.Call(t.Context(), agent, hw.Call{Op: hw.OpBusOpen, Text: "i2c:0"}); err == nil {
			t.Error("a bus was opened after Close")
		}
		r.refused(agent, hw.Call{Op: hw.OpCountOpen, Text: "FLOW", A: 1, B: -1}, pin.RuleClosed)
		if got := len(r.f.open); got != 0 {
			t.Errorf("%d buses are open", got)
		}
	})
}

// TestTurns: transfers of one bus never overlap, and each gets its own answer.
func TestTurns(t *testing.T) {
	both(t, func(t *testing.T, r *rig) {
		bus := r.open("i2c:0", "")
		var mu sync.Mutex
		inside := 0
		r.set(func(_ context.Context, what string) error {
			if what == "i2c" {
				mu.Lock()
				inside++
				if inside > 1 {
					t.Error("two transfers at once")
				}
				mu.Unlock()
				defer func() { mu.Lock(); inside--; mu.Unlock() }()
				runtime.Gosched()
			}
			return nil
		})
		var wg sync.WaitGroup
		for g := range 4 {
			wg.Go(func() {
				for range 50 {
					reply, _, err := r.Call(t.Context(), agent, hw.Call{Op: hw.OpI2C, Pin: bus, A: expander, Data: []byte{byte(g)}, C: 1})
					if err != nil || reply.Data[0] != byte(g) {
						t.Errorf("got %+v, %v want %d", reply, err, g)
					}
				}
			})
		}
		wg.Wait()
	})
}

// TestKeptBus: only who left the bus without a STOP goes on without a START.
func TestKeptBus(t *testing.T) {
	both(t, func(t *testing.T, r *rig) {
		bus := r.open("i2c:0", "")
		first := write(bus, 1)
		first.B = hw.I2CNoStop
		r.do(agent, first)
		next := write(bus, 2)
		next.B = hw.I2CNoStart
		r.refused(pin.Caller{Name: "agent", Drive: true, Machine: "board"}, next, pin.RuleArgument)
		if got := r.do(agent, next); got.Errno != 0 {
			t.Errorf("got %+v", got)
		}
		r.refused(agent, next, pin.RuleArgument)
	})
}
