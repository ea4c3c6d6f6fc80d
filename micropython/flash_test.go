//go:build unix

package micropython

import (
	"strings"
	"testing"

	"github.com/pal-terminal/pal/flash"
	"github.com/pal-terminal/pal/hw"
)

func TestOpenFiles(t *testing.T) {
	g := start(t)
	for _, tt := range []struct{ name, code, out string }{
		{"lines", "with open('t', 'w') as f:\n  for k in range(1000): f.write('line %d\\n' % k)\nn = 0\nfor l in open('t'): n += len(l)\nprint(n, l)", "8890 line 999\n\n"},
		{"large", "b = bytes(range(256)) * 300\nprint(open('b', 'wb').write(b), open('b', 'rb').read() == b)", "76800 True\n"},
		{"into a buffer", "v = bytearray(70000)\nf = open('b', 'rb'); f.seek(256)\nprint(f.readinto(v), v == b[256:70256], f.tell())", "70000 True 70256\n"},
		{"seek in what was read", "f.seek(10); x = f.read(3); f.seek(-2, 2); print(x, f.read(), f.seek(0, 1))", "b'\\n\\x0b\\x0c' b'\\xfe\\xff' 76800\n"},
		{"a write is seen by who reads", "w = open('s', 'w'); w.write('abc')\nr = open('s')\nprint(r.read(1))\nw.seek(1); w.write('XY')\nprint(r.read())", "a\nXY\n"},
		{"growth is seen at the end", "print(repr(r.read())); w.write('more'); print(r.read())", "''\nmore\n"},
		{"stat sees a write at once", "print(os.stat('s')[6])", "7\n"},
		{"append", "a = open('s', 'a+'); a.write('!'); print(a.tell()); a.seek(0); print(a.read(2)); a.write('?'); print(open('s').read())", "8\naX\naXYmore!?\n"},
		{"removed while open", "f = open('g', 'w+'); f.write('1'); os.remove('g')\nf.seek(0); print(repr(f.read()))\ntry: f.write('2')\nexcept OSError as e: print(e.errno)\nopen('g', 'w').write('new'); print(repr(f.read()), open('g').read())", "''\n2\n'' new\n"},
		{"renamed while open", "f = open('h', 'w'); os.rename('h', 'i'); f.write('x'); print(open('i').read(), 'h' in os.listdir())", "x False\n"},
		{"replaced while open", "open('j', 'w').write('old'); f = open('j'); os.rename('i', 'j'); print(repr(f.read()), open('j').read())", "'' x\n"},
		{"folder renamed", "os.mkdir('d1'); f = open('d1/x', 'w'); os.rename('d1', 'd2'); f.write('y'); f.close(); print(os.listdir('d2'), open('d2/x').read())", "['x'] y\n"},
		{"flush and sync", "f = open('k', 'w'); f.write('1'); f.flush(); os.sync(); f.close()\nprint(open('k').read())", "1\n"},
		{"unicode names", "open('żółć 火.txt', 'w').write('ü'); print('żółć 火.txt' in os.listdir(), open('żółć 火.txt').read())", "True ü\n"},
		{"board.py in the working folder", "print(os.stat('/board.py')[6] > 0)", "True\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.name == "board.py in the working folder" {
				g.run(hw.Job{Kind: hw.JobProxy, Code: "# it", Args: []byte("[]")})
				tt.code += "\nprint(open('board.py').read(), open('../board.py').read())\ntry: open('board.py', 'w')\nexcept OSError as e: print(e.errno)"
				tt.out += "# it # it\n30\n"
			}
			r := g.exec("import os\n" + tt.code)
			if r.out != tt.out || r.Exception != nil {
				t.Errorf("got %q, %+v, %q, want %q", r.out, r.Exception, r.err, tt.out)
			}
		})
	}
}

// A file that is read line by line, which the engine does byte by byte, costs a call for each 4 KiB.
func TestReadAhead(t *testing.T) {
	g := start(t)
	g.exec("with open('t', 'w') as f: f.write('0123456789abcde\\n' * 1024)")
	calls := 0
	store := g.store
	g.fileAnswer = func(c hw.Call) hw.Reply {
		calls++
		return store.Call(flash.Full, c)
	}
	if r := g.exec("print(len(open('t').readlines()))"); r.out != "1024\n" || calls > 6 {
		t.Errorf("got %q in %d calls, want 1024 lines of 16 KiB in at most 6", r.out, calls)
	}
}

