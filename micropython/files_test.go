//go:build unix

package micropython

import (
	"strings"
	"testing"
)

func TestFiles(t *testing.T) {
	g := start(t)
	for _, tt := range []struct{ name, code, out string }{
		{"cwd", "import os; print(os.getcwd(), os.listdir('/'))", "/flash ['flash', 'lib']\n"},
		{"write and read", "with open('a.txt', 'w') as f: print(f.write('é\\n'), end=' ')\nprint(open('/flash/a.txt').read(), os.listdir(), os.stat('a.txt')[6])", "3 é\n ['a.txt'] 3\n"},
		{"append", "f = open('a.txt', 'a'); f.write('b'); f.close(); print(open('a.txt', 'rb').read())", "b'\\xc3\\xa9\\nb'\n"},
		{"seek", "f = open('a.txt', 'r+b'); f.seek(1); f.write(b'X'); f.seek(0); print(f.read(), f.tell()); f.close()", "b'\\xc3X\\nb' 4\n"},
		{"truncate on write", "open('a.txt', 'w').close(); print(os.stat('a.txt')[6])", "0\n"},
		{"lines", "f = open('l', 'w'); f.write('1\\n2\\n'); f.close(); print([x for x in open('l')])", "['1\\n', '2\\n']\n"},
		{"folders", "os.mkdir('d'); open('d/x', 'w').close(); os.chdir('d'); print(os.getcwd(), os.listdir(), [x[:2] for x in os.ilistdir('..')]); os.chdir('/flash')", "/flash/d ['x'] [('a.txt', 32768), ('d', 16384), ('l', 32768)]\n"},
		{"rename", "os.rename('d/x', 'y'); print(os.listdir('d'), 'y' in os.listdir())", "[] True\n"},
		{"remove", "os.remove('y'); os.rmdir('d'); print(os.listdir())", "['a.txt', 'l']\n"},
		{"import", "f = open('m.py', 'w'); f.write('@micropython.native\\ndef f(): return 7\\n'); f.close()\nimport m; print(m.f())", "7\n"},
		{"as written", "print(open('m.py').read()[:12])", "@micropython\n"},
		{"import from lib folder", "os.mkdir('lib'); f = open('lib/n.py', 'w'); f.write('from . import o' if 0 else 'x = 8'); f.close()\nimport n; print(n.x)", "8\n"},
		{"import package", "os.mkdir('p')\nfor n, s in (('__init__', 'from .q import y'), ('q', 'y = 9')):\n  f = open('p/%s.py' % n, 'w'); f.write(s); f.close()\nimport p; print(p.y)", "9\n"},
		{"library is readable", "print('class Pin' in open('/lib/pal/machine/_pin.py').read())", "True\n"},
		{"statvfs", "v = os.statvfs('/'); print(v[0] * v[2], v[3] < v[2])", "4194304 True\n"},
		{"dot dot", "print(open('../../../flash/l').read() == open('l').read())", "True\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := g.exec(tt.code)
			if r.out != tt.out || r.Exception != nil {
				t.Errorf("got %q, %+v, %q, want %q", r.out, r.Exception, r.err, tt.out)
			}
		})
	}
}

func TestFileErrors(t *testing.T) {
	g := start(t)
	g.exec("import os\nos.mkdir('d'); f = open('d/x', 'w'); f.close()")
	for _, tt := range []struct {
		code  string
		errno string
	}{
		{"open('none')", "2"}, {"os.remove('none')", "2"}, {"os.stat('none')", "2"}, {"os.listdir('none')", "2"}, {"os.chdir('none')", "2"},
		{"open('/lib/pal/machine/_pin.py', 'w')", "30"}, {"open('/new', 'w')", "30"}, {"os.remove('/lib/pal/machine/_pin.py')", "30"}, {"os.rename('/lib/pal/machine/_pin.py', 'x')", "30"},
		{"os.mkdir('/etc')", "30"}, {"open('/etc/passwd')", "2"}, {"os.rmdir('/flash')", "30"}, {"os.rename('/flash', '/x')", "30"},
		{"os.mkdir('d')", "17"}, {"os.rmdir('d')", "39"}, {"os.remove('d')", "21"}, {"open('d', 'w')", "21"}, {"open('d/x/y')", "20"},
		{"os.rename('d', 'd/e')", "22"}, {"open('code.mpy', 'wb')", "13"}, {"os.rename('d/x', 'x.mpy')", "13"}, {"os.mkdir('x.mpy')", "13"},
		{"f = open('big', 'wb')\nb = bytes(65536)\nfor k in range(17): f.write(b)", "28"},
		{"os.remove('big')\nb = bytes(65536)\nfor n in range(5):\n  with open('f%d' % n, 'wb') as f:\n    for k in range(16): f.write(b)", "28"},
		{"l = [open('d/x') for k in range(40)]", "24"},
		{"import gc; gc.collect()\nfor k in range(600): open('many%d' % k, 'w').close()", "28"},
		{"open('" + strings.Repeat("a", 2000) + "')", "36"},
	} {
		r := g.exec(tt.code)
		if r.Exception == nil || r.Exception.Class != "OSError" || !strings.HasPrefix(r.Exception.Message, "[Errno "+tt.errno+"]") && !strings.HasPrefix(r.Exception.Message+":", tt.errno+":") {
			t.Errorf("%s: got %+v, want OSError %s", tt.code, r.Exception, tt.errno)
		}
	}
}

// Files that nobody holds give their places back, those that an earlier job holds do when they are needed, and the bytes of
// a removed file are not counted.
func TestFilesLeftOpen(t *testing.T) {
	g := start(t)
	for _, tt := range []struct{ name, code, out string }{
		{"dropped", "open('a', 'w').write('1')\nprint(sum(int(open('a').read()) for k in range(100)))", "100\n"},
		{"held", "held = []\ntry:\n  while True: held.append(open('a'))\nexcept OSError as e: print(e.errno, len(held) > 20)", "24 True\n"},
		{"by an earlier job", "import unittest\nprint(open('a').read())", "1\n"},
		{"taken back", "n = 0\nfor f in held:\n  try: f.read()\n  except OSError as e: n += e.errno == 9\nprint(0 < n < 5)\nheld.clear()", "True\n"},
		{"removed", "import os\nfree = os.statvfs('/')[3]\nf = open('b', 'wb'); os.remove('b')\ntry: f.write(bytes(100000))\nexcept OSError as e: print(e.errno, os.statvfs('/')[3] == free)", "2 True\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := g.exec(tt.code)
			if r.out != tt.out || r.Exception != nil {
				t.Errorf("got %q, %+v, %q, want %q", r.out, r.Exception, r.err, tt.out)
			}
		})
	}
}

// The driver is nothing a program can read or import.
func TestDriverIsOutOfReach(t *testing.T) {
	g := start(t)
	r := g.exec("import os, sys, builtins\nprint('driver.py' in os.listdir('/lib'), 'pal' in sys.modules)\n" +
		"for f in (event_push, builtins.input, time.sleep, os.uname, Pin.on, Pin.irq):\n  for n in getattr(f, '__globals__', ()): print(n in ('session', 'run', 'absorb', 'js'), end='')")
	if strings.Contains(r.out, "True") || r.Exception != nil {
		t.Errorf("got %q, %+v", r.out, r.Exception)
	}
}
