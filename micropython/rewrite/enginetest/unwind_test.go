package enginetest

import "testing"

// Exceptions through every kind of frame: the unwinding flag has to be seen and cleared in each.
func TestExceptions(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, program, want string }{
		{"loop", "n=0\nfor k in range(20000):\n try:\n  raise ValueError(k)\n except ValueError as e:\n  n+=e.args[0]\nprint(n)", "199990000"},
		{"nested", "def f(n):\n try:\n  if n: f(n-1)\n  else: 1//0\n finally: log.append(n)\nlog=[]\ntry: f(5)\nexcept ZeroDivisionError: print(log)", "[0, 1, 2, 3, 4, 5]"},
		{"reraise", "try:\n try: [][1]\n except IndexError: raise\nexcept IndexError as e: print(repr(e))", "IndexError('list index out of range',)"},
		{"generator", "def g():\n try: yield 1\n except KeyError: yield 2\n finally: print('f')\ni=g()\nprint(next(i), i.throw(KeyError))\ntry: next(i)\nexcept StopIteration: print('s')", "1 2\nf\ns"},
		{"generator close", "def g():\n try:\n  while 1: yield 1\n finally: print('closed')\ni=g()\nnext(i)\ni.close()", "closed"},
		{"sort key", "try: [1,2,3].sort(key=lambda x: 1//(x-2))\nexcept ZeroDivisionError: print('z')", "z"},
		{"comparison", "class A:\n def __lt__(s,o): raise OSError(5)\ntry: sorted([A(),A()])\nexcept OSError as e: print(e.errno)", "5"},
		{"getattr", "class A:\n def __getattr__(s,n): raise AttributeError(n)\nprint(getattr(A(),'x',7), hasattr(A(),'y'))", "7 False"},
		{"hash", "try: {[]:1}\nexcept TypeError: print('t')", "t"},
		{"with", "class C:\n def __enter__(s): return s\n def __exit__(s,*a): print(a[0].__name__); return True\nwith C(): 1//0\nprint('on')", "ZeroDivisionError\non"},
		{"iterator", "class I:\n def __iter__(s): return s\n def __next__(s): raise ValueError\nfor f in (list, tuple, set, sum, max, sorted):\n try: f(I())\n except ValueError: print(end='v')", "vvvvvv"},
		{"import", "try: import nothere\nexcept ImportError: print('i')", "i"},
		{"syntax", "try: exec('a b')\nexcept SyntaxError: print('s')", "s"},
		{"json", "import json\ntry: json.loads('[1,')\nexcept ValueError: print('v')", "v"},
		{"return in finally", "def f():\n while 1:\n  try: 1//0\n  finally: return 3\nprint(f())", "3"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			boot(t, smallHeap).wantOutput(test.program, test.want)
		})
	}
}

func TestUncaughtExceptionReachesTheHost(t *testing.T) {
	t.Parallel()
	m := boot(t, smallHeap)
	m.wantError("def f(): return {}['k']\nf()", "KeyError")
	m.wantError("raise SystemExit", "SystemExit")
	m.wantError("x = = 1", "SyntaxError")
}
