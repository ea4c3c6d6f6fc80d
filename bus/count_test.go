package bus

import (
	"context"
	"fmt"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/pal-terminal/pal/hw"
	"github.com/pal-terminal/pal/limits"
	"github.com/pal-terminal/pal/pin"
)

func TestCounter(t *testing.T) {
	both(t, func(t *testing.T, r *rig) {
		for edges, want := range map[int64]int64{1: 3, 2: 2, 3: 5} {
			k := r.do(agent, hw.Call{Op: hw.OpCountOpen, Text: "FLOW", A: edges, B: -1})
			for _, level := range []int{1, 0, 1, 0, 1} {
				r.f.force(int(r.h("FLOW")), level)
			}
			count := hw.Call{Op: hw.OpCount, Pin: uint16(k.Value)}
			if got := r.do(agent, count); got.Value != want {
				t.Errorf("edges %d: got %d want %d", edges, got.Value, want)
			}
			count.A, count.B = countSet, 1<<62-1
			if got := r.do(agent, count); got.Value != want {
				t.Errorf("edges %d: setting answers %d want %d", edges, got.Value, want)
			}
			r.f.force(int(r.h("FLOW")), 0)
			r.f.force(int(r.h("FLOW")), 1)
			count.A, count.B = countRead, 0
			if got := r.do(reader, count); got.Value > math.MinInt64/2+1 {
				t.Errorf("edges %d: got %d after the largest count, want the smallest", edges, got.Value)
			}
			for _, v := range []int64{1 << 62, math.MinInt64, math.MaxInt64} {
				count.A, count.B = countSet, v
				r.refused(agent, count, pin.RuleArgument)
			}
			count.A, count.B = 3, 0
			r.refused(agent, count, pin.RuleArgument)
			r.f.force(int(r.h("FLOW")), 0)
		}
		flow := pin.Handle(r.h("FLOW"))
		if got := r.table.Snapshot()[flow]; got.Mode != hw.ModeBus {
			t.Errorf("got mode %s", got.Mode)
		}
		// A program that runs again says of its pin what it is.
		if _, err := r.table.Configure(agent, flow, hw.ModeIn, hw.PullNone, -1); err != nil {
			t.Error(err)
		}
		if _, err := r.table.Configure(agent, flow, hw.ModeOut, hw.PullNone, 1); err == nil {
			t.Error("a counter's line became an output")
		}
		for _, k := range r.take(func(*counter) bool { return true }) {
			k.close()
		}
		if got := r.table.Snapshot()[flow]; got.Mode != hw.ModeIn {
			t.Errorf("closed: got mode %s", got.Mode)
		}
	})
}

func TestCounterRefused(t *testing.T) {
	both(t, func(t *testing.T, r *rig) {
		open := hw.Call{Op: hw.OpCountOpen, Text: "FLOW", A: 1, B: -1}
		if _, err := r.table.Configure(agent, pin.Handle(r.h("FLOW")), hw.ModeOut, hw.PullNone, 1); err != nil {
			t.Fatal(err)
		}
		if f := r.refused(agent, open, pin.RuleInUse); f.Holder != "agent" {
			t.Errorf("got %+v", f)
		}
		for text, rule := range map[string]string{"LED": pin.RuleCapability, "SYS_D": pin.RuleSystemPin, "NONE": pin.RuleUnknownPin} {
			open.Text = text
			r.refused(agent, open, rule)
		}
		r.refused(agent, hw.Call{Op: hw.OpCount, Pin: 7}, RuleClosed)
	})
}

// TestCountersAreBounded, and handles come again late.
func TestCountersAreBounded(t *testing.T) {
	r := newRig(t, testBoard, true)
	defer r.end()
	for i := range limits.Counters {
		if h, err := r.addCounter(&counter{}); err != nil || int(h) != i {
			t.Fatalf("counter %d: got %d, %v", i, h, err)
		}
	}
	r.refused(agent, hw.Call{Op: hw.OpCountOpen, Text: "FLOW", A: 1, B: -1}, pin.RuleBusy)
	if got := r.table.Snapshot()[r.h("FLOW")]; got.Mode == hw.ModeBus {
		t.Error("the line of a counter that was refused is still taken")
	}
	r.do(agent, hw.Call{Op: hw.OpCount, Pin: 3, A: countClose})
	if got := r.do(agent, hw.Call{Op: hw.OpCountOpen, Text: "FLOW", A: 1, B: -1}); got.Value != limits.Counters {
		t.Errorf("got handle %d want %d", got.Value, limits.Counters)
	}
}

