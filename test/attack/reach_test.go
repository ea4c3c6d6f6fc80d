//go:build unix

package attack

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pal-terminal/pal/board"
	"github.com/pal-terminal/pal/board/load"
	"github.com/pal-terminal/pal/client"
	"github.com/pal-terminal/pal/identity"
	"github.com/pal-terminal/pal/protocol"
)

// systemPins are the lines of bench-sim that no program may move.
var systemPins = []string{"BOOT", "USB_DM", "USB_DP", "FLASH_CS1", "FLASH_HD", "FLASH_WP", "FLASH_CS0", "FLASH_CLK", "FLASH_Q", "FLASH_D"}

// Every name that a pin could be reached by, on every way to drive one.
func TestAliases(t *testing.T) {
	r := attack(t, nil, rules{never: systemPins})
	agent := r.dial(r.Agent)
	names := []string{
		"0", "00", "-0", "+0", " 0", "0 ", "0x0", "0.0", "0e0", "GPIO0", "gpio0", "Gpio0", "GPIO00", "BOOT", "boot", "Boot", "BOOT ", "BOOT\x00",
		"GPIO26", "FLASH_CS1", "\uff10", "٠", "0\n", "", "None", "A0", "19", "20", "26", "32", "65536", "-1", "4294967296", "18446744073709551616", "51", "22",
	}
	for _, name := range names {
		for _, level := range []int{0, 1} {
			r.witness.attacks++
			res, err := agent.PinSet(t.Context(), name, level)
			if err == nil && !res.Error {
				t.Errorf("pin_set %q: got %+v, want a refusal", name, res)
			}
		}
	}
	// The same from Python, with what Python has besides. A value that is no pin may not even be a name.
	ids := []string{
		"0", "False", "-1", "0.0", "None", "[]", "(0,)", "{}", "b'BOOT'", "10**30", "-10**30", "float('nan')", "float('inf')", "0j", "'0'*5000",
		"type('I', (int,), {})(0)", "type('S', (str,), {})('BOOT')", "type('P', (Pin,), {'_h': 0, '_id': 0, '_mode': 2, '_pull': None})", "object()", "Pin", "lambda: 0",
		"65536", "65535", "1 << 64", "22", "51", "True + 25", "Pin(5).__class__(0)", "ADC(1)",
	}
	for _, n := range names {
		ids = append(ids, fmt.Sprintf("%+q", n))
	}
	uses := []string{
		"Pin(%s, Pin.OUT).on()", "Pin(%s, Pin.OUT, value=1)", "Pin(%s).on()", "Pin(%s).value(1)", "Pin(%s)(1)", "Pin(%s).toggle()", "Pin(%s).init(Pin.OUT, value=1)",
		"Pin(%s, Pin.OPEN_DRAIN, value=0)", "Pin(%s, Pin.IN, Pin.PULL_DOWN)", "Signal(%s, Pin.OUT, invert=True).off()", "Pin(%s).irq(lambda p: p.on())", "ADC(%s).read()", "PWM(%s, freq=10, duty=500)",
	}
	for _, id := range ids {
		// One exec for all uses of an id: what is counted is what got through.
		var code strings.Builder
		code.WriteString("from machine import Pin, ADC, PWM, Signal\nthrough = []\n")
		for _, use := range uses {
			r.witness.attacks++
			fmt.Fprintf(&code, "try:\n  "+use+"\n  through.append(%q)\nexcept Exception: pass\n", id, use)
		}
		code.WriteString("print(through)\n")
		if res := r.exec(agent, protocol.Exec{Code: code.String()}); res.Stdout != "[]\n" {
			t.Errorf("pin %s: got %q, %s, want every use refused", id, res.Stdout, res.Message)
		}
	}
}

