package pin

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/pal-terminal/pal/board"
	"github.com/pal-terminal/pal/board/load"
	"github.com/pal-terminal/pal/board/sim"
	"github.com/pal-terminal/pal/hw"
	"github.com/pal-terminal/pal/limits"
)

const modelBoard = `board: model
pins:
  - {id: 0, name: BOOT, owner: system}
  - {id: 1, name: TEMP, owner: guard, can: [adc]}
  - {id: 2, name: DOOR, owner: guard, can: [in], pull: up}
  - {id: 3, name: LEFT, owner: agent, can: [out, pwm], safe: low, interlock: [RIGHT], min_off: 1s}
  - {id: 4, name: RIGHT, owner: agent, can: [out, pwm], safe: high, max_on: 2s}
  - {id: 5, name: PUMP, owner: agent, can: [out, pwm], safe: low, requires: DOOR, max_rate: 3/s}
  - {id: 6, name: HEAT, owner: agent, can: [out, pwm], safe: low, trip: {adc: TEMP, above: 2000, for_ms: 50}}
  - {id: 7, name: MAIN, owner: agent, can: [out, pwm], safe: low, danger: high}
devices:
  - {type: adc, pin: TEMP, value: 100}
`

// spy stands between the table and the simulator and looks, after every drive, at what must never be.
type spy struct {
	*sim.Board
	d      *board.Description
	mu     sync.Mutex // makes a drive and the look at the lines one step
	yield  bool       // let others run around each drive: a slow driver
	direct bool       // claim to be quick all the same, so that there are no workers
	bad    []string
	duty   map[int]int // of pins that do PWM
}

func (s *spy) Immediate() bool { return s.direct }

func (s *spy) Configure(pin int, mode hw.Mode, pull hw.Pull, level int) error {
	return s.drive(pin, func() error {
		delete(s.duty, pin)
		return s.Board.Configure(pin, mode, pull, level)
	})
}

func (s *spy) PWM(pin int, freq int64, duty int) error {
	return s.drive(pin, func() error {
		s.duty[pin] = duty
		return s.Board.PWM(pin, freq, duty)
	})
}

// on reports whether a pin is on, as one that is switched by PWM is. Callers hold mu.
func (s *spy) on(pin int) bool {
	if duty, ok := s.duty[pin]; ok && switching(duty) {
		return true
	}
	level, err := s.Get(pin)
	return err == nil && level != s.d.Pins[pin].Safe
}

func (s *spy) Set(pin, level int) error {
	return s.drive(pin, func() error { return s.Board.Set(pin, level) })
}

func (s *spy) drive(pin int, do func() error) error {
	if s.yield {
		runtime.Gosched()
		defer runtime.Gosched()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.d.Pins[pin].Owner != board.OwnerAgent {
		s.bad = append(s.bad, "drove "+s.d.Pins[pin].Label())
	}
	err := do()
	// At the start the simulator's lines are at 0, which is on for RIGHT: before its first drive LEFT is never on.
	if left, right := 3, 4; s.on(left) && s.on(right) {
		s.bad = append(s.bad, "LEFT and RIGHT are on together")
	}
	return err
}

func (s *spy) problems() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bad
}

