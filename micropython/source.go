package micropython

import "strings"

// plainDecorators turns @micropython.native and @micropython.viper, which this engine's compiler refuses and programs for
// boards use, into comments of the same length: the functions are compiled as plain ones and every line keeps its number.
// Text in strings and comments is left alone.
func plainDecorators(code string) string {
	if !strings.Contains(code, "@micropython.native") && !strings.Contains(code, "@micropython.viper") {
		return code
	}
	out := []byte(code)
	lineStart := true
	for k := 0; k < len(code); {
		switch c := code[k]; {
		case c == '\n':
			lineStart = true
			k++
		case c == ' ' || c == '\t' || c == '\r':
			k++
		case c == '#':
			k = lineEnd(code, k)
		case c == '\'' || c == '"':
			k = stringEnd(code, k)
			lineStart = false
		case c == '@' && lineStart && isNativeDecorator(code[k:lineEnd(code, k)]):
			out[k] = '#'
			k = lineEnd(code, k)
		default:
			lineStart = false
			k++
		}
	}
	return string(out)
}

func isNativeDecorator(line string) bool {
	line, _, _ = strings.Cut(line, "#")
	line = strings.TrimSpace(line)
	return line == "@micropython.native" || line == "@micropython.viper"
}

func lineEnd(code string, k int) int {
	if n := strings.IndexByte(code[k:], '\n'); n >= 0 {
		return k + n
	}
	return len(code)
}

// stringEnd returns the index after the string literal whose opening quote is at k. Raw strings need no care: a backslash
// keeps the next quote from ending them too.
func stringEnd(code string, k int) int {
	quote := code[k : k+1]
	long := strings.HasPrefix(code[k:], strings.Repeat(quote, 3))
	if long {
		quote = code[k : k+3]
	}
	for k += len(quote); k < len(code); k++ {
		switch {
		case code[k] == '\\':
			k++
		case code[k] == '\n' && !long:
			return k
		case strings.HasPrefix(code[k:], quote):
			return k + len(quote)
		}
	}
	return len(code)
}
