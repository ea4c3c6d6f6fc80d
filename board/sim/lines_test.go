package sim

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pal-terminal/pal/board"
	"github.com/pal-terminal/pal/board/sim/stepper"
	"github.com/pal-terminal/pal/hw"
)

// rig is a bench in a bubble, with shorter words for what tests do.
type rig struct {
	t *testing.T
	d *board.Description
	b *Board
}

// inBubble runs a test on bench-sim with simulated time.
func inBubble(t *testing.T, test func(r rig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		d, b := opened(t, "bench-sim")
		test(rig{t, d, b})
	})
}

func (r rig) pin(name string) int { return pin(r.t, r.d, name) }

func (r rig) out(name string, level int) {
	r.t.Helper()
	if err := r.b.Configure(r.pin(name), hw.ModeOut, hw.PullNone, level); err != nil {
		r.t.Fatal(err)
	}
}

func (r rig) set(name string, level int) {
	r.t.Helper()
	if err := r.b.Set(r.pin(name), level); err != nil {
		r.t.Fatal(err)
	}
}

func (r rig) get(name string) int {
	r.t.Helper()
	level, err := r.b.Get(r.pin(name))
	if err != nil {
		r.t.Fatal(err)
	}
	return level
}

func (r rig) sim(op, name, value string) Entry {
	r.t.Helper()
	return sim(r.t, r.b, op, name, value)
}

func (r rig) state(name string) any {
	r.t.Helper()
	return r.sim("show", name, "").State
}

// pass lets simulated time go by.
func pass(d time.Duration) { time.Sleep(d) } //nolint:forbidigo // in a bubble: simulated time