// newSpy builds a table on src with a spy before its simulator: a quick driver, or a slow one behind workers.
func newSpy(t testing.TB, src string, direct, yield bool) (*spy, *Table) {
	t.Helper()
	d, err := load.Bytes("model.yaml", []byte(src), nil)
	if err != nil {
		t.Fatal(err)
	}
	b, err := sim.New(d, sim.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s := &spy{Board: b, d: d, direct: direct, yield: yield, duty: map[int]int{}}
	table, err := New(d, s, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return s, table
}

// model says in the plainest way what a table on modelBoard must do. Pins are named by their id.
type model struct {
	d       *board.Description
	now     time.Duration // since the start
	on      [8]bool
	since   [8]time.Duration // on or off since
	changes []time.Duration  // of PUMP
	open    bool             // the door
	hot     bool
	hotFrom time.Duration // -1 when it is not
	tripped bool
	stopped bool
	pwm     [8]bool
}

func (m *model) put(pin int, on bool) {
	if m.on[pin] == on {
		return
	}
	m.on[pin], m.since[pin], m.pwm[pin] = on, m.now, false
	if pin == 5 {
		m.changes = append(m.changes, m.now)
	}
}

// rule returns the rule that refuses to drive pin, "" when none does. A switching pin is on, but not all the time.
func (m *model) rule(pin int, on, switching bool, c Caller) string {
	recent := 0
	for _, at := range m.changes {
		if m.now-at < time.Second {
			recent++
		}
	}
	switch {
	case pin == 0:
		return RuleSystemPin
	case pin >= 8:
		return RuleUnknownPin
	case pin <= 2:
		return RuleGuardPin
	case !c.Drive:
		return RuleScope
	case m.stopped:
		return RuleEstop
	case !on:
		return ""
	case pin == 7 && c.Ask:
		return RuleDanger
	case pin == 6 && m.tripped:
		return RuleTrip
	case pin == 5 && m.open:
		return RuleRequires
	case pin == 3 && m.on[4] || pin == 4 && m.on[3]:
		return RuleInterlock
	case pin == 3 && switching:
		return RuleMinOff
	case pin == 5 && switching:
		return RuleMaxRate
	case m.on[pin]:
		return ""
	case pin == 3 && m.now-m.since[3] < time.Second:
		return RuleMinOff
	case pin == 5 && recent >= 3:
		return RuleMaxRate
	}
	return ""
}

// pass lets time go by in steps of a millisecond.
func (m *model) pass(d time.Duration) {
	for end := m.now + d; m.now < end; {
		m.now += time.Millisecond
		if m.on[4] && m.now-m.since[4] >= 2*time.Second {
			m.put(4, false)
		}
		if m.now%limits.TripSampling == 0 {
			m.sample()
		}
	}
}

func (m *model) sample() {
	if m.open {
		m.put(5, false)
	}
	switch {
	case !m.hot:
		m.hotFrom = -1
	case m.hotFrom < 0:
		m.hotFrom = m.now
	}
	if m.hotFrom >= 0 && m.now-m.hotFrom >= 50*time.Millisecond {
		m.tripped = true
	}
	if m.tripped {
		m.put(6, false)
	}
}

func (m *model) clear() string {
	switch {
	case m.open:
		return RuleRequires
	case m.hot:
		return RuleTrip
	}
	m.stopped, m.tripped, m.hotFrom = false, false, -1
	return ""
}

// step does one operation on table and model and returns what it was and the two rules, which must be equal.
func (m *model) step(choose func(n int) int, s *spy, table *Table) (what, got, want string) {
	callers := []Caller{
		{Name: "a", Drive: true, Run: 1}, {Name: "b", Drive: true, Run: 2, Ask: true}, {Name: "reader"},
	}
	rule := func(err error) string {
		if r, ok := errors.AsType[*Refusal](err); ok {
			return r.Rule
		}
		if err != nil {
			return err.Error()
		}
		return ""
	}
	world := func(name, value string) {
		if _, err := s.Sim("set", name, value); err != nil {
			panic(err)
		}
	}
	switch choose(12) {
	case 0:
		m.stopped = true
		for pin := 3; pin < 8; pin++ {
			m.put(pin, false)
			m.pwm[pin] = false
		}
		table.Stop("model")
		return "stop", "", ""
	case 1, 2:
		return "clear", rule(table.Clear()), m.clear()
	case 3:
		m.open = choose(3) == 0
		world("DOOR", map[bool]string{true: "0", false: "1"}[m.open])
		return fmt.Sprint("door ", m.open), "", ""
	case 4:
		m.hot = choose(2) == 0
		world("TEMP", map[bool]string{true: "2001", false: "2000"}[m.hot])
		return fmt.Sprint("hot ", m.hot), "", ""
	case 5, 6, 7:
		d := []time.Duration{1, 3, 10, 49, 60, 400, 1000, 2000}[choose(8)] * time.Millisecond
		m.pass(d)
		pass(d)
		return fmt.Sprint("pass ", d), "", ""
	}
	pin, c := choose(9), callers[choose(3)]
	h := Handle(pin)
	level, how := choose(2), choose(6)
	safe := 0
	if pin < 8 {
		safe = max(0, s.d.Pins[pin].Safe)
	}
	on := level != safe
	var err error
	switch how {
	case 0:
		on = pin < 8 && !m.on[pin]
		_, err = table.Toggle(c, h)
	case 1:
		_, err = table.Configure(c, h, hw.ModeOut, hw.PullNone, level)
	case 2, 3:
		return m.stepPWM(choose, table, pin, safe, c, rule)
	default:
		_, err = table.Write(c, h, level)
	}
	want = m.rule(pin, on, false, c)
	if want == "" {
		m.put(pin, on)
		m.pwm[pin] = false
	}
	return fmt.Sprintf("drive %d on=%v by %s, way %d", pin, on, c.Name, how), rule(err), want
}

// stepPWM begins, changes or ends PWM.
func (m *model) stepPWM(choose func(n int) int, table *Table, pin, safe int, c Caller, rule func(error) string) (what, got, want string) {
	freq, duty := []int64{0, 1, 1000}[choose(3)], []int{0, 1, 32_768, dutyMax}[choose(4)]
	_, err := table.PWM(c, Handle(pin), freq, int64(duty), -1)
	on := freq > 0 && (switching(duty) || duty/dutyMax != safe)
	want = m.rule(pin, on, freq > 0 && switching(duty), c)
	if want == RuleEstop && freq == 0 { // nothing is left to be ended
		want = ""
	}
	if want == "" && (freq > 0 || m.pwm[pin]) {
		m.put(pin, on)
		m.pwm[pin] = freq > 0
	}
	return fmt.Sprintf("PWM %d at %d, duty %d by %s", pin, freq, duty, c.Name), rule(err), want
}

// checkModel runs the operations that ops encode, in a bubble, and compares every answer and every line.
func checkModel(t *testing.T, yield bool, ops []byte) (failure error) {
	n := len(ops) / 2
	choose := func(n int) int {
		if len(ops) == 0 {
			return n - 1
		}
		b := ops[0]
		ops = ops[1:]
		return int(b) % n
	}
	synctest.Test(t, func(t *testing.T) {
		s, table := newSpy(t, modelBoard, !yield, yield)
		m := &model{d: s.d, hotFrom: -1}
		for i := 0; i < n && failure == nil; i++ {
			failure = m.compare(choose, s, table)
		}
		failure = errors.Join(failure, table.Close())
	})
	return failure
}

// compare does one operation and says what then differs.
func (m *model) compare(choose func(n int) int, s *spy, table *Table) error {
	what, got, want := m.step(choose, s, table)
	if got != want {
		return fmt.Errorf("%s, at %s: refused by %q, want %q", what, m.now, got, want)
	}
	for pin := 3; pin < 8; pin++ {
		s.mu.Lock()
		on := s.on(pin)
		_, pwm := s.duty[pin]
		s.mu.Unlock()
		if on != m.on[pin] || pwm != m.pwm[pin] {
			return fmt.Errorf("after %s, at %s: %s is on=%v pwm=%v, want %v %v", what, m.now, s.d.Pins[pin].Name, on, pwm, m.on[pin], m.pwm[pin])
		}
	}
	if bad := s.problems(); len(bad) > 0 {
		return fmt.Errorf("after %s, at %s: %v", what, m.now, bad)
	}
	return nil
}

func TestModel(t *testing.T) {
	for name, yield := range map[string]bool{"direct": false, "workers": true} {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(rt *rapid.T) {
				// The bubble is inside and draws nothing: rapid stops a test by a panic that must not cross goroutines.
				ops := rapid.SliceOfN(rapid.Byte(), 2, 400).Draw(rt, "operations")
				if err := checkModel(t, yield, ops); err != nil {
					rt.Fatal(err)
				}
			})
		})
	}
}

