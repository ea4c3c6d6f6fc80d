package pin

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pal-terminal/pal/board"
	"github.com/pal-terminal/pal/board/load"
	"github.com/pal-terminal/pal/board/sim"
	"github.com/pal-terminal/pal/hw"
)

// rig is a table on a simulated board.
type rig struct {
	*Table
	t   *testing.T
	d   *board.Description
	sim *sim.Board

	mu     sync.Mutex // guards events
	events []Event
}

// agent may drive; reader may not.
var (
	agent  = Caller{Name: "agent", Drive: true, Run: 1, Machine: "agent", Conn: 7}
	reader = Caller{Name: "reader"}
)

// newRig builds a table on the board file src. A hook puts a worker between the table and each pin.
func newRig(t *testing.T, src string, hook func(action string, pin int) error) *rig {
	t.Helper()
	d, err := load.Bytes("test.yaml", []byte(src), nil)
	if err != nil {
		t.Fatal(err)
	}
	return rigOn(t, d, hook)
}

func rigOn(t *testing.T, d *board.Description, hook func(action string, pin int) error) *rig {
	t.Helper()
	drv, err := sim.New(d, sim.Options{Hook: hook})
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{t: t, d: d, sim: drv}
	r.Table, err = New(d, drv, Options{OnEvent: func(e Event) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.events = append(r.events, e)
	}})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// end closes the table, which must go well.
func (r *rig) end() {
	r.t.Helper()
	if err := r.Close(); err != nil {
		r.t.Error(err)
	}
}

func (r *rig) h(name string) Handle {
	r.t.Helper()
	h, err := r.Resolve(name)
	if err != nil {
		r.t.Fatal(err)
	}
	return h
}

// line returns the level on a line, asked of the simulator and not of the table.
func (r *rig) line(name string) int {
	r.t.Helper()
	level, err := r.sim.Get(int(r.h(name)))
	if err != nil {
		r.t.Fatal(err)
	}
	return level
}

func (r *rig) set(name string, level int) {
	r.t.Helper()
	if _, err := r.Write(agent, r.h(name), level); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) world(op, name, value string) {
	r.t.Helper()
	if _, err := r.sim.Sim(op, name, value); err != nil {
		r.t.Fatal(err)
	}
}

// kinds returns "kind NAME cause" of the events so far and forgets them.
func (r *rig) kinds() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var list []string
	for _, e := range r.events {
		list = append(list, strings.TrimSpace(fmt.Sprintf("%s %s %s", e.Kind, e.Name, e.Cause)))
	}
	r.events = nil
	return list
}

// refused checks that err is a refusal by a rule.
func refused(t *testing.T, err error, rule string) *Refusal {
	t.Helper()
	r, ok := errors.AsType[*Refusal](err)
	if !ok || r.Rule != rule {
		t.Errorf("got %v want a refusal by %q", err, rule)
		return &Refusal{}
	}
	return r
}

