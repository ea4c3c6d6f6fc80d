// Package boardpy reads the text of board.py for people and models: the functions it offers, with signatures and docstrings,
// and what agents would miss in it.
//
// It splits lines and matches brackets; it neither parses Python fully nor runs it. It is no part of the guard: nothing that
// it finds or misses decides what a program may do.
package boardpy

import "strings"

// Function is a top-level function of board.py that agents may call: one whose name does not start with an underscore.
type Function struct {
	Name      string
	Signature string // from the name to before the colon, on one line: "relay_on(n: int) -> None"
	Doc       string // docstring without its indentation
	Line      int
	Typed     bool // every parameter and the result have type hints
	Tool      bool // it stands under @tool or @board.tool
	Params    []Param
}

// Finding is something in board.py that agents would miss.
type Finding struct {
	Line     int
	Function string
	Message  string
}

// Functions returns the public top-level functions of source in the order of the file. It reads text only: what is defined
// under an if, or made by a call, is not seen.
func Functions(source []byte) []Function {
	var list []Function
	lines := logicalLines(string(source))
	tool := false
	for i, l := range lines {
		if l.indent == 0 && strings.HasPrefix(l.text, "@") {
			tool = tool || isTool(l.text[1:])
			continue
		}
		f, body, ok := readDef(l)
		f.Tool, tool = tool, false
		if !ok || strings.HasPrefix(f.Name, "_") {
			continue
		}
		if body == "" && i+1 < len(lines) && lines[i+1].indent > 0 {
			body = lines[i+1].text
		}
		f.Doc = docstring(body)
		list = append(list, f)
	}
	return list
}

// Lint reports the public top-level functions without docstring or type hints, which become the description and the
// parameters of a tool.
func Lint(source []byte) []Finding {
	var list []Finding
	for _, f := range Functions(source) {
		if f.Doc == "" {
			list = append(list, Finding{f.Line, f.Name, f.Name + " has no docstring: agents are told what it does by nothing else"})
		}
		if !f.Typed {
			list = append(list, Finding{f.Line, f.Name, f.Name + " lacks type hints: every parameter and the result need one"})
		}
	}
	return list
}

// logicalLine is one statement's text as Python joins physical lines: inside brackets, strings and after a backslash.
type logicalLine struct {
	line   int // first physical line, from 1
	indent int // bytes of white space before the text
	text   string
}

// logicalLines splits source, dropping comments and empty lines.
func logicalLines(source string) []logicalLine {
	var lines []logicalLine
	var b strings.Builder
	line, start, depth := 1, 1, 0
	flush := func() {
		text := b.String()
		b.Reset()
		trimmed := strings.TrimLeft(text, " \t")
		if strings.TrimSpace(trimmed) != "" {
			lines = append(lines, logicalLine{start, len(text) - len(trimmed), strings.TrimSpace(trimmed)})
		}
	}
	for i := 0; i < len(source); {
		c := source[i]
		switch {
		case c == '\n' && depth == 0:
			flush()
			line++
			start = line
			i++
			continue
		case c == '#':
			for i < len(source) && source[i] != '\n' {
				i++
			}
			continue
		case c == '\\' && i+1 < len(source) && source[i+1] == '\n':
			b.WriteByte(' ')
			line++
			i += 2
			continue
		case c == '"' || c == '\'':
			end := stringEnd(source, i)
			line += strings.Count(source[i:end], "\n")
			b.WriteString(source[i:end])
			i = end
			continue
		case strings.IndexByte("([{", c) >= 0:
			depth++
		case strings.IndexByte(")]}", c) >= 0 && depth > 0:
			depth--
		}
		if c == '\n' {
			line++
			c = ' '
		}
		b.WriteByte(c)
		i++
	}
	flush()
	return lines
}

// stringEnd returns the index after the string literal that starts with the quote at i. An unfinished string ends with its
// line, or with the source when it has three quotes.
func stringEnd(s string, i int) int {
	quote := s[i : i+1]
	if strings.HasPrefix(s[i:], strings.Repeat(quote, 3)) {
		quote = s[i : i+3]
	}
	for j := i + len(quote); j < len(s); j++ {
		switch {
		case s[j] == '\\':
			j++
		case strings.HasPrefix(s[j:], quote):
			return j + len(quote)
		case s[j] == '\n' && len(quote) == 1:
			return j
		}
	}
	return len(s)
}

