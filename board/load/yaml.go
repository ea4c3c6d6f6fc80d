package load

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"github.com/pal-terminal/pal/board"
	"github.com/pal-terminal/pal/limits"
)

// reader turns YAML nodes into values and collects problems. It reports what it does not like and reads on, so that every
// problem is found in one pass.
type reader struct {
	file     string
	problems board.Problems
}

func (r *reader) addf(at board.Pos, format string, args ...any) {
	r.problems = append(r.problems, board.Problem{File: r.file, Pos: at, Message: fmt.Sprintf(format, args...)})
}

// err returns the problems in file order, or nil.
func (r *reader) err() error {
	if len(r.problems) == 0 {
		return nil
	}
	slices.SortStableFunc(r.problems, func(a, b board.Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Col, b.Col))
	})
	return r.problems
}

// posOf returns where a node starts. The parser's own token of a block mapping or sequence is its first ':' or '-', so a
// mapping is placed at its first key.
func posOf(n ast.Node) board.Pos {
	if m, ok := n.(*ast.MappingNode); ok && !m.IsFlowStyle && len(m.Values) > 0 {
		return posOf(m.Values[0].Key)
	}
	if n == nil || n.GetToken() == nil || n.GetToken().Position == nil {
		return board.Pos{Line: 1, Col: 1}
	}
	p := n.GetToken().Position
	return board.Pos{Line: p.Line, Col: p.Column}
}

// shape reports lines that are too long and brackets that nest too deep. The YAML parser recurses, and its work grows with the
// square of the depth, so what no board needs never reaches it. shape counts brackets in text and comments as well:
// it has to be right before anything has been parsed.
func (r *reader) shape(src []byte) bool {
	depth, line := 0, 0
	for text := range bytes.Lines(src) {
		line++
		if len(text) > limits.BoardLineBytes {
			r.addf(board.Pos{Line: line, Col: 1}, "a line of a board file has at most %d bytes", limits.BoardLineBytes)
			return false
		}
		for i, c := range text {
			switch c {
			case '[', '{':
				depth++
			case ']', '}':
				depth = max(0, depth-1)
			}
			if depth > limits.BoardNesting {
				r.addf(board.Pos{Line: line, Col: i + 1}, "brackets nest at most %d deep", limits.BoardNesting)
				return false
			}
		}
	}
	return true
}

// document parses src and returns its only document's body, nil when there is none.
func (r *reader) document(src []byte) (body ast.Node) {
	// The parser is foreign code on foreign input: a panic in it is a bad board file, not a dead guard.
	defer func() {
		if v := recover(); v != nil {
			r.addf(board.Pos{Line: 1, Col: 1}, "this is not YAML that can be read (%v)", v)
			body = nil
		}
	}()
	if !r.shape(src) {
		return nil
	}
	// Duplicate keys are let through here and reported by mapping, all of them and with the others' form.
	f, err := parser.ParseBytes(src, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		at := board.Pos{Line: 1, Col: 1}
		msg := err.Error()
		if ye, ok := errors.AsType[yaml.Error](err); ok {
			msg = ye.GetMessage()
			if tk := ye.GetToken(); tk != nil && tk.Position != nil {
				at = board.Pos{Line: tk.Position.Line, Col: tk.Position.Column}
			}
		}
		r.addf(at, "%s", msg)
		return nil
	}
	for _, doc := range f.Docs {
		switch {
		case doc.Body == nil:
		case body == nil:
			body = doc.Body
		default:
			r.addf(posOf(doc.Body), "a board file holds one document")
		}
	}
	if body == nil && len(r.problems) == 0 {
		r.addf(board.Pos{Line: 1, Col: 1}, "the board file is empty")
	}
	return body
}

// field reads the value of a key into where it belongs; what is the key, for messages. A value that cannot be read is a problem
// and leaves things as they were: no description is returned then.
type field func(n ast.Node, what string)

// fields says how the value of each key of a mapping is read.
type fields map[string]field