// Handles are small numbers: a program that goes below the library can try them all, with every number besides.
func TestBelowTheLibrary(t *testing.T) {
	r := attack(t, nil, rules{never: systemPins, apart: [][2]string{{"RELAY_1", "RELAY_2"}}})
	agent := r.dial(r.Agent)
	for _, code := range []string{
		"for h in range(70000):\n  _pal.pin_write(h, 1)\n  if h > 200: h += 997",
		"for h in list(range(70)) + [-1, 255, 256, 65535, 65536, 1 << 30]:\n for m in (-1, 0, 1, 2, 3, 4, 5, 255, 256, 258, 1 << 29):\n  for l in (-2, -1, 0, 1, 2, 256): _pal.pin_mode(h, m, 0, l)",
		"for h in range(70):\n  _pal.pin_toggle(h)\n  _pal.pin_toggle(h)\n  _pal.pin_write(h, 2)\n  _pal.pin_write(h, -1)\n  _pal.pin_write(h, 1 << 29)",
		"for a in (None, '', 'x', [], {}, 1.5, float('nan'), object(), _pal, lambda: 0, b'\\0', True, ()):\n for f in (_pal.pin_write, _pal.pin_mode, _pal.pin_toggle, _pal.pin_open, _pal.pin_read, _pal.adc_read, _pal.event, _pal.wait, _pal.deadline):\n  for n in range(6):\n   try: f(*([a] * n))\n   except Exception: pass",
		"p = Pin(5)\nfor h in range(70):\n  p._h = h\n  for f in (p.on, p.toggle, p.off):\n   try: f()\n   except OSError: pass",
		"class P(Pin):\n  def __init__(self, h): self._h = h; self._mode = 2; self._pull = None; self._id = h\nfor h in range(70):\n  for f in (P(h).on, P(h).toggle):\n   try: f()\n   except OSError: pass",
		"from machine import Signal\nfor a, b in ((13, 14), (14, 13)):\n  Pin(a, Pin.OUT).on()\n  for f in (lambda: Pin(b).on(), lambda: Pin(b).toggle(), lambda: Pin(b, Pin.OUT, value=1), lambda: Signal(Pin(b), invert=True).off(), lambda: Pin(b).init(Pin.OUT, value=1)):\n   try: f()\n   except OSError: pass\n  Pin(a).off()",
	} {
		r.exec(agent, protocol.Exec{Code: "import _pal\nfrom machine import Pin\n" + code, Session: "new"})
		r.works(agent, code)
	}
}

const bench = `
board: bench-attack
mode: %s
board_py: board.py
pins:
  - {id: 0, name: BOOT, owner: system}
  - {id: 1, name: FLOAT, owner: guard, can: [in], pull: down}
  - {id: 4, name: LEFT, owner: agent, can: [out], safe: low, interlock: [RIGHT]}
  - {id: 5, name: RIGHT, owner: agent, can: [out], safe: low, interlock: [LEFT]}
  - {id: 6, name: PULSE, owner: agent, can: [in, out], safe: low, max_on: 200ms, min_off: 500ms}
  - {id: 7, name: SECRET, owner: agent, can: [in, out], safe: low, danger: high}
  - {id: 8, name: PUMP, owner: agent, can: [out], safe: low, requires: FLOAT}
  - {id: 9, name: LAMP, owner: agent, can: [in, out], safe: low}
  - {id: 10, name: KEY, owner: agent, can: [in], pull: up}
drivers: {kind: sim}
devices:
  - {type: relay, pin: LEFT}
  - {type: relay, pin: RIGHT}
  - {type: button, pin: KEY}
`

const benchPy = `
from machine import Pin
import time
_hidden = Pin("SECRET", Pin.OUT)
LEFT = Pin("LEFT", Pin.OUT)
def left_on():
    LEFT.on()
def left_off():
    LEFT.off()
def echo(x):
    return x
def slow(seconds):
    time.sleep(seconds)
def deaf():
    while True:
        try:
            time.sleep(1)
        except BaseException:
            pass
`