// readDef reads "def name(parameters) -> result: body" at the left margin. body is what follows on the same line.
func readDef(l logicalLine) (f Function, body string, ok bool) {
	rest, found := strings.CutPrefix(l.text, "def ")
	if !found {
		after, async := strings.CutPrefix(l.text, "async ")
		if rest, found = strings.CutPrefix(strings.TrimLeft(after, " \t"), "def "); !async || !found {
			return f, "", false
		}
	}
	rest = strings.TrimLeft(rest, " \t")
	n := 0
	for n < len(rest) && isNameByte(rest[n], n > 0) {
		n++
	}
	open := strings.TrimLeft(rest[n:], " \t")
	if l.indent != 0 || n == 0 || !strings.HasPrefix(open, "(") {
		return f, "", false
	}
	inside, after, closed := cutTop(open[1:], ')')
	result, body, colon := cutTop(after, ':')
	if !closed || !colon {
		return f, "", false
	}
	result = strings.TrimSpace(result)
	f = Function{Name: rest[:n], Line: l.line, Typed: strings.HasPrefix(result, "->")}
	for _, param := range splitTop(inside, ',') {
		f.Typed = f.Typed && typedParam(param)
		f.addParam(param)
	}
	f.Signature = f.Name + "(" + oneLine(inside) + ")"
	if result != "" {
		f.Signature += " " + oneLine(result)
	}
	return f, strings.TrimSpace(body), true
}

// typedParam reports whether a parameter has a hint. The bare markers * and / need none.
func typedParam(param string) bool {
	param = strings.TrimSpace(param)
	if param == "" || param == "*" || param == "/" {
		return true
	}
	name, hint, found := cutTop(param, ':')
	return found && !strings.Contains(name, "=") && strings.TrimSpace(hint) != ""
}

// cutTop cuts s at the first sep outside brackets and strings.
func cutTop(s string, sep byte) (before, after string, found bool) {
	depth := 0
	for i := 0; i < len(s); {
		c := s[i]
		switch {
		case c == sep && depth == 0:
			return s[:i], s[i+1:], true
		case c == '"' || c == '\'':
			i = stringEnd(s, i)
			continue
		case strings.IndexByte("([{", c) >= 0:
			depth++
		case strings.IndexByte(")]}", c) >= 0:
			depth--
		}
		i++
	}
	return s, "", false
}

func splitTop(s string, sep byte) []string {
	var parts []string
	for {
		part, rest, found := cutTop(s, sep)
		parts = append(parts, part)
		if !found {
			return parts
		}
		s = rest
	}
}

// oneLine turns runs of white space into one space. White space in strings of defaults goes the same way: signatures are
// for reading.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// docstring returns the text of the string literal that body starts with, without common indentation, "" when it starts with none.
func docstring(body string) string {
	quoteAt := strings.IndexAny(body, `"'`)
	if quoteAt < 0 || quoteAt > 1 || (quoteAt == 1 && !strings.ContainsAny(body[:1], "rRuU")) {
		return ""
	}
	literal := body[quoteAt:stringEnd(body, quoteAt)]
	quotes := 1
	if len(literal) >= 6 && literal[0] == literal[1] && literal[1] == literal[2] {
		quotes = 3
	}
	if len(literal) < 2*quotes {
		return ""
	}
	return dedent(literal[quotes : len(literal)-quotes])
}

// dedent removes the indentation that all lines but the first share, and empty space around.
func dedent(doc string) string {
	lines := strings.Split(doc, "\n")
	common := -1
	for _, l := range lines[1:] {
		if rest := strings.TrimLeft(l, " \t"); rest != "" && (common < 0 || len(l)-len(rest) < common) {
			common = len(l) - len(rest)
		}
	}
	for i, l := range lines {
		if i > 0 && common > 0 && len(l) >= common {
			l = l[common:]
		}
		lines[i] = strings.TrimRight(l, " \t\r")
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}

func isNameByte(c byte, digits bool) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || digits && c >= '0' && c <= '9'
}
