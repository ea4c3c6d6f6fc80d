//go:build unix

package micropython

import (
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/pal-terminal/pal/hw"
	"github.com/pal-terminal/pal/vm/frame"
)

// alive checks that the next job runs as if nothing had happened.
func alive(t *testing.T, g *guard) {
	t.Helper()
	r := g.run(hw.Job{Kind: hw.JobExec, Code: "import sys\nsys.stdout.write('%d\\n' % sum([1, 2]))"})
	if r.out != "3\n" || r.Exception != nil {
		t.Errorf("next job: got %q, %+v, want 3", r.out, r.Exception)
	}
}

func TestHostilePrograms(t *testing.T) {
	g := start(t)
	for _, tt := range []struct{ name, code, class string }{
		{"list bomb", "l = []\nwhile True: l.append(l[:] + [1])", "MemoryError"},
		{"string bomb", "s = 'x'\nwhile True: s += s", "MemoryError"},
		{"kept bomb", "keep = []\nwhile True: keep.append(bytearray(1000))", "MemoryError"},
		{"small kept bomb", "keep2 = []\nwhile True: keep2.append(object())", "MemoryError"},
		{"huge list", "[0] * 10**9", "MemoryError"},
		{"function recursion", "def f(): f()\nf()", "RuntimeError"},
		{"method recursion", "class A:\n  def m(self): return self.m()\nA().m()", "RuntimeError"},
		{"generator recursion", "def g(): yield from g()\nlist(g())", "RuntimeError"},
		{"repr recursion", "l = []\nl.append(l)\nrepr(l)", "RuntimeError"},
		{"sort key recursion", "def k(x): return sorted([1, 2], key=k)\nk(1)", "RuntimeError"},
		{"getattr recursion", "class A:\n  def __getattr__(self, n): return self.x\nA().y", "RuntimeError"},
		{"hash recursion", "class A:\n  def __hash__(self): return hash(self)\nhash(A())", "RuntimeError"},
		{"eq recursion", "class A:\n  def __eq__(self, o): return self == o\nA() == A()", "RuntimeError"},
		{"exec recursion", "s = 'exec(s)'\nexec(s)", "RuntimeError"},
		{"nested source", "eval('(' * 500 + '1' + ')' * 500)", ""},
		{"bad str", "class E(Exception):\n  def __str__(self): raise ValueError\n  def __repr__(self): raise ValueError\nraise E", "E"},
		{"str that exits", "class E(Exception):\n  def __str__(self): raise SystemExit\nraise E", "E"},
		{"del that raises", "class D:\n  def __del__(self): raise ValueError\nd = D(); d = None\nimport gc; gc.collect()", ""},
		{"builtins replaced", "import builtins\nfor n in ('print', 'len', 'str', 'type', 'isinstance', 'getattr', 'BaseException', 'compile', 'exec', 'dict'):\n  setattr(builtins, n, None)\nraise KeyError(1)", "KeyError"},
		{"builtins restored", "import builtins\nfor n in ('print', 'len', 'str', 'type', 'isinstance', 'getattr', 'BaseException', 'compile', 'exec', 'dict'):\n  delattr(builtins, n)", ""},
		{"modules cleared", "import sys\nm = dict(sys.modules)\nsys.modules.clear()\nsys.path.clear()\nsys.modules.update(m)\nsys.path.extend(['', '/lib', '/flash/lib', '.frozen'])", ""},
		{"main cleared", "import __main__\nfor n in dir(__main__):\n  try: delattr(__main__, n)\n  except Exception: pass", ""},
		{"base exception", "raise BaseException('x')", "BaseException"},
		{"raise class", "raise KeyboardInterrupt", "KeyboardInterrupt"},
		{"raise nonsense", "raise 5", "TypeError"},
		{"js door", "import js\njs.enter", "AttributeError"},
		{"js door by name", "import js, jsffi\njs.register = print\njsffi.to_js([1])\njsffi.create_proxy(print)\njsffi.mem_info()\n'enter' in dir(js)", ""},
		{"callback after the end", "import micropython\nn = []\ndef again(x):\n  n.append(x)\n  if len(n) < 100: micropython.schedule(again, x)\nmicropython.schedule(again, 1)", ""},
		{"exit in except", "try: raise ValueError\nexcept ValueError:\n  raise SystemExit(4)", "SystemExit"},
		{"exit with words", "import sys\nsys.exit('over')", "SystemExit"},
		{"exit subclass", "class X(SystemExit): pass\nraise X(2)", "SystemExit"},
		{"exit false", "raise SystemExit(False)", ""},
		{"streams closed", "import sys\nfor f in (sys.stdin, sys.stdout, sys.stderr): f.close()", ""},
		{"memory read", "import uctypes\nuctypes.bytes_at(0, 4)", "OSError"},
		{"memory written", "import sys, uctypes\nsys.modules.clear()\nimport uctypes as u\nu.bytearray_at(0, 4)", "OSError"},
		{"memory address", "import uctypes\nuctypes.addressof(b'')", "OSError"},
		{"memory struct", "import uctypes\nuctypes.struct(0, {'x': uctypes.UINT8})", "OSError"},
		{"locked heap", "import micropython\nmicropython.heap_lock()\nx = [1, 2]", "MemoryError"},
		{"no collector", "import gc\ngc.disable()\nfor k in range(5000): bytearray(1000)", "MemoryError"},
		{"long message", "raise ValueError('m' * 90000)", "ValueError"},
		{"surrogate message", "raise ValueError('\\ud800\\x00')", "ValueError"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			session := ""
			if strings.Contains(tt.name, "kept") {
				session = "s" // and stays there: the next job must find room nevertheless
			}
			r := g.run(hw.Job{Kind: hw.JobExec, Session: session, Code: tt.code})
			class := ""
			if r.Exception != nil {
				class = r.Exception.Class
			}
			if class != tt.class {
				t.Errorf("got %+v, want %q", r.Exception, tt.class)
			}
			if tt.class != "" && r.err == "" {
				t.Error("nothing on stderr")
			}
			alive(t, g)
		})
	}
}

