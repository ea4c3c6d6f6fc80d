//go:build unix

package micropython

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pal-terminal/pal/hw"
)

// board answers hardware calls like a board of plain pins.
func board(levels map[uint16]int64) func(hw.Call) hw.Reply {
	names := map[string]int64{"LED": 2}
	return func(c hw.Call) hw.Reply {
		switch c.Op {
		case hw.OpPinOpen, hw.OpADCOpen:
			if n, ok := names[c.Text]; ok {
				return hw.Reply{Value: n}
			}
			n := int64(0)
			if err := json.Unmarshal([]byte(c.Text), &n); err != nil || n > 40 {
				return hw.Reply{Errno: 19, Text: "no pin " + c.Text}
			}
			if n == 0 {
				return hw.Reply{Errno: 13, Refusal: 7, Text: "pin 0 is the system's (rule system)"}
			}
			return hw.Reply{Value: n}
		case hw.OpPinMode:
			if c.C >= 0 {
				levels[c.Pin] = c.C
			}
		case hw.OpPinWrite:
			levels[c.Pin] = c.A
		case hw.OpPinToggle:
			levels[c.Pin] ^= 1
		case hw.OpPinRead:
			return hw.Reply{Value: levels[c.Pin]}
		case hw.OpADCRead:
			return hw.Reply{Value: 0xABC, Extra: 2_100_000}
		case hw.OpRefuse:
			return hw.Reply{Errno: 13, Refusal: 9, Text: c.Text + " is not for programs"}
		default: // what has no answer here succeeds
		}
		return hw.Reply{}
	}
}

func TestOutput(t *testing.T) {
	g := start(t)
	for _, tt := range []struct{ name, code, out string }{
		{"print", "print('hello', 1, 2.5)", "hello 1 2.5\n"},
		{"unicode", "print('é😀\\u2028')", "é😀\u2028\n"},
		{"nul", "print('a\\x00b')", "a\x00b\n"},
		{"source nul in string", "print('a\x00b')", "a\x00b\n"},
		{"surrogate", "print('\\ud800')", "\xed\xa0\x80\n"},
		{"bytes", "import sys; sys.stdout.buffer.write(b'\\xff\\xfe')", "\xff\xfe"},
		{"main", "print(__name__)", "__main__\n"},
		{"argv", "import sys; print(sys.argv)", "['']\n"},
		{"implementation", "import sys; print(sys.implementation._machine, sys.implementation.name, sys.platform)", "PAL bench-sim micropython pal\n"},
		{"uname", "import os; u = os.uname(); print(u.sysname, u.machine, u[0])", "pal bench-sim pal\n"},
		{"names", "print(Pin.OUT, ADC is not None, time.ticks_ms() >= 0)", "2 True True\n"},
		{"native", "@micropython.native\ndef f():\n    return 1\n@micropython.viper\ndef g(): return 2\nprint(f() + g())", "3\n"},
		{"native in text", "s = '''\n@micropython.native\n'''\nprint(s)", "\n@micropython.native\n\n"},
		{"u aliases", "import ujson, utime, ubinascii, ustruct, uos, uio, ure, uasyncio\nprint(ujson.loads('[1]'), utime is time)", "[1] True\n"},
		{"urandom", "import os; print(len(os.urandom(600)))", "600\n"},
		{"big print", "print('x' * 3000); print('y')", strings.Repeat("x", 3000) + "\ny\n"},
		{"time", "print(time.time() > 1700000000, time.time_ns() > 1700000000 * 10**9, time.gmtime(0)[0])", "True True 1970\n"},
		{"stdin", "import sys; print(repr(sys.stdin.read()))", "''\n"},
		{"frozen", "import datetime, logging, base64, itertools, unittest; print(base64.b64encode(b'a'))", "b'YQ=='\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := g.exec(tt.code)
			if r.out != tt.out || r.Exception != nil || r.err != "" {
				t.Errorf("got %q, %+v, %q, want %q", r.out, r.Exception, r.err, tt.out)
			}
		})
	}
}

