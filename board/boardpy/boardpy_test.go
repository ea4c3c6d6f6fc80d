package boardpy

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

const sample = `"""Module text with def fake(): inside."""
from machine import Pin
X = """
def in_string(a): pass
"""
def good(n: int, *, name: str = "a, b: c)", **kw: dict) -> list[int]:
    """First line.

        Indented more.
    Last.
    """
    def inner(): pass

async def later(
    n: int,  # a comment, with : and )
    m: tuple[int, int] = (1, 2),
) -> None:
    r'raw text'

def untyped(n, m=1): "same line"
def no_result(n: int): pass
def star(*args) -> None:
    # a comment is no docstring
    "still the first statement"
def silent() -> int: return 1
def \
  joined(a: int, /, b: int) -> None: 'x'
def _private(a): pass
class C:
    def method(self): pass
if True:
    def conditional(): pass
@tool
def decorated(f = lambda x: x) -> None:
    """D."""
defx(1)
def broken(
`

func TestFunctions(t *testing.T) {
	want := []Function{
		{"good", `good(n: int, *, name: str = "a, b: c)", **kw: dict) -> list[int]`, "First line.\n\n    Indented more.\nLast.", 6, true, false, nil},
		{"later", "later(n: int, m: tuple[int, int] = (1, 2),) -> None", "raw text", 14, true, false, nil},
		{"untyped", "untyped(n, m=1)", "same line", 20, false, false, nil},
		{"no_result", "no_result(n: int)", "", 21, false, false, nil},
		{"star", "star(*args) -> None", "still the first statement", 22, false, false, nil},
		{"silent", "silent() -> int", "", 25, true, false, nil},
		{"joined", "joined(a: int, /, b: int) -> None", "x", 26, true, false, nil},
		{"decorated", "decorated(f = lambda x: x) -> None", "D.", 34, false, true, nil},
	}
	if diff := cmp.Diff(want, Functions([]byte(sample)), cmpopts.IgnoreFields(Function{}, "Params")); diff != "" {
		t.Errorf("functions (-want +got):\n%s", diff)
	}
}

func TestLint(t *testing.T) {
	type short struct {
		Line int
		Name string
	}
	var got []short
	for _, f := range Lint([]byte(sample)) {
		got = append(got, short{f.Line, f.Function})
	}
	want := []short{{20, "untyped"}, {21, "no_result"}, {21, "no_result"}, {22, "star"}, {25, "silent"}, {34, "decorated"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
}

func FuzzFunctions(f *testing.F) {
	f.Add([]byte(sample))
	f.Add([]byte("def f(\"\"\"): \\\n'''"))
	f.Fuzz(func(t *testing.T, src []byte) {
		for _, fn := range Functions(src) {
			if fn.Name == "" || fn.Line < 1 || len(fn.Signature) < len(fn.Name)+2 {
				t.Fatalf("got %+v", fn)
			}
		}
	})
}
