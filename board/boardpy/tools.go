package boardpy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Param is one parameter of a function.
type Param struct {
	Name    string
	Hint    string // "" when there is none
	Default bool   // it has one
	Rest    bool   // **kw: whatever else was given by name
}

// Tools returns the functions of source that are offered as tools: those under @tool or @board.tool, or every public function
// when there is none. Of definitions of one name the last one counts, as in Python.
func Tools(source []byte) []Function {
	all := Functions(source)
	last := map[string]int{}
	for _, f := range all {
		last[f.Name] = f.Line
	}
	all = slices.DeleteFunc(all, func(f Function) bool { return f.Line != last[f.Name] })
	marked := slices.Clone(all)
	marked = slices.DeleteFunc(marked, func(f Function) bool { return !f.Tool })
	if len(marked) == 0 {
		return all
	}
	return marked
}

// isTool reads what stands after the @ of a decorator.
func isTool(text string) bool {
	name, _, _ := strings.Cut(text, "(")
	name = strings.TrimSpace(name)
	return name == "tool" || name == "board.tool"
}

// addParam reads one parameter as it stands between commas. What cannot be given by name (*args, the markers) is left out.
func (f *Function) addParam(text string) {
	text = strings.TrimSpace(text)
	rest := strings.HasPrefix(text, "**")
	if text == "" || !rest && (text[0] == '*' || text[0] == '/') {
		return
	}
	head, _, given := cutTop(text, '=')
	name, hint, _ := cutTop(head, ':')
	f.Params = append(f.Params, Param{
		Name: strings.TrimSpace(strings.TrimLeft(name, "*")), Hint: oneLine(hint), Default: given || rest, Rest: rest,
	})
}

// Arguments checks arguments against the signature and returns them as a call wants them: JSON of [args, kwargs]. args is a JSON
// object, null or empty. The error names the argument. Hints of simple types are held: int, float (an int is one too), str, bool,
// list, tuple, dict, None, and Optional, Union and | of these; what stands in a list, and any other hint, is the function's
// own business.
func (f *Function) Arguments(args []byte) ([]byte, error) {
	if len(args) == 0 || jsontext.Value(args).Kind() == 'n' {
		args = []byte("{}")
	}
	dec := jsontext.NewDecoder(strings.NewReader(string(args)))
	given := map[string]jsontext.Value{}
	if err := json.UnmarshalDecode(dec, &given); err != nil {
		return nil, fmt.Errorf("args: %w", err)
	}
	rest := slices.ContainsFunc(f.Params, func(p Param) bool { return p.Rest })
	for _, p := range f.Params {
		v, ok := given[p.Name]
		switch {
		case p.Rest:
		case !ok && !p.Default:
			return nil, fmt.Errorf("argument %s is missing: %s", p.Name, f.Signature)
		case ok && !fits(p.Hint, v):
			return nil, fmt.Errorf("argument %s must be %s, not %s", p.Name, p.Hint, kindOf(v))
		}
	}
	for name := range given {
		if !rest && !slices.ContainsFunc(f.Params, func(p Param) bool { return p.Name == name }) {
			return nil, fmt.Errorf("unknown argument %.64q: %s", name, f.Signature)
		}
	}
	return slices.Concat([]byte("[[],"), args, []byte("]")), nil
}

// kinds are the hints that are held, with the kinds of value that fit them.
var kinds = map[string]string{
	"int": "int", "float": "int float", "str": "str", "bool": "bool", "list": "list", "tuple": "list", "dict": "dict", "None": "None",
}

// fits reports whether a value fits a hint.
func fits(hint string, v jsontext.Value) bool {
	hint = strings.TrimSpace(hint)
	if n := len(hint); n > 1 && (hint[0] == '"' || hint[0] == '\'') && hint[n-1] == hint[0] {
		hint = hint[1 : n-1] // a hint written as text
	}
	if parts := splitTop(hint, '|'); len(parts) > 1 {
		return slices.ContainsFunc(parts, func(part string) bool { return fits(part, v) })
	}
	name, inside, _ := strings.Cut(hint, "[")
	name = name[strings.LastIndexByte(name, '.')+1:]
	inside = strings.TrimSuffix(inside, "]")
	switch name {
	case "Optional":
		return v.Kind() == 'n' || fits(inside, v)
	case "Union":
		return slices.ContainsFunc(splitTop(inside, ','), func(part string) bool { return fits(part, v) })
	case "List", "Tuple", "Dict":
		name = strings.ToLower(name)
	}
	wanted, held := kinds[name]
	return !held || slices.Contains(strings.Fields(wanted), kindOf(v))
}

// kindOf names the type that a JSON value has in Python.
func kindOf(v jsontext.Value) string {
	switch v.Kind() {
	case 'n':
		return "None"
	case 't', 'f':
		return "bool"
	case '"':
		return "str"
	case '[':
		return "list"
	case '{':
		return "dict"
	default:
		if strings.ContainsAny(string(v), ".eE") {
			return "float"
		}
		return "int"
	}
}
