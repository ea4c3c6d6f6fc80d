package repl

import "strings"

// Blocks collects lines until they make a statement that can run.
//
// A line that leaves a bracket, a triple-quoted string or a backslash open is continued whatever comes. A line that ends
// in a colon, or a decorator, opens a block: typed by hand it ends with an empty line, as on a board; in a paste, where
// empty lines are part of the text, it ends at the next line that starts at the margin.
type Blocks struct {
	lines []string
	block bool // lines open a block that an empty line (or the margin) ends
}

// Pending reports whether lines wait for more.
func (b *Blocks) Pending() bool { return len(b.lines) > 0 }

// Reset forgets what waits.
func (b *Blocks) Reset() { *b = Blocks{} }

// Typed takes a line typed by hand and returns the statement that it completed, or "".
func (b *Blocks) Typed(line string) string {
	if !b.Pending() && strings.TrimSpace(line) == "" {
		return ""
	}
	b.lines = append(b.lines, line)
	open, last := scan(b.text())
	if open {
		return ""
	}
	if b.block {
		if strings.TrimSpace(line) == "" {
			return b.take()
		}
		return ""
	}
	if last == ':' || decorated(b.lines[0]) {
		b.block = true
		return ""
	}
	return b.take()
}

// Pasted takes a line of a paste, or of a file on standard input, and returns the statement that ended before it, or the
// line itself when it is one, or "". What is left at the end of the paste is for Typed or Flush.
func (b *Blocks) Pasted(line string) []string {
	var done []string
	if b.block && b.closed() && atMargin(line) && !continues(line) && !decorated(b.lines[len(b.lines)-1]) {
		done = append(done, b.take())
	}
	if !b.Pending() && strings.TrimSpace(line) == "" {
		return done
	}
	first := !b.Pending()
	b.lines = append(b.lines, line)
	if first && (compound(line) || decorated(line)) {
		b.block = true
	}
	open, last := scan(b.text())
	if !open && !b.block && last == ':' {
		b.block = true
	}
	if open || b.block {
		return done
	}
	return append(done, b.take())
}

// Flush returns what waits, complete or not.
func (b *Blocks) Flush() string {
	if !b.Pending() {
		return ""
	}
	return b.take()
}

func (b *Blocks) text() string { return strings.Join(b.lines, "\n") }

func (b *Blocks) closed() bool {
	open, _ := scan(b.text())
	return !open
}

func (b *Blocks) take() string {
	text := strings.TrimRight(b.text(), " \t\n")
	if b.block {
		text += "\n" // the engine's grammar of an interactive compound statement ends with an empty line
	}
	b.Reset()
	return text
}

func atMargin(line string) bool {
	return strings.TrimSpace(line) != "" && line[0] != ' ' && line[0] != '\t' && line[0] != '#'
}

func decorated(line string) bool { return strings.HasPrefix(line, "@") }

// compound reports whether the line begins a statement that may have more clauses.
func compound(line string) bool {
	switch word(line) {
	case "if", "while", "for", "try", "with", "def", "class", "async":
		return true
	}
	return false
}

// continues reports whether a line at the margin is a further clause of the statement before it.
func continues(line string) bool {
	switch word(line) {
	case "elif", "else", "except", "finally":
		return true
	}
	return false
}

func word(line string) string {
	n := strings.IndexFunc(line, func(r rune) bool { return r < 'a' || r > 'z' })
	if n < 0 {
		return line
	}
	return line[:n]
}

// scan reads Python text as far as needed to know where it stands: whether it ends inside a bracket, a triple-quoted
// string or after a backslash, and the last byte that is neither white space nor comment.
func scan(text string) (open bool, last byte) {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case ' ', '\t', '\r', '\n':
		case '#':
			for i+1 < len(text) && text[i+1] != '\n' {
				i++
			}
		case '\'', '"':
			end, closed := skipString(text, i)
			if !closed {
				return true, c
			}
			i, last = end-1, c
		case '\\':
			if i+1 >= len(text) || text[i+1] == '\n' && i+2 >= len(text) {
				return true, c
			}
			last = c
		case '(', '[', '{':
			depth++
			last = c
		case ')', ']', '}':
			depth = max(depth-1, 0) // too many of them are for the engine to report
			last = c
		default:
			last = c
		}
	}
	return depth > 0, last
}

// skipString returns the index after the string literal that begins at i. A string of single quotes ends at the end of
// its line at the latest: that it has no closing quote is for the engine to report.
func skipString(text string, i int) (end int, closed bool) {
	quote := text[i : i+1]
	if triple := strings.Repeat(quote, 3); strings.HasPrefix(text[i:], triple) {
		quote = triple
	}
	for i += len(quote); i < len(text); i++ {
		switch {
		case strings.HasPrefix(text[i:], quote):
			return i + len(quote), true
		case text[i] == '\\':
			i++
			if i >= len(text) && len(quote) == 1 {
				return i, false
			}
		case text[i] == '\n' && len(quote) == 1:
			return i, true
		}
	}
	return len(text), len(quote) == 1
}
