//go:build unix

package micropython

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pal-terminal/pal/hw"
)

func TestSingle(t *testing.T) {
	g := start(t)
	for _, tt := range []struct{ code, out string }{
		{"1 + 1", "2\n"},
		{"'a'", "'a'\n"},
		{"None", ""},
		{"x = 5", ""},
		{"x", "5\n"},
		{"x; x + 1", "5\n6\n"},
		{"for k in range(2): k", "0\n1\n"},
		{"if x: 'yes'", "'yes'\n"},
		{"5 # five", "5\n"},
		{"def f(): return 3", ""},
		{"f()", "3\n"},
		{"import machine; [hex(d) for d in [80]]", "['0x50']\n"},
		{"", ""},
		{"6 * 7", "42\n"},
		{"_ + 1", "43\n"},
	} {
		r := g.run(hw.Job{Kind: hw.JobExec, Session: "s", Code: tt.code, Single: true})
		if r.out != tt.out || r.Exception != nil {
			t.Errorf("%q: got %q, %+v, want %q", tt.code, r.out, r.Exception, tt.out)
		}
	}
}

// The last value is the session's own: nobody else finds it, and it goes with the session.
func TestLastValueIsNotShared(t *testing.T) {
	g := start(t)
	for _, job := range []hw.Job{{Session: "a"}, {}} {
		job.Kind, job.Code, job.Single = hw.JobExec, "'mine'", true
		g.run(job)
		if r := g.run(hw.Job{Kind: hw.JobExec, Session: "b", Code: "_"}); r.Exception == nil || r.Exception.Class != "NameError" {
			t.Errorf("_ in another session than %q: got %q, %+v, want NameError", job.Session, r.out, r.Exception)
		}
	}
	if r := g.run(hw.Job{Kind: hw.JobExec, Session: "a", Code: "print(_)"}); r.out != "mine\n" {
		t.Errorf("_ in its own session: got %q, want mine", r.out)
	}
	if r := g.run(hw.Job{Kind: hw.JobExec, Session: "a", Drop: []string{"a"}, Code: "_"}); r.Exception == nil || r.Exception.Class != "NameError" {
		t.Errorf("_ after its session was dropped: got %q, %+v, want NameError", r.out, r.Exception)
	}
}

func TestEval(t *testing.T) {
	g := start(t)
	deep := strings.Repeat("[", 40) + strings.Repeat("]", 40)
	for _, tt := range []struct{ name, code, value string }{
		{"expression", "1 + 1", "2"},
		{"string", "'é\"'", `"é\""`},
		{"nothing", "x = 1", "null"},
		{"empty", "", "null"},
		{"statements", "x = 2\ny = 3\nx * y", "6"},
		{"semicolon", "x = 2; x + 1", "3"},
		{"semicolon in string", "x = 'a;b'; x + ';'", `"a;b;"`},
		{"several lines", "x = 1\n[x,\n 2,\n {'a': None}]", `[1, 2, {"a": null}]`},
		{"compound last", "for k in range(3):\n    k", "null"},
		{"compound on one line", "if True: x = 1; 5", "null"},
		{"comment after", "4\n# the end\n", "4"},
		{"blank after", "4\n\n\n", "4"},
		{"function before", "def f(a):\n    return a + 1\nf(1)", "2"},
		{"string over lines", "s = '''\n1\n'''\nlen(s)", "3"},
		{"string over lines last", "s = '''\n1\n'''", "null"},
		{"last line ends a string", "'''a\nb'''", `"a\nb"`},
		{"tuple", "1, 2", "[1, 2]"},
		{"float", "0.5", "0.5"},
		{"big", "2 ** 70", "1180591620717411303424"},
		{"nan", "float('nan')", `"nan"`},
		{"bytes", "b'ab'", `"b'ab'"`},
		{"number key", "{1: 2}", `"{1: 2}"`},
		{"object", "import sys; type(sys)", `"<class 'module'>"`},
		{"too deep", deep, `"` + deep + `"`},
		{"dataclass of int", "class I(int): pass\nI(3)", `"3"`},
		{"surrogate", "'a\\ud800b'", "\"a\ufffdb\""},
		{"prints too", "print('p')\n7", "7"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := g.run(hw.Job{Kind: hw.JobExec, Code: tt.code, Eval: true})
			if r.Exception != nil {
				t.Fatalf("got %+v", r.Exception)
			}
			if d := cmp.Diff(tt.value, string(r.Value)); d != "" {
				t.Errorf("value (-want +got):\n%s", d)
			}
		})
	}
}

