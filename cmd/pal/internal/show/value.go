// Package show is how the commands look to a person: values and trees of JSON, how far something is, and the output of a program that
// still runs. It asks nothing of anybody, and knows streams only by what is written to them.
package show

import (
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/term"
)

// Text shows a JSON value to a person: a string without its quotes, anything else as it stands.
func Text(value jsontext.Value) string {
	var s string
	if value.Kind() != '"' || json.Unmarshal(value, &s) != nil {
		return string(value)
	}
	return s
}

// Tree shows a JSON value as indented lines, keys in the order of the terminal.
func Tree(value jsontext.Value) string {
	var out strings.Builder
	branch(&out, jsontext.NewDecoder(strings.NewReader(string(value))), "", "")
	return out.String()
}

// branch prints one value under its label. What cannot be read is printed as it stands: this is for looking, not for
// parsing.
func branch(out *strings.Builder, dec *jsontext.Decoder, indent, label string) {
	switch dec.PeekKind() {
	case '{', '[':
		open, err := dec.ReadToken()
		if err != nil {
			return
		}
		inner := indent
		if label != "" {
			fmt.Fprintf(out, "%s%s\n", indent, label)
			inner += "  "
		}
		for dec.PeekKind() != '}' && dec.PeekKind() != ']' && dec.PeekKind() != 0 {
			key := "-"
			if open.Kind() == '{' {
				name, err := dec.ReadToken()
				if err != nil {
					return
				}
				key = name.String() + ":"
			}
			branch(out, dec, inner, key)
		}
		_, _ = dec.ReadToken() // the closing bracket that PeekKind has seen
	default:
		value, err := dec.ReadValue()
		if err != nil {
			return
		}
		fmt.Fprintf(out, "%s%s\n", indent, strings.TrimSpace(label+" "+Text(value)))
	}
}

// IsTerminal reports whether a stream is a person's.
func IsTerminal(stream any) bool {
	file, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// Name shows a name that a program may have chosen: one that would move the cursor or worse is quoted.
func Name(name string) string {
	if strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return strconv.Quote(name)
	}
	return name
}
