package watch

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pal-terminal/pal/board"
	"github.com/pal-terminal/pal/board/load"
	"github.com/pal-terminal/pal/board/sim"
	"github.com/pal-terminal/pal/limits"
	"github.com/pal-terminal/pal/pin"
	"github.com/pal-terminal/pal/protocol"
)

// rig is a simulated bench with sets of watches on it.
type rig struct {
	t     *testing.T
	desc  *board.Description
	sim   *sim.Board
	table *pin.Table
	total atomic.Int64
	dead  atomic.Bool  // reading fails
	reads atomic.Int64 // of analogue inputs
}

// bubble runs a test in simulated time on the built-in bench, or on a board file.
func bubble(t *testing.T, yaml string, f func(t *testing.T, r *rig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r := &rig{t: t}
		var err error
		if r.desc, err = load.Builtin("bench-sim"); yaml != "" {
			r.desc, err = load.Bytes("board.yaml", []byte(yaml), nil)
		}
		check(t, err)
		r.sim, err = sim.New(r.desc, sim.Options{Hook: func(action string, _ int) error {
			if action != "adc" {
				return nil
			}
			if r.reads.Add(1); r.dead.Load() {
				return errors.New("no answer")
			}
			return nil
		}})
		check(t, err)
		r.table, err = pin.New(r.desc, r.sim, pin.Options{})
		check(t, err)
		t.Cleanup(func() {
			check(t, r.table.Close())
			check(t, r.sim.Close())
		})
		f(t, r)
	})
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// pass lets simulated time go by.
func pass(d time.Duration) { time.Sleep(d); synctest.Wait() } //nolint:forbidigo // in a bubble: no fact comes but that time has passed

// world does something to the bench.
func (r *rig) world(op, name, value string) {
	r.t.Helper()
	_, err := r.sim.Sim(op, name, value)
	check(r.t, err)
}

// raw gives TEMP_ADC a reading and waits until it has been looked at.
func (r *rig) raw(n int) {
	r.t.Helper()
	r.world("set", "TEMP_ADC", strconv.Itoa(n))
	pass(limits.WatchSampling)
}

// ear hears what a set tells.
type ear struct {
	mu   sync.Mutex
	told []string
}

func (e *ear) tell(event string, data map[string]any) {
	e.mu.Lock()
	defer e.mu.Unlock()
	text := event + " " + fmt.Sprint(data["pin"])
	for _, key := range []string{"value", "state", "missed"} {
		if v, ok := data[key]; ok {
			if f, ok := v.(float64); ok {
				v = strconv.FormatFloat(f, 'f', 1, 64)
			}
			text += fmt.Sprintf(" %s=%v", key, v)
		}
	}
	e.told = append(e.told, text)
}

// since returns what was told since it was last asked.
func (e *ear) since() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	list := e.told
	e.told = nil
	return list
}

func (r *rig) set() (*Set, *ear) {
	e := &ear{}
	s := New(r.table, r.desc, pin.Caller{Name: "bot"}, &r.total, e.tell)
	r.t.Cleanup(s.Close)
	return s, e
}

func want(t *testing.T, what string, e *ear, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, e.since()); diff != "" {
		t.Errorf("%s: told (-want +got):\n%s", what, diff)
	}
}

func onADC(name string, above, below, hysteresis float64) *protocol.Watch {
	p := protocol.PinName(name)
	return &protocol.Watch{ADC: &p, Above: &above, Below: &below, Hysteresis: &hysteresis}
}

func onPin(name, edge string) *protocol.Watch {
	p := protocol.PinName(name)
	return &protocol.Watch{Pin: &p, Edge: edge}
}

// TEMP_ADC reads raw · 3.3 / 4095 · 100: 1241 counts are 100.0 °C, 124 are 10.0 °C.
func TestThresholds(t *testing.T) {
	const low, mid, high = 124, 621, 1241 // 10.0, 50.0 and 100.0 °C
	tests := []struct {
		name                     string
		above, below, hysteresis float64
		readings                 []int
		want                     []string
	}{
		{"crossed once, both ways", 80, 20, 0, []int{mid, high, high, mid, low, low, mid}, []string{
			"value=100.0 state=above", "value=50.0 state=between", "value=10.0 state=below", "value=50.0 state=between",
		}},
		{"from one to the other", 80, 20, 0, []int{high, low, high}, []string{"value=100.0 state=above", "value=10.0 state=below", "value=100.0 state=above"}},
		{"beyond at first", 5, 5, 0, []int{high, high}, []string{"value=100.0 state=above"}},
		{"on the threshold is not beyond it", float64(mid) * 3.3 / 4095 * 100, 20, 0, []int{mid, mid + 1}, []string{"value=50.1 state=above"}},
		{"back by less than the hysteresis", 90, 0, 30, []int{high, mid + 200, mid, high}, []string{
			"value=100.0 state=above", "value=50.0 state=between", "value=100.0 state=above",
		}},
		{"up by less than the hysteresis", 900, 20, 35, []int{low, 621, 745, low}, []string{
			"value=10.0 state=below", "value=60.0 state=between", "value=10.0 state=below",
		}},
		{"hysteresis wider than the room between", 80, 20, 1000, []int{high, mid, low, mid, high}, []string{
			"value=100.0 state=above", "value=10.0 state=below", "value=100.0 state=above",
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, "", func(t *testing.T, r *rig) {
				s, e := r.set()
				r.world("set", "TEMP_ADC", strconv.Itoa(tt.readings[0]))
				check(t, s.Add(onADC("TEMP_ADC", tt.above, tt.below, tt.hysteresis)))
				for _, n := range tt.readings {
					r.raw(n)
				}
				var list []string
				for _, text := range tt.want {
					list = append(list, "adc_threshold 1 "+text)
				}
				want(t, tt.name, e, list...)
			})
		})
	}
}