// What is in /flash outlives the machine, and what somebody else changes between two jobs is seen in the next.
func TestFilesAreTheGuards(t *testing.T) {
	g := start(t)
	g.exec("open('keep', 'w').write('1')\nf = open('keep')\nf.read(0); f.read()")
	other := start(t)
	other.store = g.store
	if r := other.exec("print(open('/flash/keep').read()); open('keep', 'w').write('22')"); r.out != "1\n" || r.Exception != nil {
		t.Errorf("another machine: got %q, %+v", r.out, r.Exception)
	}
	if r := g.exec("f.seek(0); print(f.read())"); r.out != "22\n" {
		t.Errorf("next job: got %q, want what the other wrote", r.out)
	}
}

// No file takes the place of what belongs to the guard's side; a program's own driver takes that of the library's.
func TestImportOrder(t *testing.T) {
	g := start(t)
	names := []string{"machine", "time", "asyncio", "uasyncio", "select", "network", "socket", "json", "os", "math", "framebuf", "struct", "ujson", "_pal", "builtins"}
	var plant strings.Builder
	plant.WriteString("import os\nos.mkdir('/flash/lib')\n")
	for _, n := range append(names, "neopixel") {
		plant.WriteString("open('/flash/" + n + ".py', 'w').write('planted = 1')\nopen('/flash/lib/" + n + ".py', 'w').write('planted = 1')\n")
	}
	if r := g.exec(plant.String()); r.Exception != nil {
		t.Fatal(r.err)
	}
	for _, n := range names {
		if r := g.run(hw.Job{Kind: hw.JobExec, Code: "import " + n + "\nprint(hasattr(" + n + ", 'planted'))"}); r.out != "False\n" {
			t.Errorf("%s: got %q, %s, want the guard's own", n, r.out, r.err)
		}
	}
	if r := g.exec("import neopixel; print(neopixel.planted)"); r.out != "1\n" {
		t.Errorf("neopixel: got %q, %s, want the program's own", r.out, r.err)
	}
}

// The guard's text says why an import is refused.
func TestRefusedImport(t *testing.T) {
	g := start(t)
	g.fileAnswer = func(c hw.Call) hw.Reply {
		switch {
		case c.A == hw.FileStat && c.Text == "/m.py":
			return hw.Reply{Value: 5}
		case c.A == hw.FileRead && c.Text == "/m.py":
			return hw.Reply{Errno: 13, Text: "written by code of fewer rights"}
		}
		return hw.Reply{Errno: 2, Text: "no such file"}
	}
	r := g.exec("import m")
	if want := "[Errno 13] EACCES: /flash/m.py: written by code of fewer rights"; r.Exception == nil || r.Exception.Message != want {
		t.Errorf("got %+v, want %q", r.Exception, want)
	}
	if !strings.HasSuffix(r.err, "written by code of fewer rights\n") {
		t.Errorf("got %q on stderr", r.err)
	}
	if r := g.exec("try: import m\nexcept OSError as e: print(e.errno)"); r.out != "13\n" {
		t.Errorf("caught: got %q", r.out)
	}
}

// A guard whose numbers or data make no sense breaks a call, not the machine.
func TestStrangeFileAnswers(t *testing.T) {
	g := start(t)
	for _, answer := range []hw.Reply{{Errno: 27}, {Errno: -5}, {Errno: 1 << 20}, {Data: []byte("f\x00\x00\x00\x00no end")}, {Value: 1 << 60, Data: []byte("x")}} {
		g.fileAnswer = func(hw.Call) hw.Reply { return answer }
		r := g.exec("import os\nfor f in (lambda: os.listdir('/flash/x'), lambda: os.stat('x'), lambda: open('x').read(10), lambda: os.statvfs('/')):\n  try: f()\n  except OSError: pass\nprint('alive')")
		if r.out != "alive\n" || r.Exception != nil {
			t.Errorf("%+v: got %q, %s", answer, r.out, r.err)
		}
	}
}
