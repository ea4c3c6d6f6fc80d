//go:build unix

package attack

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/pal-terminal/pal/protocol"
)

// program is a hostile program and how it may end: "ok", "deadline", "lost" (its machine died and was replaced) or the class of
// an exception; several are separated by spaces where it depends on the computer which comes first.
type program struct{ name, ends, code string }

// programs that want more than there is: time, memory, stack, output.
var programs = []program{
	{"loop", "deadline", "while True: pass"},
	{"loop that swallows", "deadline", "while True:\n try:\n  while True: pass\n except BaseException: pass"},
	{"loop in finally", "deadline", "def f():\n try:\n  while True: pass\n finally:\n  f()\nf()"},
	{"loop in loop in except", "deadline", "try:\n try:\n  while 1: pass\n except KeyboardInterrupt:\n  while 1: pass\nfinally:\n while 1: pass"},
	{"sleep that swallows", "deadline", "import time\nwhile True:\n try: time.sleep(1000)\n except BaseException: pass"},
	{"loop in str of an exception", "deadline", "class E(Exception):\n def __str__(self):\n  while 1: pass\nraise E"},
	{"loop in a callback", "deadline", "import micropython\ndef f(x):\n while 1:\n  try:\n   while 1: pass\n  except: pass\nmicropython.schedule(f, 0)"},
	{"callback that schedules itself", "deadline", "import micropython\ndef f(x): micropython.schedule(f, x)\nmicropython.schedule(f, 0)\nwhile 1: pass"},
	{"loop with a locked heap", "deadline", "import micropython\nmicropython.heap_lock()\nwhile 1: pass"},
	{"loop without the keyboard", "deadline", "import micropython\nmicropython.kbd_intr(-1)\nwhile 1: pass"},
	{"power", "deadline MemoryError", "x = 10**10**6"},
	{"squares", "deadline MemoryError", "x = 3\nwhile 1: x = x*x"},
	{"modular power", "deadline", "pow(3, 10**20000, 10**20000 + 1)"},
	{"number to text", "deadline MemoryError", "str(7**200000)"},
	{"text to number", "deadline MemoryError", "int('9'*200000)"},
	{"shift", "MemoryError OverflowError", "1 << (1 << 30)"},
	{"lists of lists", "deadline MemoryError", "a = []\nwhile True: a = [a, a]*1000"},
	{"doubling list", "MemoryError", "a = [0]\nwhile True: a += a"},
	{"text times", "MemoryError", "'a'*10**9"},
	{"tuple times", "MemoryError OverflowError", "(0,)*10**9"},
	{"huge bytearray", "MemoryError", "bytearray(1 << 30)"},
	{"negative bytearray", "MemoryError ValueError", "bytearray(-1)"},
	{"dictionary", "deadline MemoryError", "d = {}\ni = 0\nwhile 1:\n d[i] = i\n i += 1"},
	{"join", "deadline MemoryError", "','.join(str(i) for i in range(10**9))"},
	{"wide format", "deadline MemoryError", "'%1000000000d' % 1"},
	{"replace", "MemoryError", "'a'.join(['b']*60000).replace('b', 'c'*1000)"},
	{"recursion", "RuntimeError", "def f(): f()\nf()"},
	{"generators", "RuntimeError MemoryError", "def g(n): yield from g(n + 1)\nlist(g(0))"},
	{"deep repr", "deadline RuntimeError MemoryError", "b = []\nfor i in range(20000): b = [b]\nrepr(b)"},
	{"equal to itself", "RuntimeError", "a = []\na.append(a)\nb = []\nb.append(b)\na == b"},
	{"deep hash", "deadline RuntimeError MemoryError", "t = ()\nfor i in range(20000): t = (t,)\nhash(t)"},
	{"deep json", "deadline RuntimeError MemoryError", "import json\njson.loads('['*100000)"},
	{"deep json out", "deadline RuntimeError MemoryError", "import json\na = []\nfor i in range(20000): a = [a]\njson.dumps(a)"},
	{"brackets", "deadline RuntimeError MemoryError SyntaxError", "eval('('*5000 + ')'*5000)"},
	{"signs", "ok deadline RuntimeError MemoryError SyntaxError", "eval('-'*60000 + '1')"},
	{"lambdas", "ok deadline RuntimeError MemoryError SyntaxError", "eval('lambda:'*5000 + '0')"},
	{"sort for ever", "deadline", "l = list(range(5000))\nwhile 1: l.sort(key=lambda x: -x)"},
	{"sort that changes the list", "ok ValueError RuntimeError IndexError NameError", "l = list(range(1000))\ng = [l]\ndef k(x):\n g[0].clear()\n return x\nl.sort(key=k)"},
	{"dictionary that changes", "ok RuntimeError", "d = dict((i, i) for i in range(100))\nfor k in d:\n  d.pop(k)\n  d[k + 1000] = 1\n  if len(d) > 300: break\n  if k > 2000: break"},
	{"regular expression", "deadline RuntimeError", "import re\nre.match('(a|a)*(a|a)*(a|a)*c', 'a'*200)"},
	{"regular expression in depth", "RuntimeError ok", "import re\nre.match('(a*)*b', 'a'*30)"},
	{"regular expression of brackets", "ValueError RuntimeError MemoryError", "import re\nre.compile('('*10000)"},
	{"stars", "deadline RuntimeError", "import re\nre.match('.*'*10 + 'x', 'a'*300)"},
	{"hash of much", "deadline", "import hashlib\nh = hashlib.sha256()\nb = bytes(50000)\nwhile 1: h.update(b)"},
	{"deflate bomb", "deadline MemoryError", "import deflate, io\ns = io.BytesIO()\nwith deflate.DeflateIO(s, deflate.RAW, 15) as z:\n for i in range(500): z.write(bytes(1000))\ndeflate.DeflateIO(io.BytesIO(s.getvalue()), deflate.RAW, 15).read()"},
	{"struct too long", "MemoryError ValueError", "import struct\nstruct.pack('1000000000s', b'a')"},
	{"struct before the buffer", "ValueError", "import struct\nstruct.pack_into('i', bytearray(4), -100, 1)"},
	{"struct past the buffer", "ValueError MemoryError", "import struct\nstruct.unpack_from('4294967290s', bytearray(8), 4)"},
	{"search in a range", "deadline", "-1.5 in range(10**9)"},
	{"output", "ok deadline", "for i in range(100): print('y'*100000)"},
	{"errors without end", "deadline", "import sys\nwhile 1: sys.stderr.write('e'*10000)"},
	{"garbage", "ok deadline", "for i in range(3000): bytearray(100000)"},
	{"events", "ok deadline", "for i in range(1500): event_push('x', 'y'*1000)"},
	{"event that is no event", "OSError", "event_push('estop\\n{}', 1)"},
	{"event of deep data", "OSError RuntimeError ValueError", "a = []\nfor i in range(100): a = [a]\nevent_push('x', a)"},
	{"exit", "SystemExit", "import sys\nsys.exit(3)"},
	{"base exception", "BaseException", "raise BaseException('x')"},
	{"own interrupt", "KeyboardInterrupt", "raise KeyboardInterrupt"},
	{"exception that is its own argument", "E", "class E(BaseException):\n def __init__(self): self.args = (self,)\n def __repr__(self): raise self\n __str__ = __repr__\nraise E"},
	{"exception named as a code", "deadline", "raise type('deadline', (Exception,), {})('ended at rung 2')"},
	{"syntax", "SyntaxError", "def ("},
	{"input", "EOFError", "input()"},
	{"reset", "ok SystemExit", "import machine\nmachine.reset()"},
	{"watchdog", "OSError", "import machine\nmachine.WDT()"},
	{"memory", "OSError", "import machine\nmachine.mem32[0]"},
	{"memory by uctypes", "OSError", "import uctypes\nuctypes.bytearray_at(0, 1 << 20)"},
	{"compiled module", "OSError ImportError ValueError", "open('/flash/x.mpy', 'wb').write(b'M\\x06\\0\\x1f' + bytes(40))\nimport sys\nsys.path.append('/flash')\nimport x"},
	{"file of this computer", "OSError", "open('/etc/passwd')"},
	{"file above", "OSError", "open('../../../proc/self/maps')"},
	{"socket", "OSError ImportError", "import socket\nsocket.socket()"},
}