// edges watches a line: rises and falls with the time since now.
func (r rig) edges(name string) (list func() []string) {
	r.t.Helper()
	var got []string
	began := time.Now()
	cancel, err := r.b.Watch(r.pin(name), hw.EdgeRising|hw.EdgeFalling, func(rose bool, at time.Time) {
		edge := "fall "
		if rose {
			edge = "rise "
		}
		got = append(got, edge+at.Sub(began).String())
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return func() []string {
		cancel()
		return got
	}
}

func (r rig) same(what string, got, want any) {
	r.t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		r.t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func TestRangeFinder(t *testing.T) {
	trigger := func(r rig, width time.Duration) {
		r.set("TRIG", 1)
		pass(width)
		r.set("TRIG", 0)
	}
	for _, tt := range []struct {
		name, distance string
		trigger        time.Duration
		timeout        time.Duration
		want           time.Duration
	}{
		{"near", "2", 10 * time.Microsecond, 30 * time.Millisecond, 116 * time.Microsecond},
		{"middle", "100", 10 * time.Microsecond, 30 * time.Millisecond, 5800 * time.Microsecond},
		{"far", "400", 20 * time.Microsecond, 30 * time.Millisecond, 23_200 * time.Microsecond},
		{"out of reach", "500", 10 * time.Microsecond, time.Second, 38 * time.Millisecond},
		{"out of reach and of patience", "500", 10 * time.Microsecond, 30 * time.Millisecond, -1},
		{"too near", "1", 10 * time.Microsecond, time.Second, 38 * time.Millisecond},
		{"short trigger", "100", 9 * time.Microsecond, 30 * time.Millisecond, -2},
		{"no patience at all", "100", 10 * time.Microsecond, 400 * time.Microsecond, -2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			inBubble(t, func(r rig) {
				r.out("TRIG", 0)
				r.sim("set", "HCSR04", tt.distance)
				trigger(r, tt.trigger)
				width, err := r.b.Pulse(r.t.Context(), r.pin("ECHO"), 1, tt.timeout)
				if width != tt.want || err != nil {
					t.Errorf("Pulse: got %v, %v want %v", width, err, tt.want)
				}
				// Asked again, there is no pulse: it has been told.
				if width, err := r.b.Pulse(r.t.Context(), r.pin("ECHO"), 1, tt.timeout); width != -2 || err != nil {
					t.Errorf("Pulse again: got %v, %v want -2", width, err)
				}
			})
		})
	}
	t.Run("edges", func(t *testing.T) {
		inBubble(t, func(r rig) {
			r.out("TRIG", 0)
			list := r.edges("ECHO")
			trigger(r, 10*time.Microsecond)
			pass(100 * time.Millisecond)
			r.same("edges of 100 cm", list(), []string{"rise 460µs", "fall 6.26ms"})
		})
	})
	t.Run("polling", func(t *testing.T) {
		inBubble(t, func(r rig) {
			r.out("TRIG", 0)
			trigger(r, 10*time.Microsecond)
			var high time.Duration
			for range 1000 {
				if r.get("ECHO") == 1 {
					high += 10 * time.Microsecond
				}
				pass(10 * time.Microsecond)
			}
			r.same("time high", high, 5800*time.Microsecond)
		})
	})
}

func TestPulseOfALine(t *testing.T) {
	inBubble(t, func(r rig) {
		go func() {
			pass(5 * time.Millisecond)
			_, _ = r.b.Sim("press", "BUTTON", "")
			pass(3 * time.Millisecond)
			_, _ = r.b.Sim("release", "BUTTON", "")
		}()
		button := r.pin("BUTTON")
		if width, err := r.b.Pulse(r.t.Context(), button, 0, time.Second); width != 3*time.Millisecond || err != nil {
			t.Errorf("got %v, %v want 3ms", width, err)
		}
		if width, err := r.b.Pulse(r.t.Context(), button, 0, time.Second); width != -2 || err != nil {
			t.Errorf("nobody presses: got %v, %v want -2", width, err)
		}
		if width, err := r.b.Pulse(r.t.Context(), button, 1, time.Second); width != -1 || err != nil {
			t.Errorf("nobody presses, other level: got %v, %v want -1", width, err)
		}
		ctx, cancel := context.WithTimeout(r.t.Context(), time.Millisecond)
		defer cancel()
		if _, err := r.b.Pulse(ctx, button, 0, time.Second); err == nil {
			t.Error("given up: got no error")
		}
	})
}

func TestEncoder(t *testing.T) {
	inBubble(t, func(r rig) {
		a, b := r.edges("ENC_A"), r.edges("ENC_B")
		r.sim("set", "ENCODER", "turn=1")
		pass(time.Second)
		r.sim("set", "ENCODER", "-1")
		pass(time.Second)
		r.same("edges of a", a(), []string{"fall 1ms", "rise 3ms", "fall 1.002s", "rise 1.004s"})
		r.same("edges of b", b(), []string{"fall 2ms", "rise 4ms", "fall 1.001s", "rise 1.003s"})
		r.sim("set", "ENCODER", "-3")
		pass(time.Second)
		r.same("state", asJSON(t, r.state("ENCODER")), `{"position":-3,"moving":false}`)
	})
}

func TestFlowMeter(t *testing.T) {
	inBubble(t, func(r rig) {
		r.sim("set", "FLOW", "4") // 30 Hz by the data sheet's 7.5 Hz for each litre a minute
		pass(10 * time.Second)
		r.same("state", asJSON(t, r.state("FLOW")), `{"flow":4,"pulses":300,"litres":0.6666666666666666}`)
		list := r.edges("FLOW")
		pass(100 * time.Millisecond)
		if got := len(list()); got != 6 {
			t.Errorf("edges in 100 ms: got %d want 6", got)
		}
		r.sim("set", "FLOW", "0")
		pass(time.Hour)
		if got := r.state("FLOW"); !strings.Contains(asJSON(t, got), `"pulses":303`) {
			t.Errorf("after the tap was shut: got %+v", got)
		}
	})
}

func TestMotionSensor(t *testing.T) {
	inBubble(t, func(r rig) {
		r.sim("set", "PIR", "hold_ms=3000")
		list := r.edges("PIR")
		r.sim("set", "PIR", "1")
		pass(time.Second)
		r.sim("set", "PIR", "0")
		pass(2 * time.Second)
		r.sim("set", "PIR", "1") // again while it holds
		pass(time.Second)
		r.sim("set", "PIR", "0")
		pass(time.Minute)
		r.same("edges", list(), []string{"rise 0s", "fall 7s"})
	})
}

func TestStepper(t *testing.T) {
	half := [][4]int{{1, 0, 0, 0}, {1, 1, 0, 0}, {0, 1, 0, 0}, {0, 1, 1, 0}, {0, 0, 1, 0}, {0, 0, 1, 1}, {0, 0, 0, 1}, {1, 0, 0, 1}}
	full := [][4]int{half[1], half[3], half[5], half[7]}
	wave := [][4]int{half[0], half[2], half[4], half[6]}
	for _, tt := range []struct {
		name  string
		seq   [][4]int
		steps int // of the sequence, from its first
		want  int // half steps
	}{
		{"half", half, 64, 64}, {"half back", half, -16, -16}, {"full", full, 8, 16}, {"full back", full, -8, -16}, {"wave", wave, 12, 24}, {"wave back", wave, -12, -24},
	} {
		t.Run(tt.name, func(t *testing.T) {
			inBubble(t, func(r rig) {
				coils := []string{"STEPPER_1", "STEPPER_2", "STEPPER_3", "STEPPER_4"}
				phase := func(i int) {
					for c, level := range tt.seq[(i%len(tt.seq)+len(tt.seq))%len(tt.seq)] {
						r.set(coils[c], level)
					}
				}
				for _, c := range coils {
					r.out(c, 0)
				}
				phase(0)
				start := position(t, r)
				by := 1
				if tt.steps < 0 {
					by = -1
				}
				for i := by; i != tt.steps+by; i += by {
					phase(i)
				}
				if got := position(t, r) - start; got != tt.want {
					t.Errorf("got %d half steps want %d", got, tt.want)
				}
			})
		})
	}
}

func position(t *testing.T, r rig) int {
	t.Helper()
	s, ok := r.state("STEPPER").(stepper.State)
	if !ok {
		t.Fatalf("state of the stepper is %T", r.state("STEPPER"))
	}
	return s.Position
}

func TestBounce(t *testing.T) {
	inBubble(t, func(r rig) {
		r.sim("set", "BUTTON", "bounce=5")
		list := r.edges("BUTTON")
		r.sim("press", "BUTTON", "")
		pass(time.Second)
		r.sim("release", "BUTTON", "")
		pass(time.Second)
		got := list()
		if len(got) < 6 || len(got)%2 != 0 || r.get("BUTTON") != 1 {
			t.Errorf("press and release with bouncing contacts: got edges %v, level %d", got, r.get("BUTTON"))
		}
	})
}
