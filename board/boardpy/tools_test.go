package boardpy

import (
	"strings"
	"testing"
)

const tools = `
def plain(a): "not a tool"
@tool
def move(x: float, n: int = 1, name: str | None = None, *, deep: Optional[list[int]] = None, flag: "bool" = False) -> None:
    "Moves."
@board.tool()
@cache
def two(t: dict, **kw): "T."
@other
def three(): pass
@tool
def _private(): pass
x = 1
`

func TestTools(t *testing.T) {
	var got []string
	for _, f := range Tools([]byte(tools)) {
		got = append(got, f.Name+": "+f.Doc)
	}
	if s := strings.Join(got, "; "); s != "move: Moves.; two: T." {
		t.Errorf("got %s, want those that are marked", s)
	}
	if n := len(Tools([]byte("def a(): pass\ndef b(): pass\n"))); n != 2 {
		t.Errorf("nothing marked: got %d, want every public function", n)
	}
}

func TestArguments(t *testing.T) {
	list := Tools([]byte(tools))
	for _, test := range []struct {
		f    int
		args string
		want string // "" for accepted, else part of the error
	}{
		{0, `{"x":1}`, ""}, {0, `{"x":1.5,"n":2,"name":null,"deep":[1],"flag":true}`, ""}, {0, `{"x":-0e1}`, ""},
		{0, ``, "argument x is missing"}, {0, `{}`, "argument x is missing"}, {0, `{"x":"1"}`, "argument x must be float, not str"},
		{0, `{"x":true}`, "argument x must be float, not bool"}, {0, `{"x":1,"n":1.0}`, "argument n must be int, not float"},
		{0, `{"x":1,"n":null}`, "argument n must be int, not None"}, {0, `{"x":1,"name":5}`, "argument name must be str | None, not int"},
		{0, `{"x":1,"deep":{}}`, "argument deep must be Optional[list[int]], not dict"}, {0, `{"x":1,"flag":1}`, "argument flag"},
		{0, `{"x":1,"y":1}`, `unknown argument "y"`}, {0, `[1]`, "args"}, {0, `{"x":1,"x":2}`, "args"},
		{1, `{"t":{},"anything":[]}`, ""}, {1, `{"t":[]}`, "argument t must be dict, not list"},
	} {
		got, err := list[test.f].Arguments([]byte(test.args))
		switch {
		case test.want == "" && (err != nil || string(got) != "[[],"+test.args+"]"):
			t.Errorf("%s: got %s, %v, want it accepted", test.args, got, err)
		case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)):
			t.Errorf("%s: got %v, want %q", test.args, err, test.want)
		}
	}
}

// Whatever stands in a file that people or agents write, reading it neither fails nor ends late.
func FuzzTools(f *testing.F) {
	f.Add(tools, `{"x":1}`)
	f.Add(sample, `{}`)
	f.Add("@tool\ndef f(a: Union[int, Optional[str]] = 'x', b: int|", `{"a":null,"b":[1e9]}`)
	f.Fuzz(func(t *testing.T, source, args string) {
		for _, fn := range Tools([]byte(source)) {
			if fn.Name == "" || !strings.HasPrefix(fn.Signature, fn.Name+"(") {
				t.Fatalf("got %+v", fn)
			}
			if call, err := fn.Arguments([]byte(args)); err == nil && !strings.HasPrefix(string(call), "[[],{") && strings.TrimSpace(args) == args && args != "" {
				t.Fatalf("got call %s of %q", call, args)
			}
		}
	})
}