// TestEncoder turns an encoder at random, with contacts that bounce, and compares with where it stands.
func TestEncoder(t *testing.T) {
	r := newRig(t, testBoard, true)
	defer r.end()
	a, b := int(r.h("ENC_A")), int(r.h("ENC_B"))
	gray := [4][2]int{{0, 0}, {1, 0}, {1, 1}, {0, 1}}
	rapid.Check(t, func(rt *rapid.T) {
		phases := rapid.SampledFrom([]int{1, 2, 4}).Draw(rt, "phases")
		// It begins at a place where every count of the hardware's would begin.
		at := 0
		r.f.force(a, 0)
		r.f.force(b, 0)
		reply, _, err := r.Call(context.Background(), agent, hw.Call{Op: hw.OpCountOpen, Text: "ENC_A", A: 3, B: int64(b), C: int64(phases)})
		if err != nil {
			rt.Fatal(err)
		}
		for _, step := range rapid.SliceOfN(rapid.SampledFrom([]int{-1, 1, 1, 0}), 1, 60).Draw(rt, "steps") {
			turn := func(d int) {
				at += d
				place := gray[((at%4)+4)%4]
				r.f.force(a, place[0])
				r.f.force(b, place[1])
			}
			if step == 0 { // a bounce
				turn(1)
				turn(-1)
				continue
			}
			turn(step)
		}
		want := int64(math.Floor(float64(at) * float64(phases) / 4))
		got, _, err := r.Call(context.Background(), agent, hw.Call{Op: hw.OpCount, Pin: uint16(reply.Value), A: countClose})
		if err != nil || got.Value != want {
			rt.Errorf("%d phases, %d quarters: got %d, %v want %d", phases, at, got.Value, err, want)
		}
	})
}

// plain is a driver without timed protocols: the pulse is measured by the times of edges.
func plain(t *testing.T) *rig {
	r := newRig(t, testBoard, true)
	r.timed = nil
	return r
}

func TestPulseByEdges(t *testing.T) {
	tests := []struct {
		name  string
		start int
		at    []time.Duration // the line changes
		want  int64
	}{
		{"begins and ends", 0, []time.Duration{2 * time.Millisecond, 582 * time.Microsecond}, 582},
		{"has begun", 1, []time.Duration{3 * time.Millisecond}, 3000},
		{"ends and comes again", 1, []time.Duration{time.Millisecond, time.Millisecond, time.Millisecond}, 1000},
		{"never begins", 0, nil, notBegun},
		{"never ends", 0, []time.Duration{time.Millisecond}, notEnded},
		{"never ends, has begun", 1, nil, notEnded},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := plain(t)
				defer r.end()
				key := int(r.h("KEY"))
				r.f.force(key, tt.start)
				level, after := tt.start, time.Duration(0)
				for _, d := range tt.at {
					level, after = 1-level, after+d
					next := level
					time.AfterFunc(after, func() { r.f.force(key, next) })
				}
				got := r.do(reader, hw.Call{Op: hw.OpPulse, Pin: uint16(key), A: 1, B: 10_000})
				if got.Value != tt.want {
					t.Errorf("got %d want %d", got.Value, tt.want)
				}
				synctest.Wait()
			})
		})
	}
}

func TestPulseByTheDriver(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		if got := r.do(reader, hw.Call{Op: hw.OpPulse, Pin: r.h("KEY"), A: 1, B: 500}); got.Value != notBegun {
			t.Errorf("got %+v", got)
		}
		r.hungAction("pulse")
		start := time.Now()
		if got := r.do(reader, hw.Call{Op: hw.OpPulse, Pin: r.h("KEY"), A: 1, B: 1000}); got.Errno != 110 {
			t.Errorf("a driver that hangs: got %+v", got)
		}
		if took := time.Since(start); took > 2*time.Millisecond+limits.BusSlack+limits.BusGrace {
			t.Errorf("got an answer after %s", took)
		}
		r.free()
		synctest.Wait()
		r.refused(reader, hw.Call{Op: hw.OpPulse, Pin: 0, A: 1}, pin.RuleSystemPin)
	})
}