func TestException(t *testing.T) {
	g := start(t)
	for _, tt := range []struct {
		name, code string
		want       hw.Exception
	}{
		{"value", "x = 1\nraise ValueError('bad')", hw.Exception{Class: "ValueError", Message: "bad", Line: 2,
			Traceback: "Traceback (most recent call last):\n  File \"<stdin>\", line 2, in <module>\nValueError: bad\n"}},
		{"in function", "def f():\n    return 1/0\nf()", hw.Exception{Class: "ZeroDivisionError", Message: "divide by zero", Line: 2,
			Traceback: "Traceback (most recent call last):\n  File \"<stdin>\", line 3, in <module>\n  File \"<stdin>\", line 2, in f\nZeroDivisionError: divide by zero\n"}},
		{"syntax", "x = 1\ny = )\n", hw.Exception{Class: "SyntaxError", Message: "invalid syntax", Line: 2,
			Traceback: "Traceback (most recent call last):\n  File \"<stdin>\", line 2\nSyntaxError: invalid syntax\n"}},
		{"nul in source", "x = 1\x00", hw.Exception{Class: "SyntaxError", Message: "invalid syntax", Line: 1,
			Traceback: "Traceback (most recent call last):\n  File \"<stdin>\", line 1\nSyntaxError: invalid syntax\n"}},
		{"not utf-8", "x = '\xff'", hw.Exception{Class: "SyntaxError", Message: "source is not UTF-8",
			Traceback: "Traceback (most recent call last):\nSyntaxError: source is not UTF-8\n"}},
		{"file", "open('none.txt')", hw.Exception{Class: "OSError", Message: "[Errno 2] ENOENT", Line: 1,
			Traceback: "Traceback (most recent call last):\n  File \"<stdin>\", line 1, in <module>\nOSError: [Errno 2] ENOENT\n"}},
		{"exit", "import sys\nsys.exit(3)", hw.Exception{Class: "SystemExit", Message: "3", Line: 2,
			Traceback: "Traceback (most recent call last):\n  File \"<stdin>\", line 2, in <module>\nSystemExit: 3\n"}},
		{"base", "class E(BaseException): pass\nraise E('x')", hw.Exception{Class: "E", Message: "x", Line: 2,
			Traceback: "Traceback (most recent call last):\n  File \"<stdin>\", line 2, in <module>\nE: x\n"}},
		{"input", "input('name? ')", hw.Exception{Class: "EOFError", Message: "no standard input", Line: 1,
			Traceback: "Traceback (most recent call last):\n  File \"<stdin>\", line 1, in <module>\nEOFError: no standard input\n"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := g.exec(tt.code)
			if r.Exception == nil {
				t.Fatal("no exception")
			}
			if d := cmp.Diff(&tt.want, r.Exception); d != "" {
				t.Errorf("exception (-want +got):\n%s", d)
			}
			if r.err != tt.want.Traceback {
				t.Errorf("stderr: got %q, want %q", r.err, tt.want.Traceback)
			}
		})
	}
}

func TestExitWithoutError(t *testing.T) {
	g := start(t)
	for _, code := range []string{"import sys; sys.exit()", "raise SystemExit(0)", "import sys; sys.exit(None)", "import machine; machine.reset()"} {
		if r := g.exec(code); r.Exception != nil || r.err != "" {
			t.Errorf("%s: got %+v, %q, want no exception", code, r.Exception, r.err)
		}
	}
}

