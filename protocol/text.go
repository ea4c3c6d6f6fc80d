package protocol

import "unicode/utf8"

// Text makes a string of bytes that a program printed: every byte that is not part of valid UTF-8 becomes U+FFFD. What is
// valid is untouched, NUL and line separators included. The result can be three times as long as p.
//
// Text of two parts equals Text of the whole when no rune was split between them: see [Cut] and [Incomplete].
func Text(p []byte) string {
	if utf8.Valid(p) {
		return string(p)
	}
	return string([]rune(string(p))) // U+FFFD for each invalid byte, as wanted
}

// Cut returns at most limit bytes from the start of p without splitting a rune, and how many bytes it left out. The bytes
// kept are p's own.
func Cut(p []byte, limit int) (kept []byte, dropped int) {
	if len(p) <= limit {
		return p, 0
	}
	kept = p[:max(0, limit)]
	n := len(kept) - Incomplete(kept)
	return p[:n:n], len(p) - n
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