// Looking for the last expression costs no more than a few compilations, however long the code is and whatever it ends in.
func TestEvalOfLongCode(t *testing.T) {
	g := start(t)
	plain := g.run(hw.Job{Kind: hw.JobExec, Code: strings.Repeat("x = 1; y = 2\n", 3000)})
	for _, last := range []string{"z = 3", "x; z = 3", "for k in x: k", "x + y"} {
		r := g.run(hw.Job{Kind: hw.JobExec, Code: strings.Repeat("x = 1; y = 2\n", 3000) + last, Eval: true})
		if r.Fuel > 10*plain.Fuel {
			t.Errorf("...%s: got %d units of fuel, want about the %d of running it", last, r.Fuel, plain.Fuel)
		}
	}
}

func TestEvalErrors(t *testing.T) {
	g := start(t)
	for _, tt := range []struct {
		code, class string
		line        int
	}{
		{"x = 1\n\nundefined", "NameError", 3},
		{"x = 1; undefined", "NameError", 1},
		{"x = undefined\n1", "NameError", 1},
		{"x = 1\nif (\n", "SyntaxError", 3},
		{"'x' * 70000", "ValueError", 0},
	} {
		r := g.run(hw.Job{Kind: hw.JobExec, Code: tt.code, Eval: true})
		if r.Exception == nil || r.Exception.Class != tt.class || r.Exception.Line != tt.line || r.Value != nil {
			t.Errorf("%q: got %+v, value %q, want %s in line %d", tt.code, r.Exception, r.Value, tt.class, tt.line)
		}
	}
}

func TestSessions(t *testing.T) {
	g := start(t)
	run := func(session, code string, drop ...string) string {
		r := g.run(hw.Job{Kind: hw.JobExec, Session: session, Code: code, Drop: drop})
		if r.Exception != nil {
			return r.Exception.Class
		}
		return strings.TrimSpace(r.out)
	}
	for _, tt := range []struct {
		session, code, want string
		drop                []string
	}{
		{"a", "x = 1", "", nil},
		{"b", "x = 2", "", nil},
		{"a", "print(x)", "1", nil},
		{"b", "print(x)", "2", nil},
		{"", "x = 3", "", nil},
		{"", "print(x)", "NameError", nil},
		{"a", "print(x)", "NameError", []string{"a", "nobody"}},
		{"b", "print(x)", "2", nil},
		{"a\x00b", "x = 9", "", nil},
		{"b", "Pin = None; print(Pin)", "None", nil},
		{"a", "print(Pin is None)", "False", nil},
		{"b", "for n in list(globals()): del globals()[n]", "", nil},
		{"b", "print(1)", "1", nil},
	} {
		if got := run(tt.session, tt.code, tt.drop...); got != tt.want {
			t.Errorf("session %q, %q: got %q, want %q", tt.session, tt.code, got, tt.want)
		}
	}
}

