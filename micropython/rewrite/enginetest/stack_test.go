package enginetest

import (
	"fmt"
	"strings"
	"testing"
)

// recursions never end by themselves, each through another kind of call. The engine must answer with RuntimeError.
var recursions = []struct{ name, program string }{
	{"function", "def f(n): return f(n+1)\nf(0)"},
	{"function with many locals", "def f(a,b,c,d,e,g):\n x=a;y=b;z=c;w=d;v=e;u=g\n return f(x,y,z,w,v,u)+x\nf(1,2,3,4,5,6)"},
	{"star arguments", "def f(*a, **k): return f(*a, **k)\nf(*range(20))"},
	{"mutual", "def f(n): return g(n+1)\ndef g(n): return f(n+1)\nf(0)"},
	{"method", "class A:\n def m(s): return s.m()\nA().m()"},
	{"bound method chain", "class A:\n def __call__(s): return s()\nA()()"},
	{"closure", "def f():\n def g(): return f()\n return g()\nf()"},
	{"lambda", "f=lambda n: f(n)+1\nf(1)"},
	{"generator", "def g():\n for x in g(): yield x\nlist(g())"},
	{"yield from", "def g(): yield from g()\nlist(g())"},
	{"comprehension", "def f(): return [f() for _ in (1,)]\nf()"},
	{"constructor", "class A:\n def __init__(s): A()\nA()"},
	{"new", "class A:\n def __new__(c): return A()\nA()"},
	{"getattr", "class A:\n def __getattr__(s, n): return s.x\nA().y"},
	{"setattr", "class A:\n def __setattr__(s, n, v): s.x = v\nA().y = 1"},
	{"property", "class A:\n @property\n def p(s): return s.p\nA().p"},
	{"getitem", "class A:\n def __getitem__(s, k): return s[k]\nA()[1]"},
	{"contains", "class A:\n def __contains__(s, k): return k in s\n1 in A()"},
	{"iter", "class A:\n def __iter__(s): return iter(s)\nlist(A())"},
	{"next", "class A:\n def __iter__(s): return s\n def __next__(s): return next(s)\nlist(A())"},
	{"operator", "class A:\n def __add__(s, o): return s + o\nA() + 1"},
	{"reverse operator", "class A:\n def __radd__(s, o): return o + s\n1 + A()"},
	{"bool", "class A:\n def __bool__(s): return bool(s)\nbool(A())"},
	{"len", "class A:\n def __len__(s): return len(s)\nlen(A())"},
	{"repr method", "class A:\n def __repr__(s): return repr(s)\nrepr(A())"},
	{"str method", "class A:\n def __str__(s): return '%s' % s\nstr(A())"},
	{"format", "class A:\n def __str__(s): return '{}'.format(s)\nstr(A())"},
	{"eq method", "class A:\n def __eq__(s, o): return s == o\nA() == A()"},
	{"hash method", "class A:\n def __hash__(s): return hash(s)\nhash(A())"},
	{"sort key", "def k(x): return sorted([1, 2], key=k)[0]\nsorted([1, 2], key=k)"},
	{"sort comparison", "class A:\n def __lt__(s, o): return sorted([s, o])\nsorted([A(), A()])"},
	{"map", "def f(x): return list(map(f, [x]))\nf(1)"},
	{"filter", "def f(x): return list(filter(f, [x]))\nf(1)"},
	{"sum", "def f(): return sum(f() for _ in (1,))\nf()"},
	{"max key", "def f(x): return max([x, x], key=f)\nf(1)"},
	{"exec", "s='exec(s)'\nexec(s)"},
	{"eval", "s='eval(s)'\neval(s)"},
	{"with", "class C:\n def __enter__(s):\n  with s: pass\n def __exit__(s, *a): pass\nwith C(): pass"},
	{"handler", "def f():\n try: 1//0\n except ZeroDivisionError: f()\nf()"},
	{"finally", "def f():\n try: pass\n finally: f()\nf()"},
	{"decorator", "def d(f): return d(d)\n@d\ndef g(): pass"},
	{"re callback", "import re\ndef f(m): return re.sub('a', f, 'a')\nre.sub('a', f, 'a')"},
	{"json of an object", "import json\nclass L(list): pass\na=[]\na.append(a)\njson.dumps(a)"},
	{"json dict", "import json\nd={}\nd['k']=d\njson.dumps(d)"},
	{"list equality", "a=[]\na.append(a)\nb=[]\nb.append(b)\na==b"},
	{"list order", "a=[]\na.append(a)\nb=[]\nb.append(b)\na<b"},
	{"tuple equality", "l=[]\na=(l,)\nl.append(a)\nm=[]\nb=(m,)\nm.append(b)\na==b"},
	{"dict equality", "a={}\na[1]=a\nb={}\nb[1]=b\na==b"},
	{"contains itself", "a=[]\na.append(a)\nb=[]\nb.append(b)\na in [b]"},
	{"list repr", "a=[]\na.append(a)\nrepr(a)"},
	{"dict repr", "d={}\nd[1]=d\nstr(d)"},
	{"percent", "a=[]\na.append(a)\n'%s' % a"},
	{"deque and iterators", "a=[]\nfor _ in range(5000): a=map(str, a)\nlist(a)"},
	{"nested zip", "a=()\nfor _ in range(5000): a=zip(a)\nlist(a)"},
	{"nested reversed", "class A:\n def __reversed__(s): return reversed(s)\nreversed(A())"},
}