// FuzzSettings: whatever a program sends, what comes through is within its bounds.
func FuzzSettings(f *testing.F) {
	for _, kind := range []string{"i2c", "spi", "uart"} {
		for _, text := range []string{``, `{}`, `{"freq":400000,"sda":"6"}`, `{"baudrate":9600,"parity":null}`, `{"polarity":1,"firstbit":1}`, `{"a":{}}`} {
			f.Add(kind, []byte(text))
		}
	}
	f.Fuzz(func(t *testing.T, kind string, data []byte) {
		if _, ok := roles[kind]; !ok {
			return
		}
		s, err := parseSettings(kind, data)
		if err != nil {
			if n := len(err.Error()); n > limits.ReasonBytes {
				t.Errorf("a message of %d bytes", n)
			}
			return
		}
		most := map[string]int64{"i2c": limits.I2CHz, "spi": limits.SPIHz, "uart": limits.UARTBaud}[kind]
		if s.Hz < 1 || s.Hz > most || s.Polarity&^1 != 0 || s.Phase&^1 != 0 || s.Bits < 7 || s.Bits > 8 || s.Parity < -1 || s.Parity > 1 ||
			s.Stop < 1 || s.Stop > 2 || s.timeout < 0 || s.timeout > limits.BusTransferTime {
			t.Errorf("%s %q: got %+v", kind, data, s)
		}
		for role := range s.lines {
			if !isRole(role) {
				t.Errorf("got a line %q", role)
			}
		}
	})
}

// TestNothingIsWrittenPastTheRules does calls at random: no byte leaves the board while the latch is set or for a caller without
// the scope to drive.
func TestNothingIsWrittenPastTheRules(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		r := newRig(t, testBoard, rapid.Bool().Draw(rt, "direct"))
		defer r.end()
		stopped := false
		for i := range rapid.IntRange(1, 40).Draw(rt, "calls") {
			c := rapid.SampledFrom([]pin.Caller{agent, reader, {Name: "other", Drive: true, Machine: "board"}}).Draw(rt, "caller")
			data := []byte{byte(i + 1)}
			call := rapid.SampledFrom([]hw.Call{
				{Op: hw.OpBusOpen, Text: "i2c:0"}, {Op: hw.OpBusOpen, Text: "spi:1"}, {Op: hw.OpBusOpen, Text: "uart:1"},
				{Op: hw.OpBusClose, Pin: i2c0}, write(i2c0, data...), {Op: hw.OpI2C, Pin: i2c0, A: expander, Data: data, C: 1},
				{Op: hw.OpI2C, Pin: i2c0, A: expander, B: hw.I2CNoStop, Data: data},
				{Op: hw.OpI2C, Pin: i2c0, A: expander, B: hw.I2CNoStart, Data: data}, read(i2c0, 1), {Op: hw.OpI2CScan, Pin: i2c0},
				{Op: hw.OpSPI, Pin: spi1, A: 1, Data: data}, {Op: hw.OpUARTWrite, Pin: uart1, Data: data},
				{Op: hw.OpBitstream, Pin: r.h("STRIP"), Data: append(make([]byte, 16), data...)},
				{Op: hw.OpOneWire, Pin: r.h("PROBE"), A: hw.OneWireWrite, Data: data},
			}).Draw(rt, "call")
			switch rapid.IntRange(0, 7).Draw(rt, "stop") {
			case 0:
				stopped = true
				if err := r.table.Stop("test"); err != nil {
					rt.Fatal(err)
				}
			case 1:
				stopped = false
				if err := r.table.Clear(); err != nil {
					rt.Fatal(err)
				}
			}
			before := len(r.sent())
			reply, _, err := r.Call(context.Background(), c, call)
			what := fmt.Sprintf("operation %d by %s, stopped %v: %+v, %v", call.Op, c.Name, stopped, reply, err)
			writes := len(call.Data) > 0
			switch sent := len(r.sent()) - before; {
			case sent > 0 && (stopped || !c.Drive):
				rt.Fatalf("%s: %d bytes were sent", what, sent)
			case err == nil && reply.Errno == 0 && writes && sent == 0:
				rt.Fatalf("%s: nothing was sent", what)
			}
		}
	})
}