// A sensor that cannot be read is told once, and again when it can.
func TestUnreadable(t *testing.T) {
	bubble(t, "", func(t *testing.T, r *rig) {
		s, e := r.set()
		r.dead.Store(true)
		check(t, s.Add(onADC("TEMP_ADC", 80, -1, 0)))
		pass(time.Second)
		want(t, "dead from the start", e, "adc_threshold 1 state=unreadable")
		r.dead.Store(false)
		pass(time.Second)
		want(t, "alive", e, "adc_threshold 1 value=25.0 state=between")
		r.dead.Store(true)
		pass(time.Second)
		r.dead.Store(false)
		r.raw(1241)
		want(t, "dead for a second", e, "adc_threshold 1 state=unreadable", "adc_threshold 1 value=100.0 state=above")
	})
}

// A scale that divides by nothing gives no number: the value is left out rather than sent as one.
func TestNoNumber(t *testing.T) {
	const yaml = "board: x\npins:\n  - {id: 1, name: TEMP_ADC, owner: agent, can: [in, adc], scale: \"1 / raw\", unit: V}\ndevices:\n  - {type: adc, pin: TEMP_ADC, value: 1}\n"
	bubble(t, yaml, func(t *testing.T, r *rig) {
		s, e := r.set()
		check(t, s.Add(onADC("TEMP_ADC", 5, -1, 0)))
		r.raw(0)
		want(t, "infinite", e, "adc_threshold 1 state=above")
	})
}

// The input is looked at while it is watched, and no longer.
func TestSamplerEnds(t *testing.T) {
	bubble(t, "", func(t *testing.T, r *rig) {
		s, e := r.set()
		looks := func() int64 {
			r.reads.Store(0)
			pass(time.Second)
			return r.reads.Load()
		}
		if n := looks(); n != 0 {
			t.Errorf("before: got %d looks", n)
		}
		perSecond := int64(time.Second / limits.WatchSampling)
		for range 2 {
			r.world("set", "TEMP_ADC", "310")
			check(t, s.Add(onADC("TEMP_ADC", 80, 0, 0)))
			check(t, s.Add(onADC("POT_ADC", 80, 0, 0)))
			check(t, s.Add(onADC("POT_ADC", 90, 0, 0))) // in place of the one before
			if n := looks(); n < 2*perSecond || n > 2*perSecond+3 {
				t.Errorf("two inputs: got %d looks in a second, want %d", n, 2*perSecond)
			}
			check(t, s.Add(onPin("BUTTON", "")))
			check(t, s.Remove(onADC("TEMP_ADC", 0, 0, 0)))
			if n := looks(); n != perSecond {
				t.Errorf("one input: got %d looks in a second, want %d", n, perSecond)
			}
			check(t, s.Remove(onADC("POT_ADC", 0, 0, 0)))
			if n := looks(); n != 0 {
				t.Errorf("a pin alone: got %d looks", n)
			}
			r.raw(1241)
		}
		want(t, "not watched", e)
		check(t, s.Add(onADC("TEMP_ADC", 80, 0, 0)))
		s.Close()
		s.Close()
		if n := looks(); n != 0 || r.total.Load() != 0 {
			t.Errorf("closed: got %d looks and %d watches", n, r.total.Load())
		}
		if err := s.Add(onADC("TEMP_ADC", 80, 0, 0)); code(err) != protocol.CodeUnavailable {
			t.Errorf("closed: got %v", err)
		}
	})
}

// What follows at once on an end finds a sampler that is still ending: no input is looked at by two.
func TestAgainAtOnce(t *testing.T) {
	bubble(t, "", func(t *testing.T, r *rig) {
		s, e := r.set()
		for range 200 {
			check(t, s.Add(onADC("TEMP_ADC", 80, 0, 0)))
			check(t, s.Remove(onADC("TEMP_ADC", 80, 0, 0)))
		}
		check(t, s.Add(onADC("TEMP_ADC", 80, 0, 0)))
		r.raw(1241)
		r.raw(1241)
		want(t, "once", e, "adc_threshold 1 value=100.0 state=above")
		r.reads.Store(0)
		if pass(time.Second); r.reads.Load() != int64(time.Second/limits.WatchSampling) {
			t.Errorf("got %d looks in a second, want those of one sampler", r.reads.Load())
		}
	})
}