func builtin(t *testing.T) *board.Description {
	t.Helper()
	d, err := load.Builtin("bench-sim")
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestSystemPinsByEveryAlias tries every spelling of every system pin that a program could think of.
func TestSystemPinsByEveryAlias(t *testing.T) {
	d := builtin(t)
	r := rigOn(t, d, nil)
	defer r.end()
	for i := range d.Pins {
		p := &d.Pins[i]
		if p.Owner != board.OwnerSystem {
			continue
		}
		for _, alias := range d.Pins[i].Aliases() {
			_, err := r.Resolve(alias)
			got := refused(t, err, RuleSystemPin)
			if got.Errno != 13 || got.Code != "denied" || got.Resource != p.Label() || len(got.Nearest) != 3 {
				t.Errorf("%s: got %+v", alias, got)
			}
		}
		id := string(p.ID)
		for _, form := range []string{
			"0" + id, "00" + id, "+" + id, "-" + id, " " + id, id + " ", id + "\n", "\t" + id, id + ".0", "0x" + id, "0b" + id,
			"0o" + id, id + "e0", "_" + id, id + "_", id + "\x00", "gpio" + id, "Gpio" + id, "GPIO 0" + id, "GPIO0" + id,
			"GPIO" + id + " ", "GP" + id, "P" + id, "D" + id, "pin" + id, "'" + id + "'", strings.ToLower(p.Name),
			" " + p.Name, p.Name + " ", "board." + p.Name, "Pin(" + id + ")", digits(id, '０'), digits(id, '٠'), digits(id, '𝟎'),
		} {
			if _, err := r.Resolve(form); err == nil {
				t.Errorf("%q was resolved", form)
			} else {
				refused(t, err, RuleUnknownPin)
			}
		}
		// A handle that a hostile machine made up meets the same check at every call.
		calls := map[string]error{}
		_, calls["Configure"] = r.Configure(agent, Handle(i), hw.ModeOut, hw.PullNone, 1)
		_, calls["Read"] = r.Read(agent, Handle(i))
		_, calls["Write"] = r.Write(agent, Handle(i), 1)
		_, calls["Toggle"] = r.Toggle(agent, Handle(i))
		calls["CheckADC"] = r.CheckADC(agent, Handle(i))
		_, _, calls["ReadADC"] = r.ReadADC(agent, Handle(i))
		_, calls["Watch"] = r.Watch(agent, Handle(i), hw.EdgeRising, func(hw.Edge) {})
		for call, err := range calls {
			if got := refused(t, err, RuleSystemPin); got.Errno != 13 {
				t.Errorf("%s %s: got errno %d", call, p.Label(), got.Errno)
			}
		}
	}
	for _, name := range []string{"", "True", "False", "None", "-1", "65535", "65536", "4294967301", "18446744073709551621", "99", "nan", strings.Repeat("9", 1000)} {
		_, err := r.Resolve(name)
		if got := refused(t, err, RuleUnknownPin); got.Errno != 13 || got.Code != "not_found" || len(got.Resource) > 80 {
			t.Errorf("%q: got %+v", name, got)
		}
	}
	for _, h := range []Handle{Handle(len(d.Pins)), 65535} {
		_, err := r.Write(agent, h, 1)
		refused(t, err, RuleUnknownPin)
	}
}

// digits spells a number with the digits of another script.
func digits(id string, zero rune) string {
	return strings.Map(func(c rune) rune { return zero + c - '0' }, id)
}

func TestNearest(t *testing.T) {
	r := rigOn(t, builtin(t), nil)
	defer r.end()
	tests := []struct {
		name string
		want []string // the closest; those behind may be as far off as others
	}{
		{"0", []string{"LED_B", "LED"}},
		{"51", []string{"ENC_B", "ENC_A", "RGB"}},
		{"RELAY1", []string{"RELAY_1", "RELAY_2"}},
		{"led", []string{"LED", "LED_B"}},
	}
	for _, tt := range tests {
		_, err := r.Resolve(tt.name)
		got, _ := errors.AsType[*Refusal](err)
		if got == nil || len(got.Nearest) != 3 || !cmp.Equal(got.Nearest[:len(tt.want)], tt.want) {
			t.Errorf("%s: got %+v want %v", tt.name, got, tt.want)
		}
	}
	_, err := r.Write(agent, r.h("BUTTON"), 1)
	if got, want := refused(t, err, RuleCapability).Nearest, []string{"FAN_PWM", "SERVO", "BUZZER"}; !cmp.Equal(got, want) {
		t.Errorf("outputs near BUTTON: got %v want %v", got, want)
	}
}

func TestStartDrivesEveryOutputSafe(t *testing.T) {
	d := builtin(t)
	r := rigOn(t, d, nil)
	defer r.end()
	for _, s := range r.Snapshot() {
		p := &d.Pins[s.Handle]
		if p.Output() && p.Owner != board.OwnerSystem && (s.Level != p.Safe || s.On || s.Mode == hw.ModeNone) {
			t.Errorf("%s: got level %d, on %v, mode %d, want its safe level %d", s.Name, s.Level, s.On, s.Mode, p.Safe)
		}
		if s.Mode == hw.ModeOpenDrain && s.Level != 1 {
			t.Errorf("%s: got level %d, want the line let go", s.Name, s.Level)
		}
		if !p.Output() && s.Mode != hw.ModeNone {
			t.Errorf("%s: got mode %d, want it untouched", s.Name, s.Mode)
		}
	}
	if got := r.kinds(); len(got) > 0 {
		t.Errorf("events of a good start: got %v", got)
	}
}

const permissionBoard = `board: p
mode: MODE
pins:
  - {id: 0, name: BOOT, owner: system}
  - {id: 1, name: SENSE, owner: agent, can: [adc]}
  - {id: 2, name: DOOR, owner: guard, can: [in]}
  - {id: 3, name: KEY, owner: agent, can: [in], pull: up}
  - {id: 4, name: VALVE, owner: guard, can: [out], safe: low}
  - {id: 5, name: LED, owner: agent, can: [in, out], safe: low}
  - {id: 6, name: BUS, owner: agent, can: [i2c]}
  - {id: 7, name: MAIN, owner: agent, can: [out], safe: low, danger: high}
  - {id: 8, name: HOUR, owner: agent, can: [out], safe: low, lease_required: true}
  - {id: 9, name: GATE, owner: agent, can: [in], pull: up}
  - {id: 10, name: PUMP, owner: agent, can: [out], safe: low, requires: GATE}
devices:
  - {type: adc, pin: SENSE}
`

// TestPermissions holds each kind of call by each kind of caller to its rule; an empty rule means it goes through.
func TestPermissions(t *testing.T) {
	boardPy := Caller{Name: "board.py", Drive: true, Board: true}
	asking := Caller{Name: "asking", Drive: true, Ask: true}
	admin := Caller{Name: "admin", Drive: true, Admin: true}
	config := func(m hw.Mode, pull hw.Pull, level int) func(*rig, Caller, Handle) error {
		return func(r *rig, c Caller, h Handle) error {
			_, err := r.Configure(c, h, m, pull, level)
			return err
		}
	}
	write := func(level int) func(*rig, Caller, Handle) error {
		return func(r *rig, c Caller, h Handle) error {
			_, err := r.Write(c, h, level)
			return err
		}
	}
	toggle := func(r *rig, c Caller, h Handle) error { _, err := r.Toggle(c, h); return err }
	read := func(r *rig, c Caller, h Handle) error { _, err := r.Read(c, h); return err }
	adc := func(r *rig, c Caller, h Handle) error { _, _, err := r.ReadADC(c, h); return err }
	watch := func(edges hw.Edges) func(*rig, Caller, Handle) error {
		return func(r *rig, c Caller, h Handle) error {
			cancel, err := r.Watch(c, h, edges, func(hw.Edge) {})
			if err == nil {
				cancel()
			}
			return err
		}
	}
	tests := []struct {
		name, mode, pin string
		caller          Caller
		call            func(*rig, Caller, Handle) error
		rule            string
	}{
		{"write", "open", "LED", agent, write(1), ""},
		{"write-safe", "open", "LED", agent, write(0), ""},
		{"write-2", "open", "LED", agent, write(2), RuleArgument},
		{"write-negative", "open", "LED", agent, write(-1), RuleArgument},
		{"write-unscoped", "open", "LED", reader, write(1), RuleScope},
		{"write-safe-unscoped", "open", "LED", reader, write(0), RuleScope},
		{"toggle-unscoped", "open", "LED", reader, toggle, RuleScope},
		{"out-unscoped", "open", "LED", reader, config(hw.ModeOut, 0, -1), RuleScope},
		{"in-from-out-unscoped", "open", "LED", reader, config(hw.ModeIn, 0, -1), RuleScope},
		{"in-unscoped", "open", "KEY", reader, config(hw.ModeIn, hw.PullUp, -1), ""},
		{"read-unscoped", "open", "LED", reader, read, ""},
		{"read-input", "open", "KEY", reader, read, ""},
		{"read-bus-line", "open", "BUS", reader, read, RuleCapability},
		{"read-guard", "open", "DOOR", reader, read, ""},
		{"write-input", "open", "KEY", agent, write(1), RuleCapability},
		{"out-on-input", "open", "KEY", agent, config(hw.ModeOut, 0, 1), RuleCapability},
		{"in-on-output", "open", "MAIN", agent, config(hw.ModeIn, 0, -1), RuleCapability},
		{"open-drain-on-output", "open", "LED", agent, config(hw.ModeOpenDrain, 0, -1), RuleCapability},
		{"bad-mode", "open", "LED", agent, config(200, 0, -1), RuleArgument},
		{"no-mode", "open", "LED", agent, config(hw.ModeNone, 0, -1), RuleArgument},
		{"bad-pull", "open", "LED", agent, config(hw.ModeIn, 9, -1), RuleArgument},
		{"bad-level", "open", "LED", agent, config(hw.ModeOut, 0, 2), RuleArgument},
		{"adc", "open", "SENSE", reader, adc, ""},
		{"adc-on-output", "open", "LED", reader, adc, RuleCapability},
		{"adc-configured", "open", "SENSE", reader, config(hw.ModeAnalog, 0, -1), ""},
		{"watch", "open", "KEY", reader, watch(hw.EdgeRising), ""},
		{"watch-nothing", "open", "KEY", reader, watch(0), RuleArgument},
		{"watch-bad-edges", "open", "KEY", reader, watch(4), RuleArgument},
		{"watch-output-only", "open", "MAIN", reader, watch(hw.EdgeRising), RuleCapability},
		{"guard-write", "open", "VALVE", agent, write(1), RuleGuardPin},
		{"guard-write-admin", "open", "VALVE", admin, write(1), RuleGuardPin},
		{"guard-write-safe", "open", "VALVE", agent, write(0), RuleGuardPin},
		{"guard-configure", "open", "DOOR", agent, config(hw.ModeIn, hw.PullUp, -1), RuleGuardPin},
		{"watched-as-it-is", "open", "GATE", reader, config(hw.ModeIn, hw.PullUp, -1), ""},
		{"watched-default-pull", "open", "GATE", reader, config(hw.ModeIn, hw.PullNone, -1), ""},
		{"watched-other-pull", "open", "GATE", agent, config(hw.ModeIn, hw.PullDown, -1), RuleGuardPin},
		{"danger", "open", "MAIN", agent, write(1), ""},
		{"danger-ask", "open", "MAIN", asking, write(1), RuleDanger},
		{"danger-ask-toggle", "open", "MAIN", asking, toggle, RuleDanger},
		{"danger-ask-configure", "open", "MAIN", asking, config(hw.ModeOut, 0, 1), RuleDanger},
		{"danger-ask-safe", "open", "MAIN", asking, write(0), ""},
		{"danger-ask-look", "open", "MAIN", asking, config(hw.ModeOut, 0, -1), ""},
		{"lease", "open", "HOUR", agent, write(1), RuleLease},
		{"lease-safe", "open", "HOUR", agent, write(0), ""},
		{"engineering-write", "engineering", "LED", agent, write(1), RuleEngineering},
		{"engineering-write-admin", "engineering", "LED", admin, write(1), RuleEngineering},
		{"engineering-configure", "engineering", "KEY", agent, config(hw.ModeIn, 0, -1), RuleEngineering},
		{"engineering-toggle", "engineering", "LED", agent, toggle, RuleEngineering},
		{"engineering-board", "engineering", "LED", boardPy, write(1), ""},
		{"engineering-read", "engineering", "LED", reader, read, ""},
		{"engineering-adc", "engineering", "SENSE", reader, adc, ""},
		{"engineering-watch", "engineering", "KEY", reader, watch(hw.EdgeFalling), ""},
		{"engineering-guard", "engineering", "VALVE", boardPy, write(1), RuleGuardPin},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t, strings.Replace(permissionBoard, "MODE", tt.mode, 1), nil)
			defer r.end()
			before := r.line("LED")
			err := tt.call(r, tt.caller, r.h(tt.pin))
			if tt.rule == "" {
				if err != nil {
					t.Errorf("got %v", err)
				}
				return
			}
			got := refused(t, err, tt.rule)
			wantErrno, wantCode := 13, "denied"
			switch tt.rule {
			case RuleArgument:
				wantErrno, wantCode = 22, "bad_request"
			case RuleDanger:
				wantCode = "approval_needed"
			}
			if got.Errno != wantErrno || got.Code != wantCode || got.Resource != tt.pin {
				t.Errorf("got %+v want errno %d code %s", got, wantErrno, wantCode)
			}
			if r.line("LED") != before {
				t.Error("a refused call changed a level")
			}
		})
	}
}