// ended says how a result ended, in the words of the table.
func ended(r *protocol.Result) string {
	switch {
	case r.Code == "":
		return "ok"
	case r.Code == protocol.CodeDeadline:
		return "deadline"
	case r.Code == protocol.CodeVMRestarted:
		return "lost"
	case r.Exception != nil:
		return r.Exception.Class
	}
	return string(r.Code)
}

// Each program ends in time and as it should, the next one runs, and all the while the guard answers.
func TestPrograms(t *testing.T) {
	r := attack(t, nil, rules{never: append([]string{"RELAY_POWER", "RELAY_1", "RELAY_2"}, systemPins...)})
	agent := r.dial(r.Agent)
	r.works(agent, "the start")
	slowest := r.pulse(t.Context())
	before := measure(t)
	timeout := int64(400)
	for _, p := range programs {
		began := time.Now()
		res := r.exec(agent, protocol.Exec{Code: p.code, TimeoutMS: &timeout, Session: "new"})
		if got := ended(res); !strings.Contains(" "+p.ends+" ", " "+got+" ") {
			t.Errorf("%s: got %s (%+v), want %s", p.name, got, res, p.ends)
		}
		if (res.Code == protocol.CodeDeadline) != (res.Rung > 0) || res.VMRestarted != (res.Rung > 1 || res.Code == protocol.CodeVMRestarted) {
			t.Errorf("%s: code %q, rung %d, restarted %v do not fit", p.name, res.Code, res.Rung, res.VMRestarted)
		}
		if took := time.Since(began); took > patience/2 {
			t.Errorf("%s: took %v", p.name, took)
		}
		r.works(agent, p.name)
	}
	t.Logf("slowest ping meanwhile: %v", slowest())
	r.flat(before)
}