// What one program did to things that all share is undone when it ends.
func TestMisdeedsEndWithTheProgram(t *testing.T) {
	g := start(t)
	for _, tt := range []struct{ name, misdeed, code, out string }{
		{"closed streams", "import sys\nfor f in (sys.stdin, sys.stdout, sys.stderr): f.buffer.close(); f.close()",
			"import sys\nsys.stdout.write('a')\nsys.stdout.buffer.write(b'b')\nsys.print_exception(ValueError('c'))\nprint(sys.stdin.read() == '')", "abValueError: c\nTrue\n"},
		{"replaced streams", "import sys\nsys.stdout = sys.stderr = None", "import sys\nsys.stdout.write('a')", "a"},
		{"replaced builtins", "import builtins\nbuiltins.print = builtins.len = builtins.OSError = None", "print(len('ab'), OSError(5).errno)", "2 5\n"},
		{"deleted builtins", "import builtins\nbuiltins.print = 5\ndel builtins.print", "print('a')", "a\n"},
		{"no modules", "import sys\nsys.modules.clear()", "import machine, os, asyncio\nprint(machine.Pin is Pin, os.uname().sysname)", "True pal\n"},
		{"no collector", "import gc\ngc.disable()", "for k in range(5000): bytearray(1000)\nprint('a')", "a\n"},
		{"locked heap", "import micropython\nmicropython.heap_lock()", "print([1] * 3)", "[1, 1, 1]\n"},
		{"handlers held back", "import machine\nmachine.disable_irq()", "import machine\nprint(machine.disable_irq())", "True\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if r := g.exec(tt.misdeed); r.Exception != nil {
				t.Fatalf("misdeed: got %+v", r.Exception)
			}
			r := g.exec(tt.code)
			if r.out != tt.out || r.Exception != nil {
				t.Errorf("got %q, %+v, want %q", r.out, r.Exception, tt.out)
			}
		})
	}
	if r := g.exec("import builtins\nbuiltins.mine = 1\nbuiltins.print('a')"); r.out != "a\n" {
		t.Errorf("builtins: got %q, %+v", r.out, r.Exception)
	}
	if r := g.exec("mine"); r.Exception != nil {
		t.Errorf("a name of the program's own among the builtins: got %+v, want it kept", r.Exception)
	}
}