func TestConfigureAndWriteEffects(t *testing.T) {
	r := newRig(t, strings.Replace(permissionBoard, "MODE", "open", 1), nil)
	defer r.end()
	led := r.h("LED")
	short := func(e *Effect, err error) string {
		if err != nil {
			return err.Error()
		}
		if e == nil {
			return "none"
		}
		return fmt.Sprintf("%s %s %d>%d read %d %q", e.Pin, e.Name, e.From, e.To, e.ReadBack, e.Cause)
	}
	steps := []struct {
		name string
		do   func() (*Effect, error)
		want string
		line int
	}{
		{"keep", func() (*Effect, error) { return r.Configure(agent, led, hw.ModeOut, 0, -1) }, "none", 0},
		{"on", func() (*Effect, error) { e, err := r.Write(agent, led, 1); return &e, err }, `5 LED 0>1 read 1 ""`, 1},
		{"on-again", func() (*Effect, error) { e, err := r.Write(agent, led, 1); return &e, err }, `5 LED 1>1 read 1 ""`, 1},
		{"keep-on", func() (*Effect, error) { return r.Configure(agent, led, hw.ModeOut, 0, -1) }, "none", 1},
		{"toggle", func() (*Effect, error) { e, err := r.Toggle(agent, led); return &e, err }, `5 LED 1>0 read 0 ""`, 0},
		{"toggle-back", func() (*Effect, error) { e, err := r.Toggle(agent, led); return &e, err }, `5 LED 0>1 read 1 ""`, 1},
		{"input", func() (*Effect, error) { return r.Configure(agent, led, hw.ModeIn, hw.PullUp, -1) }, `5 LED 1>-1 read -1 ""`, 1},
		{"write-input", func() (*Effect, error) { e, err := r.Write(agent, led, 0); return &e, err },
			"LED (pin 5) is configured as an input: make it an output first (rule: argument)", 1},
		{"input-again", func() (*Effect, error) { return r.Configure(agent, led, hw.ModeIn, hw.PullDown, -1) }, "none", 0},
		{"fresh-output-is-safe", func() (*Effect, error) { return r.Configure(agent, led, hw.ModeOut, 0, -1) }, `5 LED -1>0 read 0 ""`, 0},
		{"output-on", func() (*Effect, error) { return r.Configure(agent, led, hw.ModeOut, 0, 1) }, `5 LED 0>1 read 1 ""`, 1},
	}
	for _, s := range steps {
		if got := short(s.do()); got != s.want {
			t.Errorf("%s: got %s want %s", s.name, got, s.want)
		}
		if got := r.line("LED"); got != s.line {
			t.Errorf("%s: got line %d want %d", s.name, got, s.line)
		}
	}
}