func FuzzModel(f *testing.F) {
	f.Add([]byte{8, 3, 0, 1, 3, 3, 8, 4, 0, 0, 3, 3, 5, 6, 0, 1})
	f.Add([]byte{8, 5, 0, 1, 3, 3, 3, 0, 5, 2, 1, 8, 6, 0, 1, 1, 1, 4, 0, 5, 4, 1})
	f.Fuzz(func(t *testing.T, ops []byte) {
		if len(ops) > 400 {
			return
		}
		if err := checkModel(t, false, ops); err != nil {
			t.Error(err)
		}
	})
}

// TestHammer lets many callers do everything at once on a slow driver. What must never be is looked at inside the driver;
// in the end everything is safe.
func TestHammer(t *testing.T) {
	// Without min_off, which would keep LEFT off most of the time.
	src := strings.Replace(modelBoard, ", min_off: 1s", "", 1)
	for name, direct := range map[string]bool{"direct": true, "workers": false} {
		t.Run(name, func(t *testing.T) {
			s, table := newSpy(t, src, direct, true)
			var wg sync.WaitGroup
			for g := range 6 {
				wg.Go(func() {
					c := Caller{Name: "hammer", Drive: true, Run: uint64(g)}
					for i := range 300 {
						h := Handle((g + i) % 9)
						switch (g*7 + i) % 8 {
						case 0:
							_, _ = table.Toggle(c, h)
						case 1:
							_, _ = table.Configure(c, h, hw.ModeOut, hw.PullNone, i%2)
						case 2:
							table.Safe("hammer", func(d Driven) bool { return d.Caller.Run == c.Run })
						case 3:
							_ = table.Snapshot()
							_, _ = table.PWM(c, h, int64(i%3)*100, int64(i*997)%(dutyMax+1), -1)
						case 4:
							if g == 0 && i%16 == 4 {
								table.Stop("hammer")
							}
							_ = table.Clear()
						default:
							_, _ = table.Write(c, h, i%2)
						}
					}
				})
			}
			wg.Wait()
			table.Stop("end")
			for pin := 3; pin < 8; pin++ {
				if level, err := s.Get(pin); err != nil || level != s.d.Pins[pin].Safe {
					t.Errorf("%s: got level %d, %v after the last stop", s.d.Pins[pin].Name, level, err)
				}
			}
			if bad := s.problems(); len(bad) > 0 {
				t.Errorf("seen inside the driver: %v", bad[0])
			}
			if err := table.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}
