package enginetest

import (
	"fmt"
	"strings"
	"testing"
)

// stressPrograms print something that depends on every value surviving. Each runs as it is and with a collection before nearly
// every allocation; a pointer that the collector does not see becomes a wrong answer or a trap.
var stressPrograms = []struct{ name, program, want string }{
	{"big integers", "f=1\nfor k in range(1,60): f*=k\nprint(f//(10**60), f%1000007, pow(3,500,10**20+39), -f>>180)", "138683118545689835737 369576 3313247989859021043 -90494957308215892404581229"},
	{"big integer text", "print(len(str(3**400)), int('9'*60)%97, hex(2**90+1), str(7**50)[:12])", "191 46 0x40000000000000000000001 179846504264"},
	{"generators", "def g(n):\n for k in range(n): yield [k]*3\ndef h(i):\n for x in i: yield sum(x)\nprint(sum(h(g(200))), list(zip(g(2), g(3))))", "59700 [([0, 0, 0], [0, 0, 0]), ([1, 1, 1], [1, 1, 1])]"},
	{"closures", "def mk(k):\n s=[k]\n def f(x): s.append(x+k); return sum(s)\n return f\nfs=[mk(k) for k in range(40)]\nprint(sum(f(3) for f in fs for _ in range(3)))", "7740"},
	{"json", "import json\nd={'k%d'%k: [k, str(k), {'v': k/2, 'n': None}] for k in range(30)}\ns=json.dumps(d)\nprint(json.loads(s)==d, len(json.dumps(json.loads(s)))==len(s))", "True True"},
	{"re", "import re\ns=' '.join('name%d=%d;' % (k, k*k) for k in range(40))\nprint(re.sub(r'(\\w+)=(\\d+);', lambda m: m.group(2), s)[:30], len(re.compile('[; ]+').split(s)), re.search('name(3.)=', s).group(1))", "0 1 4 9 16 25 36 49 64 81 100  41 30"},
	{"sort", "a=[[str((k*7919)%101), k] for k in range(150)]\na.sort(key=lambda x: (len(x[0]), x[0]))\nprint(a[0], a[-1], sorted(a, reverse=True)[0][0])", "['0', 101] ['100', 32] 99"},
	{"strings", "s=''\nfor k in range(300): s+=chr(65+k%26)+'%03d' % k\nprint(len(s), s[-8:], s.replace('A','bb').count('bb'), '|'.join(s.split('A')[:3])[:40], s.upper()==s)", "1200 M298N299 12 |000B001C002D003E004F005G006H007I008J009 True"},
	{"dict growth", "d={}\nfor k in range(600): d['a%d'%(k*7)]=[k]\nfor k in range(0,600,2): del d['a%d'%(k*7)]\nprint(len(d), sum(v[0] for v in d.values()), d['a7'], sorted(d)[:2])", "300 90000 [1] ['a1001', 'a1015']"},
	{"sets", "a={str(k) for k in range(200)}\nb={str(k) for k in range(100,300)}\nprint(len(a&b), len(a|b), len(a-b), len(a^b), frozenset(a)==a)", "100 300 100 200 True"},
	{"classes", "class P:\n def __init__(s,x): s.x=x; s.l=[x]\n def __add__(s,o): return P(s.x+o.x)\n def __repr__(s): return 'P(%r)' % s.x\n def __eq__(s,o): return s.x==o.x\nclass Q(P):\n def __init__(s,x): super().__init__(x); s.t=(x,)\nr=P(0)\nfor k in range(100): r=r+Q(k)\nprint(r, r.l, r==P(4950))", "P(4950) [4950] True"},
	{"exceptions", "n=[]\nfor k in range(150):\n try:\n  try: raise ValueError(str(k), [k])\n  finally: n.append(str(k))\n except ValueError as e: n[-1]+=e.args[0]+str(e.args[1])\nprint(len(''.join(n)), n[77])", "1320 7777[77]"},
	{"star arguments", "def f(*a, **k): return len(a)+sum(k.values())\nprint(sum(f(*[str(x) for x in range(k)], **{'a%d'%x: x for x in range(k)}) for k in range(25)))", "2600"},
	{"compile", "t=0\nfor k in range(30):\n exec('def f%d(a, b=%d, *c):\\n  \"\"\"text\"\"\"\\n  return [x*b for x in range(a) if x %% 2], {1: a, 2: (b, c)}\\nr=f%d(9)' % (k, k, k))\n t+=sum(r[0])\nprint(t)", "6960"},
	{"formatting", "print('{:>10}|{:<8}|{:^7}|{:08.3f}|{:,}|{!r}'.format('ab', 'cd', 'ef', 3.14159, 1234567, 'q'), f'{[k for k in range(5)]!s:>20}', '%-5s|%5.1f|%x' % ('a', 2.25, 255))", "        ab|cd      |  ef   |0003.142|1,234,567|'q'      [0, 1, 2, 3, 4] a    |  2.3|ff"},
	{"bytes", "import struct, binascii\nb=bytearray()\nfor k in range(100): b+=struct.pack('<HhB', k*3, -k, k)\nv=memoryview(b)\nprint(len(b), struct.unpack_from('<HhB', v, 5*50), binascii.hexlify(bytes(v[-5:])), bytes(b[:4])+b'x'*3)", "500 (150, -50, 50) b'29019dff63' b'\\x00\\x00\\x00\\x00xxx'"},
	{"collections", "from collections import namedtuple, OrderedDict, deque\nT=namedtuple('T', 'a b')\nd=deque((), 20)\nfor k in range(60): d.append(T(str(k), [k]))\no=OrderedDict((str(k), k) for k in range(50))\nprint(d.popleft(), len(d), list(o.items())[-1])", "T(a='40', b=[40]) 19 ('49', 49)"},
	{"heap and random", "import heapq, random\nrandom.seed(7)\nh=[]\nfor k in range(120): heapq.heappush(h, (random.randrange(1000), str(k)))\na=[heapq.heappop(h) for _ in range(120)]\nprint(a==sorted(a, key=lambda x: x[0]) or [x[0] for x in a]==sorted(x[0] for x in a))", "True"},
	{"hash and deflate", "import hashlib, binascii, io, deflate\ns=io.BytesIO()\nwith deflate.DeflateIO(s, deflate.ZLIB) as d: d.write(b'hello '*200)\nz=s.getvalue()\nprint(len(deflate.DeflateIO(io.BytesIO(z)).read()), binascii.hexlify(hashlib.sha256(b'x'*500).digest())[:16])", "1200 b'c38c2bf3055c516a'"},
	{"comprehensions", "print(sum(len(str([[j]*i for j in range(i)])) for i in range(14)), {k: {v for v in range(k)} for k in range(4)}, tuple(map(lambda *a: sum(a), range(5), range(5))))", "2715 {0: set(), 1: {0}, 2: {0, 1}, 3: {0, 1, 2}} (0, 2, 4, 6, 8)"},
	{"floats", "import math\nx=[math.sin(k/7)*1e3 for k in range(60)]\nprint('%.4f' % sum(x), complex(1,2)*complex(x[3],1), round(max(x),3), float('1e3'))", "11205.7600 (413.571854993052+832.143709986104j) 1000.0 1000.0"},
	{"recursion", "def t(n): return [] if n==0 else [t(n-1), str(n), t(n-1)]\ndef c(x): return 1+sum(c(y) for y in x if isinstance(y, list)) \nprint(c(t(8)), len(repr(t(6))))", "511 695"},
	{"locals across calls", "def f(a,b,c):\n x=str(a); y=[b]; z={c: x}\n return x+str(y)+str(z)+str([str(k)+x for k in range(3)])+x+str(y)\nprint(sum(len(f(k,k+1,k+2)) for k in range(60)))", "2494"},
}