// A program that comes again is not compiled again: it must run as if it were, in its own session's names.
func TestProgramsThatComeAgain(t *testing.T) {
	g := start(t)
	const define, call, count = "f = lambda: x", "print(f())", "n = globals().get('n', 0) + 1; print(n)"
	for _, tt := range []struct {
		session, code, want string
		drop                []string
	}{
		{"a", "x = 1", "", nil}, {"b", "x = 2", "", nil},
		{"a", define, "", nil}, {"b", define, "", nil}, {"a", define, "", nil},
		{"a", call, "1\n", nil}, {"b", call, "2\n", nil}, {"a", call, "1\n", nil},
		{"a", count, "1\n", nil}, {"a", count, "2\n", nil}, {"b", count, "1\n", nil}, {"a", count, "3\n", nil},
		{"a", "x = 5", "", []string{"a"}}, {"a", define, "", nil}, {"a", call, "5\n", nil}, {"b", call, "2\n", nil},
		{"a", count, "1\n", nil},
		{"", count, "1\n", nil}, {"", count, "1\n", nil},
	} {
		for _, single := range []bool{false, true} {
			if single && tt.code == count {
				continue
			}
			r := g.run(hw.Job{Kind: hw.JobExec, Session: tt.session, Code: tt.code, Drop: tt.drop, Single: single})
			if r.Exception != nil || r.out != tt.want {
				t.Errorf("session %q, %q, single %v: got %q %+v, want %q", tt.session, tt.code, single, r.out, r.Exception, tt.want)
			}
			tt.drop = nil
		}
	}
	for n := range 200 { // more than are kept, twice each
		code := fmt.Sprintf("print(%d + x)", n)
		for range 2 {
			if r := g.run(hw.Job{Kind: hw.JobExec, Session: "a", Code: code}); r.out != fmt.Sprintf("%d\n", n+5) {
				t.Fatalf("%q: got %q", code, r.out)
			}
		}
	}
}

const boardSource = `from machine import Pin
from time import sleep
RELAY = 12
_hidden = 1
def on(n, *, level=1):
    """Switch relay n."""
    return {"n": n, "level": level}
def broken():
    raise ValueError("broken relay")
def pin():
    return Pin
def _private(): pass
`

func TestBoard(t *testing.T) {
	g := start(t)
	r := g.run(hw.Job{Kind: hw.JobBoard, Code: boardSource})
	if got, want := string(r.Value), `["broken", "on", "pin"]`; !sameJSON(t, got, want) || r.Exception != nil {
		t.Fatalf("board: got %s, %+v, want %s", got, r.Exception, want)
	}
	if r := g.exec("print(RELAY, on(1)['level'], '_hidden' in globals())\nimport board\nprint(board.RELAY, open('board.py').read() == open('/board.py').read(), len(open('/board.py').read()))"); r.out != fmt.Sprintf("12 1 False\n12 True %d\n", len(boardSource)) {
		t.Errorf("names of the board: got %q, %+v", r.out, r.Exception)
	}
	for _, tt := range []struct{ fn, args, value, class string }{
		{"on", `[[3], {"level": 0}]`, `{"n": 3, "level": 0}`, ""},
		{"broken", `[[], {}]`, "", "ValueError"},
		{"pin", `[[], {}]`, "", "TypeError"},
		{"_private", `[[], {}]`, "", "AttributeError"},
		{"sleep", `[[], {}]`, "", "AttributeError"},
		{"on", `[[], {}]`, "", "TypeError"},
		{"on", `nonsense`, "", "ValueError"},
	} {
		r := g.run(hw.Job{Kind: hw.JobFunc, Func: tt.fn, Args: []byte(tt.args)})
		class := ""
		if r.Exception != nil {
			class = r.Exception.Class
		}
		if class != tt.class || (tt.value != "" && !sameJSON(t, string(r.Value), tt.value)) {
			t.Errorf("%s(%s): got %s, %+v, want %s%s", tt.fn, tt.args, r.Value, r.Exception, tt.value, tt.class)
		}
	}
}

func TestBoardWithAnError(t *testing.T) {
	g := start(t)
	r := g.run(hw.Job{Kind: hw.JobBoard, Code: "x = 1\nraise OSError(5)"})
	want := "Traceback (most recent call last):\n  File \"board.py\", line 2, in <module>\nOSError: [Errno 5] EIO\n"
	if r.Exception == nil || r.Exception.Traceback != want || r.Value != nil {
		t.Errorf("got %+v, %s, want %q", r.Exception, r.Value, want)
	}
}

