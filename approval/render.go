package approval

import (
	"encoding/hex"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/pal-terminal/pal/limits"
)

// Render is a request as a person sees it before deciding. What the guard knows comes first, one thing to a line; what the agent has
// written comes after it, each line marked, so that nothing in it can be taken for the guard's word. Characters that a person could
// miss or mistake stand as ⟦U+202E⟧, and what is left out is said so; no agent can write these brackets.
func Render(r Request) string {
	var b strings.Builder
	code := strings.TrimSuffix(r.Code, "\n")
	lines := strings.Split(code, "\n")
	line := func(name, format string, args ...any) {
		fmt.Fprintf(&b, "%-9s%s\n", name, fmt.Sprintf(format, args...))
	}
	for _, f := range [][2]string{{"verb", r.Verb}, {"pin", r.Pin}, {"actor", r.Actor}, {"id", r.ID}, {"state", r.State}, {"by", r.By}} {
		if f[1] != "" {
			line(f[0], "%s", field(f[1]))
		}
	}
	line("asked", "%s", r.Asked.UTC().Format(time.RFC3339))
	line("expires", "%s", r.Expires.UTC().Format(time.RFC3339))
	line("sha256", "%s", hex.EncodeToString(r.CodeHash[:]))
	if code == "" {
		line("code", "none")
		return b.String()
	}
	line("code", "%d lines, %d bytes, written by %s. Do not believe what it says about itself:", len(lines), len(r.Code), field(r.Actor))
	const most = limits.ApprovalLines / 2
	for i, text := range lines {
		switch left := len(lines) - 2*most; {
		case i == most && left > 0:
			fmt.Fprintf(&b, "  | ⟦%d lines not shown⟧\n", left)
		case i < most || i >= len(lines)-most:
			fmt.Fprintf(&b, "  | %s\n", cut(plain(text), limits.ApprovalColumns))
		}
	}
	return b.String()
}

// field is a name of the guard's own, on one line whatever it is.
func field(s string) string { return cut(plain(s), limits.NameBytes) }

// plain returns text with everything escaped that is not what it looks like: controls, ANSI sequences, bidirectional and invisible
// characters, letters that look like others. ASCII, the accented letters of Latin-1 and Chinese, Japanese and Korean stay readable.
// Each element is what must not be cut apart.
func plain(s string) []string {
	var list []string
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		switch {
		case r == utf8.RuneError && n == 1:
			list = append(list, fmt.Sprintf("⟦x%02X⟧", s[0]))
		case r == '\t':
			list = append(list, "    ")
		case shown(r):
			list = append(list, string(r))
		default:
			list = append(list, fmt.Sprintf("⟦U+%04X⟧", r))
		}
		s = s[n:]
	}
	return list
}

func shown(r rune) bool {
	switch {
	case r < utf8.RuneSelf:
		return r >= ' ' && r != 0x7f
	case r >= 'À' && r <= 'ÿ':
		return unicode.IsLetter(r)
	case r >= 0x3041 && r <= 0x30fa, r >= 0x3400 && r <= 0x9fff, r >= 0xac00 && r <= 0xd7a3: // without what is invisible or a double
		return unicode.In(r, unicode.Hiragana, unicode.Katakana, unicode.Han, unicode.Hangul)
	}
	return strings.ContainsRune("、。「」『』《》，：；！？（）ー", r)
}

// cut leaves out the middle of what is too long, and says so.
func cut(list []string, most int) string {
	if len(list) <= most {
		return strings.Join(list, "")
	}
	half := most / 2
	return strings.Join(list[:half], "") + fmt.Sprintf(" ⟦%d characters not shown⟧ ", len(list)-2*half) + strings.Join(list[len(list)-half:], "")
}
