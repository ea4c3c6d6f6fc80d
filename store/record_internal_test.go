package store

import (
	"bytes"
	"strings"
	"testing"

	"github.com/pal-terminal/pal/limits"
)

// FuzzUnseal reads anything as a record, a latch and a counter: none may panic, a record is taken only when it is, byte for
// byte, what is written for its value, and a latch is clear only when its file is the one file that is.
func FuzzUnseal(f *testing.F) {
	for _, b := range [][]byte{
		nil, seal("a", nil), seal("a", []byte("value")), seal("b", []byte("value")), sealText("a", clearText), sealText("a", "set\n2026-12-01T12:00:00Z\nada\nsmoke"),
		sealText("a", "3 \"\" \"k\" 1\n"), bytes.Repeat([]byte{0xff}, limits.LatchBytes), seal("a", []byte(clearText)),
	} {
		f.Add(b, uint8(0), []byte(nil))
		f.Add([]byte(nil), uint8(1), b)
	}
	f.Fuzz(func(t *testing.T, raw []byte, sealed uint8, value []byte) {
		if sealed%2 == 1 { // past the checksum
			if raw = seal("a", value); len(value) < limits.LatchBytes-headerBytes && sealed%4 == 1 {
				raw = sealText("a", string(value))
			}
		}
		got, problem := unseal("a", raw)
		if problem == "" && !bytes.Equal(seal("a", got), raw) {
			t.Errorf("took %q, which is not what is written for %q", raw, got)
		}
		if problem != "" && (sealed%2 == 1 || got != nil) {
			t.Errorf("got %q of %q: %s", got, raw, problem)
		}
		text, problem := unsealText("a", raw)
		if s := parseLatch(text, problem); !s.Set && strings.TrimRight(string(got), "\x00") != clearText || s.Set == (s == LatchState{}) {
			t.Errorf("read %q as %+v", raw, s)
		}
		failed, p := parseStarts(text, problem, "k")
		if p.Ending == "" || p.Damaged != "" && failed != 1 {
			t.Errorf("read %q as %d, %+v", raw, failed, p)
		}
	})
}

func TestTextsThatSayNothing(t *testing.T) {
	for _, text := range []string{"", "clear", "clear\n\n", "cleared\n2026-12-01T12:00:00Z\na\nb", "set", "set\n2026-12-01T12:00:00Z\na", "set\nyesterday\na\nb", "set\n\n\n"} {
		if s := parseLatch(text, ""); !s.Set || s.Damaged == "" {
			t.Errorf("latch %q: got %+v", text, s)
		}
	}
	for _, text := range []string{"", "1", "x \"\" \"k\" 1\n", "1 \"\" \"k\" 1", "1 \"\" \"k\" 1\nmore", "01 \"\" \"k\" 1\n", "-1 \"\" \"k\" 1\n", "99999999999999999999 \"\" \"k\" 1\n"} {
		if failed, p := parseStarts(text, "", "k"); failed != 1 || p.Damaged == "" {
			t.Errorf("starts %q: got %d, %+v", text, failed, p)
		}
	}
}
