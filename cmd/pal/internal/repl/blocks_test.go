package repl

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTyped(t *testing.T) {
	for _, c := range []struct {
		name, lines string
		want        []string
	}{
		{"simple", "a = 1\na", []string{"a = 1", "a"}},
		{"empty_lines", "\n  \na\n", []string{"a"}},
		{"block", "for i in x:\n  print(i)\n\na", []string{"for i in x:\n  print(i)\n", "a"}},
		{"block_on_one_line", "while True: pass", []string{"while True: pass"}},
		{"colon_and_comment", "if a: # why\n  b\n\n", []string{"if a: # why\n  b\n"}},
		{"nested", "def f():\n  if a:\n    b\n  c\n\n", []string{"def f():\n  if a:\n    b\n  c\n"}},
		{"brackets", "a = [\n1,\n\n2]\na", []string{"a = [\n1,\n\n2]", "a"}},
		{"bracket_in_string", "a = '['\nb", []string{"a = '['", "b"}},
		{"bracket_in_comment", "a # (\nb", []string{"a # (", "b"}},
		{"triple", "a = '''x\n\n'y' \"\"\"\n'''\nb", []string{"a = '''x\n\n'y' \"\"\"\n'''", "b"}},
		{"triple_double", "a = \"\"\"x\ny\"\"\"", []string{"a = \"\"\"x\ny\"\"\""}},
		{"escaped_quote", `a = 'it\'s'`, []string{`a = 'it\'s'`}},
		{"unclosed_string_is_not_continued", "a = 'x\nb", []string{"a = 'x", "b"}},
		{"backslash", "a = 1 + \\\n2\nb", []string{"a = 1 + \\\n2", "b"}},
		{"backslash_in_string", "a = 'x\\\ny'\nb", []string{"a = 'x\\\ny'", "b"}},
		{"decorator", "@d\ndef f():\n  pass\n\n", []string{"@d\ndef f():\n  pass\n"}},
		{"dict_over_lines_in_block", "def f():\n  return {\n\n  1: 2}\n\n", []string{"def f():\n  return {\n\n  1: 2}\n"}},
		{"too_many_closing", "a)\nb", []string{"a)", "b"}},
		{"slice_colon_in_bracket", "a[1:]\nb", []string{"a[1:]", "b"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var b Blocks
			var got []string
			for line := range strings.SplitSeq(c.lines, "\n") {
				if code := b.Typed(line); code != "" {
					got = append(got, code)
				}
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Errorf("statements (-want +got):\n%s", d)
			}
			if b.Pending() {
				t.Errorf("left waiting: %q", b.Flush())
			}
		})
	}
}

func TestPasted(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"simple", "a = 1\na", []string{"a = 1", "a"}},
		{"blank_line_in_block", "def f():\n    a\n\n    b\nf()\n", []string{"def f():\n    a\n\n    b\n", "f()"}},
		{"two_blocks", "def f():\n  a\ndef g():\n  b\n", []string{"def f():\n  a\n", "def g():\n  b\n"}},
		{"else", "if a:\n  b\n\nelse:\n  c\nd", []string{"if a:\n  b\n\nelse:\n  c\n", "d"}},
		{"clauses_on_one_line", "if a: b\nelif c: d\nelse: e\nf", []string{"if a: b\nelif c: d\nelse: e\n", "f"}},
		{"try", "try:\n  a\nexcept E:\n  b\nfinally:\n  c\n", []string{"try:\n  a\nexcept E:\n  b\nfinally:\n  c\n"}},
		{"comment_at_margin", "def f():\n  a\n# why\n  b\nf()", []string{"def f():\n  a\n# why\n  b\n", "f()"}},
		{"decorators", "@a\n@b\ndef f():\n  c\nf()", []string{"@a\n@b\ndef f():\n  c\n", "f()"}},
		{"text_at_margin_in_string", "def f():\n  a = '''\nx\n'''\n  b\nf()", []string{"def f():\n  a = '''\nx\n'''\n  b\n", "f()"}},
		{"name_like_a_keyword", "iffy = 1\nelsewhere = 2", []string{"iffy = 1", "elsewhere = 2"}},
		{"unfinished", "a = [\n1", []string{"a = [\n1"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var b Blocks
			var got []string
			for line := range strings.SplitSeq(c.text, "\n") {
				got = append(got, b.Pasted(line)...)
			}
			if rest := b.Flush(); rest != "" {
				got = append(got, rest)
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Errorf("statements (-want +got):\n%s", d)
			}
		})
	}
}

// A paste without a last newline leaves its last line to the Enter key.
func TestPasteEndedByHand(t *testing.T) {
	var b Blocks
	if got := b.Pasted("def f():"); got != nil {
		t.Fatalf("got %q, want nothing yet", got)
	}
	if got := b.Typed("  return 1"); got != "" {
		t.Fatalf("got %q, want nothing yet", got)
	}
	if got, want := b.Typed(""), "def f():\n  return 1\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func FuzzBlocks(f *testing.F) {
	f.Add("def f():\n  a\n\nf()", true)
	f.Add("'''\\\n", false)
	f.Fuzz(func(t *testing.T, text string, pasted bool) {
		var b Blocks
		var got strings.Builder
		for line := range strings.SplitSeq(text, "\n") {
			if pasted {
				got.WriteString(strings.Join(b.Pasted(line), ""))
			} else {
				got.WriteString(b.Typed(line))
			}
		}
		got.WriteString(b.Flush())
		ink := func(s string) string { return strings.Join(strings.Fields(s), "") }
		if ink(got.String()) != ink(text) {
			t.Errorf("text was lost: got %q, want %q", got.String(), text)
		}
	})
}