// A program that swallows every exception still ticks: heartbeats come, and a second interrupt reaches what follows.
func TestSwallowedInterrupts(t *testing.T) {
	g := start(t)
	beats := 0
	g.heard = func(rec any) {
		if _, ok := rec.(frame.Heartbeat); !ok {
			return
		}
		beats++
		g.send(frame.Interrupt{Seq: g.seq})
	}
	g.begin(hw.Job{Kind: hw.JobExec, Session: "s", MaxOutput: 100, Code: "n = 0\nwhile n < 2:\n  try:\n    while True: pass\n  except BaseException: n += 1\nprint(n)"})
	r := g.finish()
	if r.out != "2\n" || r.Exception != nil || beats < 2 {
		t.Errorf("got %q, %+v after %d heartbeats", r.out, r.Exception, beats)
	}
	alive(t, g)
}

// Interrupts that come as a job ends, at whatever point, never hit the next one.
func TestLateInterrupts(t *testing.T) {
	g := start(t)
	for k := range 200 {
		g.begin(hw.Job{Kind: hw.JobExec, Session: "s", MaxOutput: 100, Code: "for k in range(" + strings.Repeat("9", k%4+1) + "): pass"})
		g.send(frame.Interrupt{Seq: g.seq})
		g.send(frame.Interrupt{Seq: g.seq - 1})
		if r := g.finish(); r.Exception != nil && r.Exception.Class != "KeyboardInterrupt" {
			t.Fatalf("got %+v", r.Exception)
		}
		alive(t, g)
	}
}

// An interrupt may be taken in at every instruction: here at every one of the last that a program and the driver behind it
// execute. It is raised or it is void; what it never does is cost the session its names.
func TestInterruptAtTheEnd(t *testing.T) {
	g := start(t)
	g.exec("kept = 1")
	code := func(turns int) string { return "for k in range(" + strconv.Itoa(turns) + "): pass" }
	perTurn := float64(g.exec(code(3000)).Fuel-g.exec(code(1000)).Fuel) / 2000
	raised, void := 0, 0
	for short := 0; short < 8000; short += 2 {
		// The first tick is due after what is left of the fuel; the loop ends a little earlier each time.
		turns := float64(int(g.machine.eng.fuelLeft())-short) / perTurn
		g.begin(hw.Job{Kind: hw.JobExec, Session: "s", MaxOutput: 100, Code: code(max(0, int(turns)))})
		g.send(frame.Interrupt{Seq: g.seq})
		switch r := g.finish(); {
		case r.Exception == nil:
			void++
		case r.Exception.Class == "KeyboardInterrupt":
			raised++
		default:
			t.Fatalf("the tick %d units before the end: got %+v", short, r.Exception)
		}
	}
	if raised == 0 || void == 0 {
		t.Errorf("%d interrupts were raised, %d void: the end was not among the places", raised, void)
	}
	if r := g.exec("kept"); r.Exception != nil {
		t.Errorf("the session's names: got %+v", r.Exception)
	}
}

