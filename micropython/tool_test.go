//go:build unix

package micropython

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pal-terminal/pal/hw"
)

func TestTools(t *testing.T) {
	g := start(t)
	r := g.exec("n = 0\n@tool\ndef count(step: int, label='x'):\n    global n\n    n += step\n    return {label: n}\n\n@tool()\ndef broken():\n    return object()\nprint(count(1))")
	want := []hw.Call{{Op: hw.OpTool, Text: "count"}, {Op: hw.OpTool, Text: "broken"}}
	if d := cmp.Diff(want, r.calls); d != "" || r.out != "{'x': 1}\n" {
		t.Errorf("got %q, %s, calls (-want +got):\n%s", r.out, r.err, d)
	}
	for _, tt := range []struct{ session, name, args, value, class string }{
		{"s", "count", `[[2], {"label": "y"}]`, `{"y": 3}`, ""},
		{"s", "count", `[[], {}]`, "", "TypeError"},
		{"s", "broken", `[[], {}]`, "", "TypeError"},
		{"s", "n", `[[], {}]`, "", "AttributeError"},
		{"other", "count", `[[1], {}]`, "", "AttributeError"},
		{"", "count", `[[1], {}]`, "", "AttributeError"},
	} {
		r := g.run(hw.Job{Kind: hw.JobFunc, Session: tt.session, Func: tt.name, Args: []byte(tt.args)})
		class := ""
		if r.Exception != nil {
			class = r.Exception.Class
		}
		if string(r.Value) != tt.value || class != tt.class {
			t.Errorf("%s of %q: got %s, %+v, want %s%s", tt.name, tt.session, r.Value, r.Exception, tt.value, tt.class)
		}
	}
	if r := g.exec("print(n)"); r.out != "3\n" {
		t.Errorf("the tool worked on other names: got %q, want 3", r.out)
	}
	if r := g.run(hw.Job{Kind: hw.JobFunc, Session: "s", Func: "count", Args: []byte(`[[1], {}]`), Drop: []string{"s"}}); r.Exception == nil || r.Exception.Class != "AttributeError" {
		t.Errorf("after its session was dropped: got %s, %+v, want AttributeError", r.Value, r.Exception)
	}
}

// Whatever a program finds can be printed, and what can be called does not print what it holds for others.
func TestNamesCanBePrinted(t *testing.T) {
	g := start(t)
	g.exec("@tool\ndef mine(): pass")
	r := g.run(hw.Job{Kind: hw.JobExec, Session: "other", Code: "print('mine' in repr(tool), repr(tool)[:14])"})
	if r.out != "False <function tool\n" {
		t.Errorf("got %q, %s", r.out, r.err)
	}
	r = g.exec(`
import sys, builtins, machine, time, os, asyncio, select, network, _pal, _bus
pin = Pin(4)
pin.irq(lambda p: None)
seen = 0
for name in list(globals()) + ["builtins.", "sys.", "machine.", "time.", "os.", "asyncio.", "select.", "network.", "_pal.", "_bus.", "pin.", "micropython."]:
    owner, dot, _ = name.partition(".")
    owner = eval(owner) if owner != "micropython" else __import__(owner)
    for n in dir(owner) if dot else [name]:
        v = getattr(owner, n) if dot else owner
        values = [v]
        if isinstance(v, type):
            values += [getattr(v, k, None) for k in dir(v)]
        for v in values:
            seen += 1
            repr(v)
print(seen > 500)`)
	if r.out != "True\n" || r.Exception != nil {
		t.Errorf("got %q, %s", r.out, r.err)
	}
}

func TestRefusedTool(t *testing.T) {
	g := start(t)
	g.answer = func(hw.Call) hw.Reply {
		return hw.Reply{Errno: 13, Refusal: 4, Text: "toggle_led is a function of the board"}
	}
	r := g.exec("@tool\ndef toggle_led(): pass")
	if r.Exception == nil || r.Exception.Message != "[Errno 13] EACCES: toggle_led is a function of the board" || r.Refusal != 4 {
		t.Errorf("got %+v, refusal %d", r.Exception, r.Refusal)
	}
	if r := g.run(hw.Job{Kind: hw.JobFunc, Session: "s", Func: "toggle_led", Args: []byte(`[[], {}]`)}); r.Exception == nil {
		t.Errorf("a refused tool runs: got %s", r.Value)
	}
	if r := g.exec("tool(3)"); r.Exception == nil || r.Exception.Class != "TypeError" {
		t.Errorf("tool(3): got %+v, want TypeError", r.Exception)
	}
}

// In board.py the decorator marks, there is nothing to register.
func TestToolInBoard(t *testing.T) {
	g := start(t)
	r := g.run(hw.Job{Kind: hw.JobBoard, Code: "@tool\ndef f(): return 1\ndef g(): return 2\n"})
	if string(r.Value) != `["f", "g"]` || len(r.calls) != 0 || r.Exception != nil {
		t.Errorf("got %s, %v, %s", r.Value, r.calls, r.err)
	}
	if r := g.run(hw.Job{Kind: hw.JobFunc, Func: "f", Args: []byte(`[[], {}]`)}); string(r.Value) != "1" {
		t.Errorf("got %s, %s", r.Value, r.err)
	}
	if r := g.exec("from board import tool, f\nprint(f())\n@tool\ndef mine(): return 3"); r.out != "1\n" || len(r.calls) != 1 {
		t.Errorf("got %q, %v, %s", r.out, r.calls, r.err)
	}
}