func TestPin(t *testing.T) {
	g := start(t)
	for _, tt := range []struct {
		name, code, out string
		calls           []hw.Call
	}{
		{"on", "Pin(5, Pin.OUT).on()", "", []hw.Call{{Op: hw.OpPinOpen, Text: "5"}, {Op: hw.OpPinMode, Pin: 5, A: 2, C: -1}, {Op: hw.OpPinWrite, Pin: 5, A: 1}}},
		{"no mode", "p = Pin('LED'); p(1); p.off(); p.value('x')", "", []hw.Call{{Op: hw.OpPinOpen, Text: "LED"}, {Op: hw.OpPinWrite, Pin: 2, A: 1}, {Op: hw.OpPinWrite, Pin: 2}, {Op: hw.OpPinWrite, Pin: 2, A: 1}}},
		{"pull", "p = Pin(6, Pin.IN, Pin.PULL_UP); print(p(), p)", "0 Pin(6)\n", []hw.Call{{Op: hw.OpPinOpen, Text: "6"}, {Op: hw.OpPinMode, Pin: 6, A: 1, B: 1, C: -1}, {Op: hw.OpPinRead, Pin: 6}}},
		{"keywords", "p = Pin(id=7, mode=Pin.OPEN_DRAIN, pull=None, value=1, drive=3, alt=-1); print(p.value())", "1\n",
			[]hw.Call{{Op: hw.OpPinOpen, Text: "7"}, {Op: hw.OpPinMode, Pin: 7, A: 3, C: 1}, {Op: hw.OpPinRead, Pin: 7}}},
		{"copy", "p = Pin(8, Pin.OUT); q = Pin(p); q.toggle(); q.init(Pin.IN)", "", []hw.Call{{Op: hw.OpPinOpen, Text: "8"}, {Op: hw.OpPinMode, Pin: 8, A: 2, C: -1}, {Op: hw.OpPinToggle, Pin: 8}, {Op: hw.OpPinMode, Pin: 8, A: 1, C: -1}}},
		{"adc", "from machine import ADC\na = ADC(Pin(34), atten=ADC.ATTN_11DB); print(a.read(), a.read_u16(), a.read_uv())", "2748 43978 2100000\n",
			[]hw.Call{{Op: hw.OpPinOpen, Text: "34"}, {Op: hw.OpADCOpen, Text: "34"}, {Op: hw.OpADCRead, Pin: 34}, {Op: hw.OpADCRead, Pin: 34}, {Op: hw.OpADCRead, Pin: 34}}},
		{"signal", "from machine import Signal\ns = Signal(Pin(9, Pin.OUT), invert=True); s.on(); print(s.value())", "1\n",
			[]hw.Call{{Op: hw.OpPinOpen, Text: "9"}, {Op: hw.OpPinMode, Pin: 9, A: 2, C: -1}, {Op: hw.OpPinWrite, Pin: 9}, {Op: hw.OpPinRead, Pin: 9}}},
		{"none is low", "p = Pin(5, Pin.OUT); p.value(None); p(None)", "", []hw.Call{{Op: hw.OpPinOpen, Text: "5"}, {Op: hw.OpPinMode, Pin: 5, A: 2, C: -1}, {Op: hw.OpPinWrite, Pin: 5}, {Op: hw.OpPinWrite, Pin: 5}}},
		{"init sets what is named", "p = Pin(6, Pin.IN); p.init(); p.init(pull=Pin.PULL_UP); p.init(value=1); print(p.mode(), p.pull())", "1 1\n",
			[]hw.Call{{Op: hw.OpPinOpen, Text: "6"}, {Op: hw.OpPinMode, Pin: 6, A: 1, C: -1}, {Op: hw.OpPinMode, Pin: 6, A: 1, B: 1, C: -1}, {Op: hw.OpPinWrite, Pin: 6, A: 1}}},
		{"inverted start", "from machine import Signal\ns = Signal(9, Pin.OUT, value=0, invert=True); s.value(None)", "",
			[]hw.Call{{Op: hw.OpPinOpen, Text: "9"}, {Op: hw.OpPinMode, Pin: 9, A: 2, C: 1}, {Op: hw.OpPinWrite, Pin: 9, A: 1}}},
		{"event", "event_push('door', {'open': True})", "", []hw.Call{{Op: hw.OpEvent, Text: "door", Data: []byte(`{"open": true}`)}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g.answer = board(map[uint16]int64{})
			r := g.exec(tt.code)
			if r.out != tt.out || r.Exception != nil {
				t.Errorf("got %q, %+v, want %q", r.out, r.Exception, tt.out)
			}
			if d := cmp.Diff(tt.calls, r.calls); d != "" {
				t.Errorf("calls (-want +got):\n%s", d)
			}
		})
	}
}