func TestInterruptBeforeTheStart(t *testing.T) {
	g := start(t)
	g.answer = board(map[uint16]int64{})
	// Stop a job within its exception's __str__, too.
	for _, code := range []string{"while True: pass", "class E(Exception):\n  def __str__(self):\n    while True: pass\nraise E", "while True: Pin(5)"} {
		g.begin(hw.Job{Kind: hw.JobExec, Session: "s", MaxOutput: 4096, Code: code})
		g.interruptAfter(20 * time.Millisecond)
		r := g.finish()
		if r.Exception == nil || (r.Exception.Class != "KeyboardInterrupt" && r.Exception.Class != "E") || !strings.Contains(r.err, r.Exception.Class) {
			t.Errorf("%q: got %+v, %q", code, r.Exception, r.err)
		}
		alive(t, g)
	}
}

func TestOutputLimit(t *testing.T) {
	g := start(t)
	for _, tt := range []struct {
		name, code  string
		max         int
		out         string
		droppedOut  int
		errLen      int
		droppedErrs int
	}{
		{"exact", "print('abc')", 4, "abc\n", 0, 0, 0},
		{"cut", "print('abcdef')", 4, "abcd", 3, 0, 0},
		{"rune", "print('é' * 5)", 5, "éé", 7, 0, 0},
		{"emoji", "print('a😀b')", 4, "a", 6, 0, 0},
		{"prefix only", "print('é'); print('x')", 1, "", 5, 0, 0},
		{"none", "print('abc')", 1, "a", 3, 0, 0},
		{"errors apart", "import sys\nprint('abc')\nprint('é' * 3, file=sys.stderr)", 5, "abc\n", 0, 4, 3},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := g.run(hw.Job{Kind: hw.JobExec, Code: tt.code, MaxOutput: tt.max})
			if r.out != tt.out || r.DroppedOut != tt.droppedOut || len(r.err) != tt.errLen || r.DroppedErr != tt.droppedErrs {
				t.Errorf("got %q, %d dropped, %q, %d dropped; %+v", r.out, r.DroppedOut, r.err, r.DroppedErr, r.Exception)
			}
		})
	}
}

func TestFlood(t *testing.T) {
	g := start(t)
	r := g.run(hw.Job{Kind: hw.JobExec, MaxOutput: 4096, Code: "s = 'ä' * 5000\nfor k in range(1000): print(s)"})
	if len(r.out) != 4096 || !utf8.ValidString(r.out) || r.DroppedOut != 1000*10_001-4096 || r.Exception != nil {
		t.Errorf("got %d bytes, %d dropped, %+v", len(r.out), r.DroppedOut, r.Exception)
	}
}

func TestOutputOrder(t *testing.T) {
	g := start(t)
	var order []string
	g.heard = func(rec any) {
		if o, ok := rec.(frame.Output); ok {
			order = append(order, string(o.Data))
		}
	}
	g.exec("import sys\nprint('a')\nprint('b', file=sys.stderr)\nprint('c')")
	if got := strings.Join(order, ""); got != "a\nb\nc\n" {
		t.Errorf("got %q", got)
	}
}

func TestStreaming(t *testing.T) {
	g := start(t)
	heard := 0
	g.heard = func(rec any) {
		if _, ok := rec.(frame.Output); ok {
			heard++
			g.send(frame.Interrupt{Seq: g.seq}) // the output of a job that still runs
		}
	}
	r := g.exec("print('first')\nwhile True: pass")
	if heard != 1+1 || r.out != "first\n" { // and the traceback
		t.Errorf("got %d records, %q", heard, r.out)
	}
}

func TestFuel(t *testing.T) {
	code := "s = 0\nfor k in range(20000): s += k"
	var burnt []uint64
	for range 2 {
		g := start(t)
		burnt = append(burnt, g.exec(code).Fuel)
		more := g.exec("for k in range(40000): s += k").Fuel
		if more < burnt[len(burnt)-1] {
			t.Errorf("twice the work burnt %d after %d", more, burnt[len(burnt)-1])
		}
	}
	if burnt[0] != burnt[1] || burnt[0] < 20_000 {
		t.Errorf("the same program on two fresh machines burnt %d and %d", burnt[0], burnt[1])
	}
}
