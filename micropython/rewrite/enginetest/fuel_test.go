package enginetest

import (
	"testing"
)

// endless programs spend their time in different places; in each one the host must get a say.
var endless = []struct{ name, program string }{
	{"while", "while True: pass"},
	{"while with work", "k=0\nwhile 1: k+=1; s=str(k)"},
	{"try in a loop", "while 1:\n try: 1//0\n except ZeroDivisionError: pass"},
	{"call chain without loops", "def f(n):\n if n: f(n-1); f(n-1)\nf(200)"},
	{"lambda chain", "f=lambda n: n and (f(n-1), f(n-1))\nf(200)"},
	{"method chain", "class A:\n def m(s, n):\n  if n: s.m(n-1); s.m(n-1)\nA().m(200)"},
	{"operator chain", "class A:\n def __init__(s, n): s.n=n\n def __add__(s, o):\n  if s.n: A(s.n-1)+o; A(s.n-1)+o\nA(200)+1"},
	{"comprehension", "[0 for _ in range(10**9) if 0]"},
	{"generator", "def g():\n while 1: yield\nfor _ in g(): pass"},
	{"sum of a range", "sum(range(10**9))"},
	{"sum of a generator", "sum(k for k in range(10**9))"},
	{"max", "max(range(10**9))"},
	{"any", "any(map(lambda x: 0, range(10**9)))"},
	{"in", "-1 in range(10**9)"},
	{"sort", "for _ in range(10**9): sorted(range(3000), key=lambda x: -x)"},
	{"string multiply", "for _ in range(10**9): 'x'*200000"},
	{"string find", "s='a'*200000\nfor _ in range(10**9): s.find('a'*1000+'b')"},
	{"string replace", "for _ in range(10**9): ('ab'*50000).replace('a', 'c')"},
	{"shared equality", "a=[]\nb=[]\nfor _ in range(60): a=[a, a]; b=[b, b]\na==b"},
	{"shared repr", "a=[]\nfor _ in range(60): a=[a, a]\nimport json, io\nclass N(io.IOBase):\n def write(s, b): return len(b)\njson.dump(a, N())"},
	{"shared hash", "a=()\nfor _ in range(60): a=(a, a)\nhash(a)"},
	{"regular expression", "import re\nre.match('(a|aa|aaa)*c', 'a'*200)"},
	{"power", "while 1: pow(7, 5**50, 10**60)"},
	{"garbage", "while 1: bytearray(1000)"},
	{"collect", "import gc\nwhile 1: gc.collect()"},
	{"exec", "while 1: exec('x=1')"},
	{"json", "import json\na=list(range(3000))\nwhile 1: json.loads(json.dumps(a))"},
	{"hashlib", "import hashlib\nwhile 1: hashlib.sha256(bytes(100000)).digest()"},
}

// interruptAfter asks for KeyboardInterrupt at that tick from now.
func (m *machine) interruptAfter(ticks int) {
	at := m.ticks + ticks
	m.onTick = func(m *machine) {
		if m.ticks == at {
			if _, err := m.mod.ExportedFunction("mp_sched_keyboard_interrupt").Call(m.ctx); err != nil {
				m.t.Errorf("mp_sched_keyboard_interrupt: %v", err)
			}
		}
	}
}

func TestKeyboardInterrupt(t *testing.T) {
	t.Parallel()
	for _, test := range endless {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			m := boot(t, 4<<20)
			m.interruptAfter(5)
			m.wantError(test.program, "KeyboardInterrupt")
			m.interruptAfter(1)
			m.wantError(test.program, "KeyboardInterrupt")
		})
	}
}

func TestProgramCanCatchTheInterrupt(t *testing.T) {
	t.Parallel()
	m := boot(t, smallHeap)
	m.interruptAfter(3)
	m.wantOutput("try:\n while 1: pass\nexcept KeyboardInterrupt: print('k')\nfinally: print('f')", "k\nf")
}

func TestFuelIsDeterministic(t *testing.T) {
	t.Parallel()
	for _, test := range stressPrograms {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			first := boot(t, smallHeap).fuel(test.program)
			second := boot(t, smallHeap).fuel(test.program)
			if first != second || first <= 0 {
				t.Errorf("fuel of two runs: got %d and %d, want the same positive number", first, second)
			}
		})
	}
}

func TestFuelGrowsWithWork(t *testing.T) {
	t.Parallel()
	m := boot(t, smallHeap)
	short, long := m.fuel("for k in range(10000): pass"), m.fuel("for k in range(100000): pass")
	if ratio := float64(long) / float64(short); ratio < 8 || ratio > 12 {
		t.Errorf("fuel of 100,000 turns over 10,000 turns: got %.1f (%d, %d), want about 10", ratio, long, short)
	}
	if ticks := m.ticks; ticks != (short+long)/fuelReload {
		t.Errorf("ticks: got %d, want %d", ticks, (short+long)/fuelReload)
	}
}