func code(err error) protocol.Code {
	if err == nil {
		return ""
	}
	return protocol.Refuse(nil, err).Code
}

func TestLimits(t *testing.T) {
	var yaml strings.Builder
	yaml.WriteString("board: x\npins:\n")
	for i := range limits.Watches + 1 {
		fmt.Fprintf(&yaml, "  - {id: %d, name: A%d, owner: agent, can: [in, adc]}\n", i, i)
	}
	bubble(t, yaml.String(), func(t *testing.T, r *rig) {
		fill := func(s *Set) {
			for i := range limits.Watches {
				w := onADC(fmt.Sprint("A", i), 5000, -1, 0)
				if i%2 == 0 {
					w = onPin(fmt.Sprint("A", i), "")
				}
				check(t, s.Add(w))
				check(t, s.Add(w)) // the same again takes no room
			}
		}
		var sets []*Set
		for range limits.WatchesTerminal / limits.Watches {
			s, _ := r.set()
			fill(s)
			if err := s.Add(onPin(fmt.Sprint("A", limits.Watches), "")); code(err) != protocol.CodeFull {
				t.Errorf("one more of a connection: got %v", err)
			}
			sets = append(sets, s)
		}
		more, _ := r.set()
		if err := more.Add(onPin("A0", "")); code(err) != protocol.CodeFull {
			t.Errorf("one more of the terminal: got %v", err)
		}
		sets[0].Close()
		fill(more)
		for _, s := range append(sets, more) {
			s.Close()
		}
		if n := r.total.Load(); n != 0 {
			t.Errorf("got %d watches left", n)
		}
	})
}

// One connection watches a pin for edges and an input for values, and another watches the same pin: each is told its own.
func TestTogether(t *testing.T) {
	bubble(t, "", func(t *testing.T, r *rig) {
		s, e := r.set()
		other, o := r.set()
		check(t, s.Add(onADC("TEMP_ADC", 80, 0, 0)))
		check(t, s.Add(onPin("BUTTON", "falling")))
		check(t, s.Add(onPin("BUTTON_B", "both")))
		check(t, other.Add(onPin("BUTTON", "rising")))
		press := func() {
			for _, name := range []string{"BUTTON", "BUTTON_B"} {
				r.world("press", name, "")
				r.world("release", name, "")
				synctest.Wait()
			}
		}
		press()
		r.raw(1241)
		want(t, "mine", e, "pin_change 21 value=0", "pin_change 39 value=0", "pin_change 39 value=1", "adc_threshold 1 value=100.0 state=above")
		want(t, "the other's", o, "pin_change 21 value=1")
		check(t, s.Add(onPin("BUTTON", "rising"))) // in place of falling
		check(t, s.Remove(onPin("BUTTON_B", "")))
		press()
		want(t, "replaced", e, "pin_change 21 value=1")
		want(t, "the other's", o, "pin_change 21 value=1")
		if err := s.Remove(onPin("BUTTON_B", "")); code(err) != protocol.CodeNotFound {
			t.Errorf("removed twice: got %v", err)
		}
		other.Close()
		press()
		want(t, "closed", o)
		want(t, "still watched", e, "pin_change 21 value=1")
	})
}

// What flaps is told limits.WatchRate times a second; the next event after that counts the rest.
func TestRate(t *testing.T) {
	bubble(t, "", func(t *testing.T, r *rig) {
		s, e := r.set()
		check(t, s.Add(onPin("BUTTON", "falling")))
		press := func() {
			r.world("press", "BUTTON", "")
			r.world("release", "BUTTON", "")
			synctest.Wait()
		}
		for range limits.WatchRate + 3 {
			press()
		}
		if got := e.since(); len(got) != limits.WatchRate {
			t.Errorf("got %d events, want %d", len(got), limits.WatchRate)
		}
		pass(time.Second)
		press()
		press()
		want(t, "afterwards", e, "pin_change 21 value=0 missed=3", "pin_change 21 value=0")
	})
}

func TestRefuses(t *testing.T) {
	bubble(t, "", func(t *testing.T, r *rig) {
		s, e := r.set()
		neither := onADC("TEMP_ADC", 1, 1, 1)
		neither.Above, neither.Below = nil, nil
		for what, w := range map[string]*protocol.Watch{
			"no threshold": neither, "above under below": onADC("TEMP_ADC", 1, 2, 0), "no analogue input": onADC("BUTTON", 1, 0, 0),
			"an output alone": onPin("RELAY_1", ""), "unknown pin": onPin("NOPE", ""), "unknown input": onADC("NOPE", 1, 0, 0),
			"a system pin": onPin("BOOT", ""),
		} {
			if err := s.Add(w); err == nil {
				t.Errorf("%s: got it watched", what)
			}
			if err := s.Remove(w); err == nil {
				t.Errorf("%s: got it removed", what)
			}
		}
		pass(time.Second)
		want(t, "refused", e)
		if r.total.Load() != 0 || r.reads.Load() != 0 {
			t.Errorf("got %d watches and %d looks of what was refused", r.total.Load(), r.reads.Load())
		}
	})
}