func TestProxy(t *testing.T) {
	g := start(t)
	r := g.run(hw.Job{Kind: hw.JobProxy, Code: boardSource, Args: []byte(`["on", "broken"]`)})
	if r.Exception != nil {
		t.Fatalf("got %+v", r.Exception)
	}
	g.answer = func(c hw.Call) hw.Reply {
		switch {
		case c.Text == "broken":
			return hw.Reply{Errno: 13, Refusal: 4, Text: "not now"}
		case string(c.Data) == "[[0], {}]":
			return hw.Reply{Errno: 5, Text: "ValueError: no", Data: []byte(`["ValueError","no"]`)}
		case string(c.Data) == "[[-1], {}]":
			return hw.Reply{Errno: 5, Text: "Odd: no", Data: []byte(`["Odd","no"]`)}
		case string(c.Data) == "[[-2], {}]":
			return hw.Reply{Errno: 5, Text: "the machine of board.py is gone"}
		}
		return hw.Reply{Data: []byte(`{"ok": [1, 2]}`)}
	}
	r = g.exec("import board\nprint(board.on(1, level=0)['ok'], board.__source__ == open('/board.py').read(), sorted(n for n in dir(board) if n[0] != '_'))")
	if r.out != "[1, 2] True ['broken', 'on', 'tool']\n" || r.Exception != nil {
		t.Errorf("got %q, %+v", r.out, r.Exception)
	}
	want := []hw.Call{{Op: hw.OpBoardCall, Text: "on", Data: []byte(`[[1], {"level": 0}]`)}}
	if d := cmp.Diff(want, r.calls); d != "" {
		t.Errorf("calls (-want +got):\n%s", d)
	}
	if r := g.exec("print(sorted(board.on.__globals__))"); strings.Contains(r.out, "js") || r.Exception != nil {
		t.Errorf("globals of a proxy: got %q, %+v", r.out, r.Exception)
	}
	if r := g.exec("board.broken()"); r.Refusal != 4 || r.Exception == nil || r.Exception.Message != "[Errno 13] EACCES: not now" {
		t.Errorf("refused function: got %+v, refusal %d", r.Exception, r.Refusal)
	}
	for arg, want := range map[string]string{
		"0": "ValueError: no", "-1": "RuntimeError: Odd: no", "-2": "OSError: [Errno 5] EIO: the machine of board.py is gone",
	} {
		if r := g.exec("board.on(" + arg + ")"); r.Exception == nil || r.Exception.Class+": "+r.Exception.Message != want {
			t.Errorf("a function that raised: got %+v, want %s", r.Exception, want)
		}
	}
	if r := g.exec("board.on(open)"); r.Exception == nil || r.Exception.Class != "TypeError" || len(r.calls) != 0 {
		t.Errorf("an argument JSON cannot hold: got %+v, %v", r.Exception, r.calls)
	}
	if r := g.exec("board.RELAY"); r.Exception == nil || r.Exception.Class != "AttributeError" {
		t.Errorf("a name that is no function: got %+v", r.Exception)
	}
}

func sameJSON(t *testing.T, a, b string) bool {
	t.Helper()
	var x, y any
	if err := json.Unmarshal([]byte(a), &x); err != nil {
		return false
	}
	if err := json.Unmarshal([]byte(b), &y); err != nil {
		t.Fatal(err)
	}
	return cmp.Equal(x, y)
}

// Garbage is collected when the heap is full, as on a board, and not every 16 KiB as the stock engine asks for; a program's own
// threshold ends with it.
func TestCollectionThreshold(t *testing.T) {
	g := start(t)
	for range 2 {
		if r := g.exec("import gc\nprint(gc.threshold())\ngc.threshold(5000)\nprint(gc.threshold())"); r.out != "-1\n4992\n" /* in whole blocks */ {
			t.Errorf("threshold: got %q %+v, want -1 and the program's own", r.out, r.Exception)
		}
	}
}