// pulse pings all the time; the function it returns stops that and says how long the slowest answer took.
func (r *rig) pulse(ctx context.Context) func() time.Duration {
	c := r.dial(r.Human)
	ctx, stop := context.WithCancel(ctx)
	worst := make(chan time.Duration, 1)
	go func() {
		var slowest time.Duration
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for ctx.Err() == nil {
			began := time.Now()
			if c.Ping(ctx) == nil {
				slowest = max(slowest, time.Since(began))
			}
			<-tick.C
		}
		worst <- slowest
	}()
	return func() time.Duration {
		stop()
		slowest := <-worst
		if slowest > 2*time.Second {
			r.t.Errorf("a ping took %v: the guard stood still", slowest)
		}
		return slowest
	}
}

// breakers leave the machine so that the next program may fail. heals says whether that passes without help; in any case a
// reset ends it.
var breakers = []struct {
	name  string
	heals bool
	code  string
}{
	{"print replaced", false, "import builtins\nbuiltins.print = None"},
	{"all built-in names deleted", true, "import builtins\nfor n in dir(builtins):\n try: delattr(builtins, n)\n except Exception: pass"},
	{"modules cleared", true, "import sys\nsys.modules.clear()"},
	{"modules poisoned", true, "import sys\nfor k in list(sys.modules): sys.modules[k] = 5"},
	{"sys emptied", true, "import sys\nfor n in dir(sys):\n try: setattr(sys, n, None)\n except Exception: pass"},
	{"library emptied", true, "import _pal\nfor n in dir(_pal):\n try: setattr(_pal, n, None)\n except Exception: pass"},
	{"engine's modules emptied", true, "import json, io, gc, micropython, time\nfor m in (json, io, gc, micropython, time):\n for n in dir(m):\n  try: setattr(m, n, None)\n  except Exception: pass"},
	{"collector off", true, "import gc\ngc.disable()\ngc.threshold(1)"},
	{"heap locked", true, "import micropython\nfor i in range(60000): micropython.heap_lock()"},
	{"streams closed", true, "import sys\nfor f in (sys.stdin, sys.stdout, sys.stderr): f.close()"},
	{"descriptors closed", true, "for i in range(8):\n try: open(i, 'w').close()\n except Exception: pass"},
	{"names deleted", true, "for k in list(globals()): del globals()[k]"},
	{"files opened", true, "l = []\ntry:\n while 1: l.append(open('/flash/a', 'w'))\nexcept OSError: pass"},
	{"flash filled", true, "try:\n for i in range(600):\n  with open('/flash/f%d' % i, 'w') as f: f.write('x'*20000)\nexcept OSError: pass"},
	{"file system gone", true, "import vfs\nvfs.umount('/')"},
	{"path emptied", true, "import sys, os\nsys.path[:] = []\nos.chdir('/flash')"},
	{"heap full of names", false, "l = []\ntry:\n while 1: l.append(bytearray(100))\nexcept MemoryError: pass"},
	{"heap full of a chain", false, "x = None\ntry:\n while 1: x = (x,)\nexcept MemoryError: pass"},
	{"heap full in a module", false, "import machine\nmachine.x = None\ntry:\n while 1: machine.x = (machine.x,)\nexcept MemoryError: pass"},
	{"heap full of interned names", true, "i = 0\nwhile 1:\n exec('v%d = 1' % i)\n i += 1"},
	{"callbacks left", true, "import micropython\nfor i in range(8):\n micropython.schedule(lambda x: 1/0, 0)"},
	{"handlers left", true, "for p in (1, 2, 3, 4, 5, 21, 39): Pin(p).irq(lambda p: 1/0)"},
}

func TestNextProgramRuns(t *testing.T) {
	r := attack(t, nil, rules{never: append([]string{"RELAY_POWER", "RELAY_1", "RELAY_2"}, systemPins...)})
	agent := r.dial(r.Agent)
	r.works(agent, "the start")
	before := measure(t)
	timeout := int64(2000)
	for _, b := range breakers {
		r.exec(agent, protocol.Exec{Code: b.code, TimeoutMS: &timeout})
		if b.heals {
			r.works(agent, b.name)
			r.works(r.human, b.name)
		}
		r.reset()
		r.works(agent, b.name+", with a reset")
	}
	r.flat(before)
}