func TestRefusal(t *testing.T) {
	g := start(t)
	g.answer = board(map[uint16]int64{})
	for _, tt := range []struct {
		name, code, class, message string
		refusal                    uint32
	}{
		{"system pin", "Pin(0, Pin.OUT)", "OSError", "[Errno 13] EACCES: pin 0 is the system's (rule system)", 7},
		{"unknown pin", "Pin(99)", "OSError", "[Errno 19] ENODEV: no pin 99", 0},
		{"kept and raised", "e = None\ntry: Pin(0)\nexcept OSError as x: e = x\ntry: Pin(99)\nexcept OSError: pass\nraise e", "OSError", "[Errno 13] EACCES: pin 0 is the system's (rule system)", 7},
		{"forged", "try: Pin(0)\nexcept OSError as x: y = x\nraise OSError(13, y.args[1])", "OSError", "[Errno 13] EACCES: pin 0 is the system's (rule system)", 0},
		{"bad keyword", "Pin(5, colour=1)", "TypeError", "", 0},
		{"bad mode", "Pin(5, 9)", "ValueError", "invalid pin mode", 0},
		{"bad id", "Pin(5.5)", "TypeError", "pin must be a number, a name or a Pin", 0},
		{"pull alone", "Pin(5, pull=Pin.PULL_UP)", "ValueError", "a pull needs a mode", 0},
		{"signal of a set up pin", "from machine import Signal; Signal(Pin(5), Pin.OUT)", "TypeError", "", 0},
		{"sleep of text", "time.sleep('1')", "TypeError", "", 0},
		{"sleep of less than nothing", "time.sleep(-1)", "ValueError", "sleep length must be non-negative", 0},
		{"irq without edges there are", "Pin(5).irq(print, 9)", "ValueError", "invalid trigger", 0},
		{"wdt", "import machine; machine.WDT()", "OSError", "[Errno 13] EACCES: machine.WDT is not for programs", 9},
		{"mem32", "import machine; machine.mem32[0] = 1", "OSError", "[Errno 13] EACCES: machine.mem32 is not for programs", 9},
		{"wlan", "import network\nw = network.WLAN(network.STA_IF)\nassert not w.isconnected()\nw.active(True)", "OSError", "[Errno 13] EACCES: network.WLAN.active is not for programs", 9},
		{"socket", "import socket; socket.socket()", "OSError", "[Errno 13] EACCES: socket is not for programs", 9},
		{"bluetooth", "import bluetooth; bluetooth.BLE()", "OSError", "[Errno 13] EACCES: bluetooth is not for programs", 9},
		{"absent hardware", "import machine; machine.CAN(0)", "OSError", "[Errno 19] ENODEV: machine.CAN: the terminal has no such hardware", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := g.exec(tt.code)
			if r.Exception == nil || r.Exception.Class != tt.class || (tt.message != "" && r.Exception.Message != tt.message) || r.Refusal != tt.refusal {
				t.Errorf("got %+v, refusal %d, want %s: %s, %d", r.Exception, r.Refusal, tt.class, tt.message, tt.refusal)
			}
		})
	}
}

func TestInterrupt(t *testing.T) {
	g := start(t)
	g.exec("kept = 41")
	for _, code := range []string{"while True: pass", "time.sleep(60)", "time.sleep(5000)", "sum(range(10**9))", "import time\nwhile True: time.sleep_ms(1)", "def f():\n  while True:\n    try: f()\n    except RuntimeError: pass\nf()"} {
		g.begin(hw.Job{Kind: hw.JobExec, Session: "s", Code: code, MaxOutput: 4096})
		g.interruptAfter(30 * time.Millisecond)
		began := time.Now()
		r := g.finish()
		if r.Exception == nil || r.Exception.Class != "KeyboardInterrupt" {
			t.Errorf("%q: got %+v after %v, want KeyboardInterrupt", code, r.Exception, time.Since(began))
		}
	}
	if r := g.exec("print(kept + 1)"); r.out != "42\n" {
		t.Errorf("state after interrupts: got %q, %+v", r.out, r.Exception)
	}
}
