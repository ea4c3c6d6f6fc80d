package protocol

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestText(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"empty", "", ""},
		{"plain", "abc\r\n", "abc\r\n"},
		{"nul-and-separators", "a\x00b\u2028c\u2029", "a\x00b\u2028c\u2029"},
		{"replacement-itself", "\ufffd", "\ufffd"},
		{"one-bad-byte", "a\xffb", "a\ufffdb"},
		{"each-bad-byte", "\xff\xfe", "\ufffd\ufffd"},
		{"surrogate", "\xed\xa0\x80", "\ufffd\ufffd\ufffd"},
		{"cut-emoji", "x\xf0\x9f\x98", "x\ufffd\ufffd\ufffd"},
		{"good-after-bad", "\xc3é", "\ufffdé"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := Text([]byte(tt.in)); got != tt.want {
				t.Errorf("Text(%q): got %q, want %q", tt.in, got, tt.want)
			}
		})
	}
}

// mixed has runes of every length, and bytes that are none.
const mixed = "aé\u2028€😀\x00z\U0010ffff\u007f\u0080\u07ff\u0800\uffff\U00010000"

// Every rune, cut at every offset: no rune is split, nothing is lost that would have fitted.
func TestCutSplitsNoRune(t *testing.T) {
	for limit := -1; limit <= len(mixed)+1; limit++ {
		kept, dropped := Cut([]byte(mixed), limit)
		switch {
		case len(kept) > max(limit, 0):
			t.Errorf("Cut(%d): got %d bytes", limit, len(kept))
		case len(kept)+dropped != len(mixed):
			t.Errorf("Cut(%d): got %d kept and %d dropped, want %d together", limit, len(kept), dropped, len(mixed))
		case string(kept) != mixed[:len(kept)] || !utf8.Valid(kept):
			t.Errorf("Cut(%d): got %q, want whole runes from the start", limit, kept)
		case dropped > 0 && limit-len(kept) >= utf8.UTFMax:
			t.Errorf("Cut(%d): got %d bytes, want all the runes that fit", limit, len(kept))
		}
		if dropped > 0 {
			if _, size := utf8.DecodeRuneInString(mixed[len(kept):]); limit > 0 && len(kept)+size <= limit {
				t.Errorf("Cut(%d): got %d bytes, but the next rune of %d would fit", limit, len(kept), size)
			}
		}
	}
}

func TestCutOfBadBytes(t *testing.T) {
	tests := []struct {
		in    string
		limit int
		want  string
	}{
		{"\x80\x80\x80\x80\x80", 3, "\x80\x80\x80"},    // no rune starts here: nothing to spare
		{"a\x80\x80\x80\x80", 4, "a\x80\x80\x80"},      // nor does a belong to what follows
		{"\xf0\x9f\x98a", 3, ""},                       // the start of a rune, whatever comes of it
		{"\xf0\x9f\x98\x80", 3, ""},                    // completed: kept whole or not at all
		{"ab\xf0\x9f\x98\x80", 5, "ab"},                //
		{"\xff\xff", 1, "\xff"},                        //
		{strings.Repeat("\xe2", 5), 4, "\xe2\xe2\xe2"}, // starts only
	}
	for _, tt := range tests {
		kept, dropped := Cut([]byte(tt.in), tt.limit)
		if string(kept) != tt.want || dropped != len(tt.in)-len(tt.want) {
			t.Errorf("Cut(%q, %d): got %q and %d dropped, want %q and %d", tt.in, tt.limit, kept, dropped, tt.want, len(tt.in)-len(tt.want))
		}
	}
}

// What Cut returns must not let its caller write into the rest.
func TestCutCapacity(t *testing.T) {
	p := []byte("abcdef")
	kept, _ := Cut(p, 3)
	_ = append(kept, 'X')
	if string(p) != "abcdef" {
		t.Errorf("after appending to what was kept: got %q, want abcdef", p)
	}
}

func TestIncomplete(t *testing.T) {
	tests := []struct {
		in   string
		want int
	}{
		{"", 0}, {"a", 0}, {"é", 0}, {"\xc3", 1}, {"a\xc3", 1}, {"€", 0}, {"\xe2", 1}, {"\xe2\x82", 2}, {"😀", 0},
		{"\xf0", 1}, {"\xf0\x9f", 2}, {"\xf0\x9f\x98", 3}, {"\x80\x80\x80\x80", 0}, {"\xff", 0}, {"\xf0\x20", 0}, {"é\x80", 0},
	}
	for _, tt := range tests {
		if got := Incomplete([]byte(tt.in)); got != tt.want {
			t.Errorf("Incomplete(%q): got %d, want %d", tt.in, got, tt.want)
		}
	}
}

// A stream cut anywhere reads the same as the whole when incomplete ends are held back.
func TestTextOfAStream(t *testing.T) {
	whole := []byte(mixed + "\xff\xf0\x9f" + mixed + "\xe2\x82")
	for size := 1; size <= len(whole); size++ {
		var got strings.Builder
		var held []byte
		for part := range slices.Chunk(whole, size) {
			held = append(held, part...)
			n := len(held) - Incomplete(held)
			got.WriteString(Text(held[:n]))
			held = append([]byte(nil), held[n:]...)
		}
		got.WriteString(Text(held))
		if want := Text(whole); got.String() != want {
			t.Fatalf("in parts of %d: got %q, want %q", size, got.String(), want)
		}
	}
}

func FuzzText(f *testing.F) {
	for _, s := range []string{"", mixed, "\xff\xfe", "a\xf0\x9f\x98", "\xed\xa0\x80"} {
		for _, n := range []int{0, 1, 3, 7} {
			f.Add([]byte(s), n)
		}
	}
	f.Fuzz(func(t *testing.T, p []byte, limit int) {
		before := bytes.Clone(p)
		text := Text(p)
		if !utf8.ValidString(text) || len(text) > 3*len(p) {
			t.Fatalf("Text(%q): got %q, want valid UTF-8 of at most three times the length", p, text)
		}
		if utf8.Valid(p) && text != string(p) {
			t.Fatalf("Text(%q): got %q, want valid text untouched", p, text)
		}
		kept, dropped := Cut(p, limit)
		if len(kept) > max(limit, 0) && dropped > 0 || len(kept)+dropped != len(p) || !bytes.HasPrefix(p, kept) {
			t.Fatalf("Cut(%q, %d): got %q and %d dropped", p, limit, kept, dropped)
		}
		if limit >= utf8.UTFMax && dropped > 0 && len(kept) <= limit-utf8.UTFMax {
			t.Fatalf("Cut(%q, %d): got %d bytes, want more", p, limit, len(kept))
		}
		if got := Text(kept) + Text(p[len(kept):]); got != text {
			t.Fatalf("Cut(%q, %d) at %d: got %q in two parts, want %q", p, limit, len(kept), got, text)
		}
		if n := Incomplete(p); n > 0 && utf8.FullRune(p[len(p)-n:]) || n >= utf8.UTFMax {
			t.Fatalf("Incomplete(%q): got %d", p, n)
		}
		if !bytes.Equal(p, before) {
			t.Fatalf("got the input changed to %q, want %q", p, before)
		}
	})
}
