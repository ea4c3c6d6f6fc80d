package toolset

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pal-terminal/pal/limits"
	"github.com/pal-terminal/pal/protocol"
)

const boardFile = `
LED = Pin("LED", Pin.OUT)
@board.tool
def water(seconds: float, pump: int = 1) -> float:
    "Waters."
def helper(n: int) -> int:
    "Public, but no tool."
def _hidden(): pass
`

var me = Owner{Actor: "bot", Session: "main", Key: "k1"}

// refusal is an error's code and rule, "" for none.
func refusal(err error) string {
	e, ok := errors.AsType[*protocol.Error](err)
	if !ok {
		return ""
	}
	return strings.TrimSpace(string(e.Code) + " " + e.Rule)
}

// offer is Offer with an error that is nil when there is none.
func offer(s *Set, o Owner, name, source string) error {
	if e := s.Offer(o, name, []byte(source)); e != nil {
		return e
	}
	return nil
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func names(s *Set) string {
	var list []string
	for _, f := range s.List() {
		list = append(list, strings.Trim(f.MadeBy+":"+f.Actor+":"+f.Session+":"+f.Name, ":"))
	}
	return strings.Join(list, " ")
}

func TestNames(t *testing.T) {
	long := strings.Repeat("n", 64)
	program := "def f(): pass\ndef Upper(): pass\nasync def later(): pass\ndef _secret(): pass\ndef " + long + "(): pass\ndef " + long + "n(): pass\n" +
		"x = lambda: 1\nif True:\n    def inside(): pass\nclass C:\n    def method(self): pass\n\"\"\"\ndef text(): pass\n\"\"\"\n" +
		"def water(): pass\ndef helper(): pass\ndef _hidden(): pass\ndef LED(): pass\ndef größe(): pass\n"
	for name, want := range map[string]string{
		"f": "", "later": "", long: "", long + "n": "denied tool.name", "": "denied tool.name", "Upper": "denied tool.name", "_secret": "denied tool.name",
		"x": "denied tool.name", "inside": "denied tool.name", "method": "denied tool.name", "text": "denied tool.name", "C": "denied tool.name",
		"größe": "denied tool.name", "f()": "denied tool.name", "f\n": "denied tool.name", "f\x00": "denied tool.name", "os.remove": "denied tool.name",
		"none": "denied tool.name", "water": "denied tool.name", "helper": "denied tool.name", "_hidden": "denied tool.name", "LED": "denied tool.name",
	} {
		s := New([]byte(boardFile))
		if got := refusal(offer(s, me, name, program)); got != want {
			t.Errorf("offer %q: got %q, want %q", name, got, want)
		}
		if got, want := len(s.List()) == 2, want == ""; got != want {
			t.Errorf("offer %q: got it listed %v, want %v", name, got, want)
		}
	}
	s := New(nil)
	must(t, offer(s, me, "water", program)) // no board.py that has one
	thrown := me
	thrown.Key = ""
	if got := refusal(offer(s, thrown, "f", program)); got != "denied tool.name" {
		t.Errorf("a session that keeps nothing: got %q", got)
	}
}

// What a person checked is what is called, and nobody calls another's.
func TestWhoseItIs(t *testing.T) {
	s := New([]byte(boardFile))
	must(t, offer(s, me, "mine", "def mine(n: int): pass"))
	other := Owner{Actor: "bot", Session: "second", Key: "k2"}
	must(t, offer(s, other, "mine", "def mine(s: str): pass"))
	stranger := Owner{Actor: "eve", Session: "main", Key: "k3"}
	must(t, offer(s, stranger, "hers", "def hers(): pass"))
	for _, tt := range []struct {
		actor, session, name, args string
		key, refusal               string
	}{
		{"bot", "main", "water", `{"seconds":1}`, "", ""}, {"eve", "x", "water", `{"seconds":1}`, "", ""},
		{"bot", "main", "mine", `{"n":1}`, "k1", ""}, {"bot", "second", "mine", `{"s":""}`, "k2", ""}, {"bot", "second", "mine", `{"n":1}`, "", "bad_request"},
		{"eve", "main", "mine", `{"n":1}`, "", "not_found"}, {"bot", "main", "hers", `{}`, "", "not_found"}, {"eve", "main", "hers", ``, "k3", ""},
		{"bot", "main", "helper", `{"n":1}`, "", "not_found"}, {"bot", "main", "_hidden", `{}`, "", "not_found"}, {"bot", "third", "mine", `{"n":1}`, "", "not_found"},
	} {
		key, call, err := s.Find(tt.actor, tt.session, tt.name, []byte(tt.args))
		if key != tt.key || refusal(err) != tt.refusal || (call == nil) != (err != nil) {
			t.Errorf("%s of %s in %s: got key %q, call %s, %v, want key %q, refusal %q", tt.name, tt.actor, tt.session, key, call, err, tt.key, tt.refusal)
		}
	}
	_, _, err := s.Find("eve", "main", "min", nil)
	if e, ok := errors.AsType[*protocol.Error](err); !ok || !cmp.Equal(e.Nearest, []string{"water", "hers"}) {
		t.Errorf("got %+v, want the names that eve can call", err)
	}
}

func TestList(t *testing.T) {
	s := New([]byte(boardFile))
	must(t, offer(s, me, "f", "@tool\ndef f(a: int,\n      b=2) -> str:\n    '''First.\n\n    Second.\n    '''\n"))
	want := []protocol.FuncInfo{
		{Name: "water", Signature: "water(seconds: float, pump: int = 1) -> float", Doc: "Waters.", MadeBy: "board"},
		{Name: "f", Signature: "f(a: int, b=2) -> str", Doc: "First.\n\nSecond.", MadeBy: "agent", Actor: "bot", Session: "main"},
	}
	if diff := cmp.Diff(want, s.List()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if list := New(nil).List(); list == nil || len(list) != 0 {
		t.Errorf("no tools: got %v, want an empty list", list)
	}
}

// A function that is defined anew is offered anew, and of two definitions the last one counts, as in Python.
func TestRedefined(t *testing.T) {
	s := New([]byte("def twice(a: int): 'one'\ndef twice(b: str): 'two'\n"))
	if _, _, err := s.Find("x", "y", "twice", []byte(`{"b":""}`)); err != nil || len(s.List()) != 1 {
		t.Errorf("of the board: got %v, %v", err, s.List())
	}
	must(t, offer(s, me, "f", "def f(a: int): pass\n"))
	must(t, offer(s, me, "f", "def f(a: int): pass\ndef f(b: str): pass\n"))
	if _, _, err := s.Find(me.Actor, me.Session, "f", []byte(`{"b":""}`)); err != nil || len(s.List()) != 2 {
		t.Errorf("of a program: got %v, %v", err, s.List())
	}
}

func TestNumber(t *testing.T) {
	s := New([]byte(boardFile))
	program := func(i int) (name, source string) {
		name = fmt.Sprint("f", i)
		return name, "def " + name + "(a: int): pass"
	}
	for i := range limits.SessionTools {
		name, source := program(i)
		must(t, offer(s, me, name, source))
	}
	name, source := program(limits.SessionTools)
	if got := refusal(offer(s, me, name, source)); got != "full tool.number" {
		t.Errorf("one more: got %q", got)
	}
	must(t, offer(s, me, "f3", "def f3(b: str): pass")) // in place of the one before
	must(t, offer(s, Owner{Actor: "bot", Session: "second", Key: "k2"}, name, source))
	if n := len(s.List()); n != 1+limits.SessionTools+1 {
		t.Errorf("got %d tools", n)
	}
	_, _, err := s.Find("bot", "main", "none", nil)
	if e, ok := errors.AsType[*protocol.Error](err); !ok || len(e.Nearest) != limits.SessionTools {
		t.Errorf("got %v, want %d names", err, limits.SessionTools)
	}
}

func TestDrop(t *testing.T) {
	s := New([]byte(boardFile))
	for _, o := range []Owner{me, {"bot", "second", "k2"}, {"eve", "main", "k3"}} {
		must(t, offer(s, o, "f", "def f(): pass"))
		must(t, offer(s, o, "g", "def g(): pass"))
	}
	s.Drop(func(o Owner) bool { return o.Key == "k1" })
	if got := names(s); got != "board:::water agent:bot:second:f agent:bot:second:g agent:eve:main:f agent:eve:main:g" {
		t.Errorf("a session: got %s", got)
	}
	if _, _, err := s.Find("bot", "main", "f", nil); refusal(err) != "not_found" {
		t.Errorf("dropped: got %v", err)
	}
	must(t, offer(s, Owner{"bot", "main", "k4"}, "f", "def f(): pass"))
	if key, _, err := s.Find("bot", "main", "f", nil); key != "k4" || err != nil {
		t.Errorf("offered again: got %q, %v", key, err)
	}
	s.Drop(func(Owner) bool { return true })
	if got := names(s); got != "board:::water" {
		t.Errorf("the machine is gone: got %s", got)
	}
}

// Every hint with every kind of value, and what is missing or too much.
func TestArguments(t *testing.T) {
	values := []struct{ kind, json string }{
		{"int", "1"}, {"int", "-0"}, {"int", strings.Repeat("9", 400)}, {"float", "1.0"}, {"float", "1e3"}, {"float", "-2.5E-7"}, {"str", `"1"`}, {"str", `"ü\n"`},
		{"bool", "true"}, {"bool", "false"}, {"list", "[]"}, {"list", `[[1,[2]],"x",null]`}, {"dict", "{}"}, {"dict", `{"a":{"b":[1]}}`}, {"None", "null"},
	}
	for hint, fits := range map[string]string{
		"int": "int", "float": "int float", "str": "str", "bool": "bool", "list": "list", "tuple": "list", "dict": "dict", "None": "None",
		"list[int]": "list", "tuple[int, ...]": "list", "dict[str, list[int]]": "dict", "typing.List[int]": "list", "Dict[str, int]": "dict", "Tuple": "list",
		"Optional[int]": "int None", "typing.Optional[list[int]]": "list None", "Union[int, str]": "int str", "Union[int, Optional[dict[str, int]]]": "int dict None",
		"int | None": "int None", "int|str|None": "int str None", "'int'": "int", `"float | None"`: "int float None", " int ": "int",
		"": "any", "Pin": "any", "Any": "any", "Callable[[int], str]": "any", "bytes": "any", "int | Pin": "any", "Literal['a', 'b']": "any",
	} {
		s := New([]byte("def f(x: " + hint + "): pass\n"))
		if hint == "" {
			s = New([]byte("def f(x): pass\n"))
		}
		for _, v := range values {
			args := `{"x":` + v.json + `}`
			_, call, err := s.Find("", "", "f", []byte(args))
			want := fits == "any" || strings.Contains(" "+fits+" ", " "+v.kind+" ")
			if got := err == nil; got != want || got && string(call) != "[[],"+args+"]" {
				t.Errorf("x: %s given %.20s: got %s, %v, want it accepted %v", hint, v.json, call, err, want)
			}
			if err != nil && (refusal(err) != "bad_request" || !strings.Contains(err.Error(), "argument x must be")) {
				t.Errorf("x: %s given %.20s: got %v, want the argument named", hint, v.json, err)
			}
		}
	}
	s := New([]byte("def f(a: int, b: str = 'x,y', *args, c: bool, d=None, **kw: int): pass\ndef g(a: int = 1): pass\ndef h(): pass\n"))
	for _, tt := range []struct{ f, args, want string }{
		{"f", `{"a":1,"c":true}`, ""}, {"f", `{"a":1,"c":true,"more":[],"d":{}}`, ""}, {"f", `{"a":1}`, "argument c is missing"}, {"f", `{"c":true}`, "argument a is missing"},
		{"f", `{"a":1,"c":true,"b":null}`, "argument b must be str, not None"}, {"f", ``, "argument a is missing"},
		{"g", ``, ""}, {"g", `{}`, ""}, {"g", `null`, ""}, {"g", ` null `, ""}, {"g", `{"a":null}`, "argument a must be int, not None"}, {"g", `{"A":1}`, `unknown argument "A"`},
		{"g", `{"a":1,"a":2}`, "args:"}, {"g", `[1]`, "args:"}, {"g", `"a"`, "args:"}, {"g", `{"a":`, "args:"}, {"g", `{"":1}`, `unknown argument ""`},
		{"h", `{}`, ""}, {"h", `{"x":1}`, `unknown argument "x"`}, {"h", `{"` + strings.Repeat("n", 999) + `":1}`, "unknown argument"},
	} {
		_, call, err := s.Find("", "", tt.f, []byte(tt.args))
		switch {
		case tt.want == "" && (err != nil || !strings.HasPrefix(string(call), "[[],{")):
			t.Errorf("%s(%s): got %s, %v, want it accepted", tt.f, tt.args, call, err)
		case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want) || len(err.Error()) > 500):
			t.Errorf("%s(%.40s): got %v, want %q", tt.f, tt.args, err, tt.want)
		}
	}
}

func TestAtOnce(t *testing.T) {
	s := New([]byte(boardFile))
	var wg sync.WaitGroup
	for g := range 4 {
		o := Owner{Actor: "bot", Session: fmt.Sprint(g), Key: fmt.Sprint("k", g)}
		wg.Go(func() {
			for i := range 100 {
				name := fmt.Sprint("f", i%limits.SessionTools)
				if err := offer(s, o, name, "def "+name+"(): pass"); err != nil {
					t.Error(err)
				}
				if key, _, err := s.Find(o.Actor, o.Session, name, nil); err != nil || key != o.Key {
					t.Errorf("got %q, %v", key, err)
				}
				s.List()
				if i%30 == 29 {
					s.Drop(func(other Owner) bool { return other == o })
				}
			}
		})
	}
	wg.Wait()
}