// mapping reads a mapping strictly: what says what it is, required keys must be there.
func (r *reader) mapping(n ast.Node, what string, known fields, required ...string) {
	m, ok := n.(*ast.MappingNode)
	if !ok {
		r.addf(posOf(n), "%s must be a mapping, not %s", what, kindOf(n))
		return
	}
	seen := make(map[string]bool, len(m.Values))
	for _, v := range m.Values {
		key, ok := v.Key.(*ast.StringNode)
		if !ok {
			r.addf(posOf(v.Key), "%s: a key must be a plain word, not %s", what, kindOf(v.Key))
			continue
		}
		read, ok := known[key.Value]
		switch {
		case !ok:
			r.addf(posOf(key), "%s: unknown key %q (known: %s)", what, key.Value, strings.Join(sortedKeys(known), " "))
		case seen[key.Value]:
			r.addf(posOf(key), "%s: key %q stands twice", what, key.Value)
		default:
			read(v.Value, key.Value)
		}
		seen[key.Value] = true
	}
	for _, key := range required {
		if !seen[key] {
			r.addf(posOf(n), "%s: %q is missing", what, key)
		}
	}
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// kindOf says what a node is in YAML's own words, for messages.
func kindOf(n ast.Node) string {
	if n == nil {
		return "nothing"
	}
	return n.Type().YAMLName()
}

// list reads a list, each element by each.
func (r *reader) list(each field) field {
	return func(n ast.Node, what string) {
		s, ok := n.(*ast.SequenceNode)
		if !ok {
			r.addf(posOf(n), "%s must be a list, not %s", what, kindOf(n))
			return
		}
		for _, v := range s.Values {
			each(v, what)
		}
	}
}

// keysOf returns the words that are keys of a mapping, for one whose keys are not known beforehand.
func keysOf(n ast.Node) (words []string) {
	if m, ok := n.(*ast.MappingNode); ok {
		for _, v := range m.Values {
			if key, ok := v.Key.(*ast.StringNode); ok {
				words = append(words, key.Value)
			}
		}
	}
	return words
}

// text reads a string of 1 to most bytes.
func (r *reader) text(to *string, most int) field {
	return func(n ast.Node, what string) {
		s, ok := n.(*ast.StringNode)
		switch {
		case !ok:
			r.addf(posOf(n), "%s must be text, not %s", what, kindOf(n))
		case s.Value == "" || len(s.Value) > most:
			r.addf(posOf(n), "%s must have 1 to %d bytes", what, most)
		default:
			*to = s.Value
		}
	}
}

// Forms of names.
var (
	identifier = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)      // of Python, where pins become attributes
	plainName  = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]*$`) // safe in a file name, an address and a log
)

// name reads a text of one of the forms of names, which must says in words.
func (r *reader) name(to *string, most int, form *regexp.Regexp, must string) field {
	return func(n ast.Node, what string) {
		var s string
		if r.text(&s, most)(n, what); s == "" {
			return
		}
		if !form.MatchString(s) {
			r.addf(posOf(n), "%s %q must be %s", what, s, must)
			return
		}
		*to = s
	}
}

// word reads one of words as its index.
func word[T ~uint8 | ~int](r *reader, to *T, words []string) field {
	return func(n ast.Node, what string) {
		got := kindOf(n)
		if s, ok := n.(*ast.StringNode); ok {
			if i := slices.Index(words, s.Value); i >= 0 {
				*to = T(i)
				return
			}
			got = strconv.Quote(s.Value)
		}
		r.addf(posOf(n), "%s is one of %s, not %s", what, strings.Join(words, ", "), got)
	}
}

// integer reads a number from least to most. Hexadecimal counts, as data sheets give addresses so; octal does not, since 010
// means two different numbers to two readers.
func (r *reader) integer(to *int, least, most int) field {
	return func(n ast.Node, what string) {
		if i, ok := n.(*ast.IntegerNode); ok {
			text := i.Token.Value
			v, err := strconv.ParseInt(text, 0, 32)
			plain := text == "0" || !strings.HasPrefix(strings.TrimPrefix(text, "-"), "0") || strings.HasPrefix(text, "0x")
			if err == nil && plain && !strings.Contains(text, "_") && int(v) >= least && int(v) <= most {
				*to = int(v)
				return
			}
		}
		r.addf(posOf(n), "%s must be a whole number from %d to %d", what, least, most)
	}
}

// number reads a finite number.
func (r *reader) number(to **float64) field {
	return func(n ast.Node, what string) {
		switch n.(type) {
		case *ast.IntegerNode, *ast.FloatNode:
			v, err := strconv.ParseFloat(n.GetToken().Value, 64)
			if err == nil && !math.IsInf(v, 0) && !math.IsNaN(v) {
				*to = &v
				return
			}
		}
		r.addf(posOf(n), "%s must be a number", what)
	}
}

// boolean reads true or false.
func (r *reader) boolean(to *bool) field {
	return func(n ast.Node, what string) {
		b, ok := n.(*ast.BoolNode)
		if !ok {
			r.addf(posOf(n), "%s must be true or false, not %s", what, kindOf(n))
			return
		}
		*to = b.Value
	}
}

// duration reads a time such as 30s, from more than nothing to most.
func (r *reader) duration(to *time.Duration, most time.Duration) field {
	return func(n ast.Node, what string) {
		if s, ok := n.(*ast.StringNode); ok {
			if d, err := time.ParseDuration(s.Value); err == nil && d > 0 && d <= most {
				*to = d
				return
			}
		}
		r.addf(posOf(n), "%s must be a time above 0 and up to %s, such as 500ms or 30s", what, most)
	}
}
