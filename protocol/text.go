package protocol

import (
	"strings"
	"unicode/utf8"
)

// Text makes a string of bytes that a program printed: every byte that is not part of valid UTF-8 becomes U+FFFD. What is
// valid is untouched, NUL and line separators included. The result can be three times as long as p.
//
// Text of two parts equals Text of the whole when no rune was split between them: see [Cut] and [Incomplete].
func Text(p []byte) string {
	if utf8.Valid(p) {
		return string(p)
	}
	var b strings.Builder
	b.Grow(len(p) + len(p)/2)
	for len(p) > 0 {
		r, size := utf8.DecodeRune(p) // U+FFFD for an invalid byte, as wanted
		b.WriteRune(r)
		p = p[size:]
	}
	return b.String()
}

// Cut returns at most limit bytes from the start of p without splitting a rune, and how many bytes it left out. The bytes
// kept are p's own. Bytes that are not UTF-8 count as runes of one byte.
func Cut(p []byte, limit int) (kept []byte, dropped int) {
	if len(p) <= limit {
		return p, 0
	}
	n := boundary(p, limit)
	return p[:n:n], len(p) - n
}

// boundary returns the greatest offset of at most limit that does not lie within a rune of p.
func boundary(p []byte, limit int) int {
	if limit <= 0 {
		return 0
	}
	for back := 1; back < utf8.UTFMax && back <= limit; back++ {
		start := limit - back
		if !utf8.RuneStart(p[start]) {
			continue
		}
		if _, size := utf8.DecodeRune(p[start:]); size > back {
			return start
		}
		break
	}
	return limit
}

// Incomplete returns how many bytes at the end of p, 0 to 3, start a rune whose rest has not come yet. Whoever streams text
// holds them back until more arrives or the stream ends.
func Incomplete(p []byte) int {
	for back := 1; back < utf8.UTFMax && back <= len(p); back++ {
		tail := p[len(p)-back:]
		if !utf8.RuneStart(tail[0]) {
			continue
		}
		if utf8.FullRune(tail) {
			return 0
		}
		return back
	}
	return 0
}