func TestCollectingAtEveryAllocation(t *testing.T) {
	t.Parallel()
	for _, test := range stressPrograms {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			boot(t, smallHeap).wantOutput(test.program, test.want)
			m := boot(t, smallHeap)
			m.wantOutput("import gc\ngc.threshold(128)\n"+test.program, test.want)
			m.wantOutput(test.program, test.want) // and once more on the used heap
		})
	}
}

// The stock engine keeps all garbage until the program ends.
func TestGarbageIsCollectedWhileRunning(t *testing.T) {
	t.Parallel()
	m := boot(t, smallHeap)
	before := m.mod.Memory().Size()
	m.wantOutput("k=[b'kept']\nfor n in range(200000): b=bytearray(1000)\nprint(len(b), k)", "1000 [b'kept']")
	if after := m.mod.Memory().Size(); after != before {
		t.Errorf("memory after 200 MB of garbage: got %d bytes, want the %d from before", after, before)
	}
}

func TestCyclesAreCollected(t *testing.T) {
	t.Parallel()
	boot(t, smallHeap).wantOutput("for n in range(30000):\n a=[bytes(100)]; b={1: a}; a.append(b)\nprint(len(a))", "2")
}

func TestMemoryErrorAtTheFixedHeap(t *testing.T) {
	t.Parallel()
	for _, program := range []string{
		"a=bytearray(2000000)",
		"a=[]\nwhile 1: a.append(bytes(1000))",
		"a='x'\nwhile 1: a+=a",
		"d={}\nk=0\nwhile 1: d[k]=str(k); k+=1",
		"a=[0]*1000000",
		"1 << 100000000",
		"def g():\n a=[]\n while 1: a.append(g); yield a\nfor x in g(): pass",
	} {
		t.Run(fmt.Sprintf("%.20q", program), func(t *testing.T) {
			t.Parallel()
			m := boot(t, smallHeap)
			before := m.mod.Memory().Size()
			m.wantError(program, "MemoryError")
			if after := m.mod.Memory().Size(); after != before {
				t.Errorf("memory after MemoryError: got %d bytes, want %d", after, before)
			}
			m.wantOutput("a=d=None\nimport gc\ngc.collect()\nprint(len(bytearray(300000)))", "300000")
			m.wantOutput("try:\n "+strings.ReplaceAll(program, "\n", "\n ")+"\nexcept MemoryError: print('caught')", "caught")
		})
	}
}

func TestHeapIsAsLargeAsAsked(t *testing.T) {
	t.Parallel()
	for _, heap := range []int{256 << 10, 1 << 20, 8 << 20} {
		m := boot(t, heap)
		m.wantOutput(fmt.Sprintf("print(len(bytearray(%d)))", heap*8/10), fmt.Sprint(heap*8/10))
		m.wantError(fmt.Sprintf("bytearray(%d)", heap), "MemoryError")
	}
}
