package protocol

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pal-terminal/pal/limits"
)

// scan is what one walk over the tokens of a message finds out before anything is decoded: whether the bytes are one strict
// JSON object, and the envelope. It never recurses, so that hostile nesting costs nothing, and it goes on after a problem
// that leaves the text readable, so that the refusal can carry the id wherever it stands.
type scan struct {
	id      *string
	version string
	typ     string
	present fields
	problem *Error // the first thing wrong, nil when the message is sound
	badID   bool   // the id was unusable: echo none
}

// fields are the names of the fields of a message that are there and not null.
type fields []string

func (f fields) has(name string) bool { return slices.Contains(f, name) }

// note keeps the first problem.
func (s *scan) note(code Code, format string, args ...any) {
	if s.problem == nil {
		s.problem = &Error{Code: code, Message: fmt.Sprintf(format, args...)}
	}
}

// scanMessage walks msg, which must be one JSON object in UTF-8 without duplicate or case-variant keys, nested no deeper
// than limits.JSONDepth.
func scanMessage(msg []byte) *scan {
	s := &scan{}
	// Duplicates are allowed here only because names.add finds them, and case variants with them.
	dec := jsontext.NewDecoder(bytes.NewBuffer(msg), jsontext.AllowDuplicateNames(true))
	if dec.PeekKind() != '{' {
		s.note(CodeBadJSON, "a message is one JSON object")
	}
	if err := s.walk(dec); err != nil {
		s.problem = &Error{Code: CodeBadJSON, Message: err.Error()} // outranks what was noted: the text itself is broken
	}
	if s.badID {
		s.id = nil
	}
	return s
}

// walk reads every token of dec. The error it returns is fit for the sender.
func (s *scan) walk(dec *jsontext.Decoder) error {
	open := make([]names, 0, 4) // one set of names for each level of nesting, made with the first name
	var key string              // name of the member of the message that is being read
	for {
		depth := dec.StackDepth()
		kind, n := dec.StackIndex(depth)
		tok, err := dec.ReadToken()
		switch {
		case errors.Is(err, io.EOF) && depth == 0 && n == 1:
			return nil
		case err != nil:
			return syntaxError(err)
		case depth == 0 && n == 1:
			return errors.New("more than one JSON value in a message")
		}
		switch tok.Kind() {
		case '{', '[':
			if depth == limits.JSONDepth {
				return fmt.Errorf("nested deeper than %d", limits.JSONDepth)
			}
			open = append(open, nil)
			if depth == 1 {
				s.member(key, tok)
			}
		case '}', ']':
			open = open[:depth-1]
		default:
			switch {
			case kind == '{' && n%2 == 0:
				name := tok.String()
				if open[depth-1] == nil {
					open[depth-1] = names{}
				}
				if !open[depth-1].add(name) {
					s.clash(name, depth)
				}
				if depth == 1 {
					key = name
				}
			case depth == 1:
				s.member(key, tok)
			}
		}
	}
}

// clash notes that an object has two names that are the same, or the same but for case.
func (s *scan) clash(name string, depth int) {
	s.note(CodeBadJSON, "field %s stands twice in one object, perhaps in another case", quote(name))
	if depth == 1 && fold(name) == "id" {
		s.badID = true
	}
}

// member looks at one member of the message. tok starts its value.
func (s *scan) member(key string, tok jsontext.Token) {
	if tok.Kind() == 'n' {
		return // null means absent
	}
	s.present = append(s.present, key)
	switch key {
	case "id":
		id := s.text(key, tok)
		if len(id) > limits.IDBytes {
			s.badID = true
			s.note(CodeTooLarge, "id is longer than %d bytes", limits.IDBytes)
		}
		s.id, s.badID = &id, s.badID || tok.Kind() != '"'
	case "version":
		s.version = s.text(key, tok)
	case "type":
		s.typ = s.text(key, tok)
	case "meta":
		if tok.Kind() != '{' {
			s.note(CodeBadRequest, "meta must be an object")
		}
	}
}

// text returns the string that tok is, or notes that it is none.
func (s *scan) text(key string, tok jsontext.Token) string {
	if tok.Kind() != '"' {
		s.note(CodeBadRequest, "%s must be a string", key)
		return ""
	}
	return tok.String()
}

// names holds the folded names of one object.
type names map[string]struct{}

// add adds a name. It reports false when the object has it already, in whatever case.
func (n names) add(name string) bool {
	before := len(n)
	n[fold(name)] = struct{}{}
	return len(n) > before
}

// fold maps names that differ in case only to one form. It is Unicode's simple folding, as lenient JSON readers use it:
// "\u017fession" (with a long s) is "session" to them.
func fold(name string) string {
	for i := range len(name) {
		if c := name[i]; c >= 0x80 || 'A' <= c && c <= 'Z' {
			return strings.Map(foldRune, name)
		}
	}
	return name
}

// foldRune returns one member of r's folding orbit, always the same; a small letter where the orbit has an ASCII one.
func foldRune(r rune) rune {
	least := r
	for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
		least = min(least, next)
	}
	if 'A' <= least && least <= 'Z' {
		return least + 'a' - 'A'
	}
	return least
}

// syntaxError says what is wrong with a text that is not JSON, without the decoder's own prefix.
func syntaxError(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("the message ends in the middle of a JSON value")
	}
	if syn, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		return fmt.Errorf("not JSON in UTF-8 at byte %d: %w", syn.ByteOffset, syn.Err)
	}
	return fmt.Errorf("not JSON: %w", err)
}

// quote shows a sender's word in an error: short, on one line, without control characters.
func quote(word string) string {
	kept, dropped := Cut([]byte(word), limits.NameBytes)
	if dropped > 0 {
		return strconv.Quote(string(kept)) + "…"
	}
	return strconv.Quote(word)
}