func TestEndlessRecursionRaises(t *testing.T) {
	t.Parallel()
	for _, test := range recursions {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			m := boot(t, 4<<20)
			m.wantError(test.program, "RuntimeError")
			m.wantError(test.program, "RuntimeError") // the stack is whole again
		})
	}
}

// A program may catch the error and go on, again and again, at any depth of its own.
func TestRecursionErrorIsCaught(t *testing.T) {
	t.Parallel()
	for _, test := range recursions {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			m := boot(t, 4<<20)
			program := fmt.Sprintf(`
code = %q
def at(n):
    if n: return at(n-1)
    try: exec(code, {})
    except RuntimeError as e: return str(e)
for n in range(0, 150, 30):
    for _ in range(3): print(end='.' if at(n) else '?')
`, test.program)
			m.wantOutput(program, strings.Repeat(".", 15))
		})
	}
}

const deepProgram = `
N = %d
try:
 %s
 try: %s
 except (RuntimeError, ValueError, SyntaxError, AttributeError, NameError, TypeError): pass
except MemoryError: pass
print('ok')
`

// Deep but finite: either it works or it is one of the two errors that a board would give; never a trap.
func TestDeepData(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, setup, use string }{
		{"list repr", "a=[]\nfor _ in range(N): a=[a]", "repr(a)"},
		{"tuple hash", "a=()\nfor _ in range(N): a=(a,)", "hash(a)"},
		{"tuple equality", "a=()\nb=()\nfor _ in range(N): a=(a,); b=(b,)", "a==b"},
		{"list order", "a=[]\nb=[]\nfor _ in range(N): a=[a]; b=[b]", "a<b"},
		{"dict repr", "a={}\nfor _ in range(N): a={1:a}", "str(a)"},
		{"json dumps", "import json\na=[]\nfor _ in range(N): a=[a]", "json.dumps(a)"},
		{"json loads", "import json\na='['*N+']'*N", "json.loads(a)"},
		{"copy", "a=[]\nfor _ in range(N): a=[a]\ndef c(x): return [c(y) for y in x]", "c(a)"},
		{"parentheses", "a='('*N+'1'+')'*N", "eval(a)"},
		{"list source", "a='['*N+']'*N", "eval(a)"},
		{"unary source", "a='-'*N+'1'", "eval(a)"},
		{"not source", "a='not '*N+'1'", "eval(a)"},
		{"attribute source", "a='x'+'.x'*N", "eval(a)"},
		{"call source", "a='f('*N+')'*N", "eval(a)"},
		{"lambda source", "a='lambda:'*N+'1'", "eval(a)"},
		{"ternary source", "a='1 if 1 else '*N+'1'", "eval(a)"},
		{"power source", "a='1'+'**1'*N", "eval(a)"},
		{"nested ifs", "a=''.join(' '*k+'if 1:\\n' for k in range(min(N,400)))+' '*min(N,400)+'pass'", "exec(a)"},
		{"nested functions", "a=''.join(' '*k+'def f():\\n' for k in range(min(N,400)))+' '*min(N,400)+'pass'", "exec(a)"},
		{"nested try", "a=''.join(' '*k+'try:\\n' for k in range(min(N,200)))+' '*min(N,200)+'pass\\n'+''.join(' '*k+'finally: pass\\n' for k in reversed(range(min(N,200))))", "exec(a)"},
		{"regular expression groups", "import re\na='('*N+'a'+')'*N", "re.match(a, 'a')"},
		{"regular expression star", "import re\na='a'*N", "re.match('(a|b)*c', a)"},
		{"regular expression lazy", "import re\na='a'*N", "re.match('(a*?)*?b', a)"},
		{"regular expression optional", "import re\na='a?'*N+'a'*N", "re.match(a, 'a')"},
		{"regular expression empty loop", "import re\na='x'*N", "re.match('(x*)*y', a)"},
		{"star arguments", "a=[1]*N", "(lambda *b: len(b))(*a)"},
		{"star arguments of a builtin", "a=[1]*N", "max(*a)"},
		{"class chain", "class A: pass\nfor _ in range(min(N,2000)):\n class A(A): pass", "A().x"},
		{"iterator chain", "a=iter([1])\nfor _ in range(N): a=filter(None, a)", "next(a)"},
		{"generator chain", "def g(x):\n yield from x\na=iter([1])\nfor _ in range(N): a=g(a)", "next(a)"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			m := boot(t, 4<<20)
			for _, n := range []int{10, 100, 400, 1000, 4000} {
				program := fmt.Sprintf(deepProgram, n, strings.ReplaceAll(test.setup, "\n", "\n "), test.use)
				m.wantOutput(program, "ok")
			}
		})
	}
}

func TestUsefulDepth(t *testing.T) {
	t.Parallel()
	boot(t, smallHeap).wantOutput("def f(n): return n and 1 + f(n-1)\nprint(f(800))", "800")
}