func benchBoard(t *testing.T, mode string) *board.Description {
	t.Helper()
	d, err := load.Bytes("board.yaml", fmt.Appendf(nil, bench, mode), []byte(benchPy))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// An actor without the scope actuate moves nothing, one that has to ask moves nothing of high danger.
func TestRights(t *testing.T) {
	r := attack(t, benchBoard(t, "open"), rules{never: []string{"BOOT", "FLOAT", "LEFT", "RIGHT", "PULSE", "SECRET", "PUMP", "LAMP"}})
	looker := r.actor("looker", false, identity.Read, identity.Exec)
	for _, code := range []string{
		"Pin('LAMP', Pin.OUT).on()", "Pin('LAMP', Pin.IN)", "Pin('LAMP', Pin.IN, Pin.PULL_UP)", "Pin('LAMP').toggle()", "Pin('PULSE', Pin.IN, Pin.PULL_UP)", "left_on()", "LEFT.on()",
		"Pin('KEY').irq(lambda p: Pin('LAMP', Pin.OUT).on(), 3)\nimport time\ntime.sleep_ms(50)", "import micropython\nmicropython.schedule(lambda p: Pin('LAMP', Pin.OUT).on(), 0)",
		"class D:\n  def __del__(self): Pin('LAMP', Pin.OUT).on()\nd = D(); d = None\nimport gc; gc.collect()",
		"import sys\nsys.modules['board'].left_on()",
	} {
		r.exec(looker, protocol.Exec{Code: code})
		for _, op := range []string{"press", "release"} { // handlers that were armed run in the idle machine, too
			if _, err := r.Sim.Sim(op, "KEY", ""); err != nil {
				t.Fatal(err)
			}
		}
		r.works(looker, code)
	}
	asker := r.actor("asker", true, identity.Read, identity.Exec, identity.Actuate)
	for _, code := range []string{"Pin('SECRET', Pin.OUT).on()", "Pin('SECRET', Pin.OUT, value=1)", "Pin('SECRET').toggle()", "Pin('SECRET', Pin.OUT)\nPin('SECRET').value(1)"} {
		if res := r.exec(asker, protocol.Exec{Code: code}); res.Code != protocol.CodeApprovalNeeded {
			t.Errorf("%s: got %+v, want approval_needed", code, res)
		}
	}
	r.witness.attacks++
	if res, err := asker.PinSet(t.Context(), "SECRET", 1); err == nil && !res.Error {
		t.Errorf("pin_set of high danger: got %+v, want a refusal", res)
	}
}

// In engineering mode the agent's machine drives nothing but through the functions of board.py.
func TestEngineeringEscape(t *testing.T) {
	rules := rules{never: []string{"BOOT", "FLOAT", "RIGHT", "PULSE", "SECRET", "PUMP", "LAMP", "LEFT"}}
	r := attack(t, benchBoard(t, "engineering"), rules)
	agent := r.dial(r.Agent)
	for _, code := range []string{
		"board.LEFT.on()", "board._hidden.on()", "board.SECRET", "Pin('SECRET', Pin.OUT).on()", "Pin('LAMP').on()", "Pin(9).toggle()", "Pin('LAMP', Pin.IN, Pin.PULL_UP)",
		"board.left_on.__globals__['LEFT'].on()", "board.left_on.__globals__['_hidden'].on()", "board.left_on.__globals__['_call']('_hidden.on', [], {})",
		"board.left_on.__globals__['_call']('__import__', ['os'], {})", "board.left_on.__globals__['_call']('left_on\\0', [], {})", "board.left_on.__globals__['_call']('', [], {})", "board.left_on.__globals__['_call']('x' * 200000, [], {})",
		"import sys\nfor m in list(sys.modules.values()):\n for n in dir(m):\n  try: getattr(m, n).on()\n  except Exception: pass",
		"exec(board.__source__)\nleft_on()", "exec(board.__source__)\n_hidden.on()", "import machine\nmachine.Pin.__init__ = lambda *a, **k: None\nPin._h = 5\nPin().on()",
		"import _pal\nfor h in range(20):\n  _pal.pin_mode(h, 2, 0, 1)\n  _pal.pin_write(h, 1)\n  _pal.pin_toggle(h)", "import js\njs.set_board('')", "import js\njs.board_call('left_on', '[[], {}]')",
		"import uctypes\nuctypes.bytearray_at(0, 1 << 20)", "board.echo(Pin)", "board.echo(board)", "board.echo({1: 2})", "a = []\na.append(a)\nboard.echo(a)", "board.echo('x' * 100000)",
		"open('/board.py', 'w').write('x = 1')", "open('/flash/board.py', 'w').write('from machine import Pin\\nPin(9, Pin.OUT).on()')\nimport sys\nsys.path.insert(0, '/flash')\nsys.modules.pop('board')\nimport board",
		"Pin('KEY').irq(lambda p: Pin('LAMP', Pin.OUT).on(), 3)", "board.left_on = lambda: Pin('LEFT', Pin.OUT).on()\nboard.left_on()",
	} {
		r.exec(agent, protocol.Exec{Code: "import board\nfrom machine import Pin\n" + code, Session: "new"})
		r.reset() // some of these break the machine for those that follow; the guard is what must hold
		r.works(agent, code)
	}
}

// The functions themselves do work, keep the rules, and their machine is as mortal as the agent's.
func TestBoardFunctionsUnderAttack(t *testing.T) {
	r := attack(t, benchBoard(t, "engineering"), rules{never: []string{"BOOT", "RIGHT", "SECRET", "LAMP"}})
	agent := r.dial(r.Agent)
	short := int64(400)
	for code, want := range map[string][]protocol.Code{
		"board.slow(60)":                {protocol.CodeDeadline},
		"board.deaf()":                  {protocol.CodeDeadline},
		"board.left_on()\nboard.deaf()": {protocol.CodeDeadline},
		"try:\n  board.deaf()\nexcept BaseException: pass\nwhile True: pass": {protocol.CodeDeadline},
	} {
		res := r.exec(agent, protocol.Exec{Code: "import board\n" + code, TimeoutMS: &short})
		if !slices.Contains(want, res.Code) {
			t.Errorf("%s: got %+v, want %v", code, res, want)
		}
		r.works(agent, code)
		if pins := r.levels(); pins["LEFT"] != 0 {
			t.Errorf("%s: LEFT is %d, want it safe after its program was ended", code, pins["LEFT"])
		}
	}
	looker := r.actor("looker", false, identity.Read, identity.Exec)
	if res := r.exec(looker, protocol.Exec{Code: "board.left_on()"}); res.Code != protocol.CodeDenied || r.levels()["LEFT"] != 0 {
		t.Errorf("a function by an actor without actuate: got %+v, LEFT %d, want denied", res, r.levels()["LEFT"])
	}
	if res := r.exec(agent, protocol.Exec{Code: "board.left_on()"}); res.Error || r.levels()["LEFT"] != 1 {
		t.Errorf("a function after all that: got %+v, LEFT %d, want it on", res, r.levels()["LEFT"])
	}
}

func (r *rig) levels() map[string]int {
	r.t.Helper()
	pins, err := r.human.Pins(r.t.Context())
	if err != nil {
		r.t.Fatal(err)
	}
	levels := map[string]int{}
	for _, p := range pins.Pins {
		if p.Level != nil {
			levels[p.Name] = *p.Level
		}
	}
	return levels
}

// A pulse, its pause and a requirement hold against a program that does its best, by every way to switch.
func TestTimedRules(t *testing.T) {
	var full atomic.Bool
	r := attack(t, benchBoard(t, "open"), rules{
		never: []string{"BOOT", "SECRET"}, apart: [][2]string{{"LEFT", "RIGHT"}},
		longest: map[string]time.Duration{"PULSE": 200 * time.Millisecond}, pause: map[string]time.Duration{"PULSE": 500 * time.Millisecond},
		unheard: map[string]func() bool{"PUMP": full.Load},
	})
	agent := r.dial(r.Agent)
	timeout := int64(2500)
	res := r.exec(agent, protocol.Exec{TimeoutMS: &timeout, Code: `
from machine import Pin, Signal
import time
p = Pin("PULSE", Pin.OUT)
ways = (lambda: p.on(), lambda: p.toggle(), lambda: Pin("PULSE", Pin.OUT, value=1), lambda: p.init(Pin.IN), lambda: p.init(Pin.IN, Pin.PULL_UP), lambda: p.init(Pin.OUT),
        lambda: Signal(p, invert=True).off(), lambda: Pin("PUMP", Pin.OUT).on(), lambda: Pin("PUMP").toggle(), lambda: Pin("FLOAT", Pin.IN, Pin.PULL_UP), lambda: Pin("FLOAT", Pin.OUT).on(),
        lambda: Pin("LEFT", Pin.OUT).toggle(), lambda: Pin("RIGHT", Pin.OUT).toggle())
while True:
    for way in ways:
        try: way()
        except OSError: pass
`})
	if res.Code != protocol.CodeDeadline {
		t.Errorf("got %+v, want it to go on to its deadline", res)
	}
	if levels := r.levels(); levels["PULSE"] != 0 || levels["LEFT"] != 0 || levels["RIGHT"] != 0 {
		t.Errorf("levels after the deadline: got %v, want safe", levels)
	}
}

// What code of fewer rights leaves in the machine must not run with the rights of whoever comes next: not a method of Pin that
// it replaced, nor a handler that it put in another's place.
func TestRightsAreNotInherited(t *testing.T) {
	r := attack(t, benchBoard(t, "open"), rules{never: []string{"BOOT", "FLOAT", "LEFT", "RIGHT", "PULSE", "SECRET", "PUMP", "LAMP"}})
	looker := r.actor("looker", false, identity.Read, identity.Exec)
	asker := r.actor("asker", true, identity.Read, identity.Exec, identity.Actuate)
	const drive = "import _pal, machine, builtins\ndef drive(*args, **kwargs):\n  _pal.pin_write(_pal.pin_open('SECRET'), 1)\n  return 7\n"
	for _, trap := range []string{
		"machine.Pin.value = drive", "builtins.print = drive", "_pal.pin_read = drive", "machine.Pin.__init__ = drive",
		"try: _pal.arm(_pal.pin_open('KEY'), drive, None, None, 10**200)\nexcept Exception: pass",
	} {
		for name, weak := range map[string]*client.Client{"looker": looker, "asker": asker} {
			r.exec(r.human, protocol.Exec{Code: "Pin('KEY', Pin.IN).irq(lambda p: None, 3)\nNone"})
			r.exec(weak, protocol.Exec{Code: drive + trap})
			for _, op := range []string{"press", "release"} {
				if _, err := r.Sim.Sim(op, "KEY", ""); err != nil {
					t.Fatal(err)
				}
			}
			res := r.exec(r.human, protocol.Exec{Code: "from machine import Pin\nprint(Pin('KEY').value())"})
			if res.Stdout != "1\n" || res.Error || len(res.Effects) > 0 {
				t.Errorf("a person after %s's %s: got %+v, want 1 and no effects", name, trap, res)
			}
			r.reset()
		}
	}
}
