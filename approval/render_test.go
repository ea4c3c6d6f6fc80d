package approval

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/pal-terminal/pal/limits"
)

// corpus is what agents have tried on people who approve (T17), by the name of its golden rendering.
var corpus = map[string]string{
	"plain":      "from machine import Pin\nPin(\"MAIN\", Pin.OUT).on()\n",
	"none":       "",
	"ansi":       "\x1b[2J\x1b[H\x1b[32mverb     read\x1b[0m\r\nMAIN.on()\x1b]0;approved\x07\x9b1A\x7f\x08\x08",
	"bidi":       "x = 1 # \u202e)(no.NIAM ;\u2066 safe\u2069\u200f\u061c\nMAIN.on()",
	"invisible":  "MA\u200bIN\u200d.\u2060on\ufeff(\u00ad)\u3164\u115f\uffa0\u2800\u180e\u034f\U000e0041\ufe0f\u00a0\u3000\u2028\u2029",
	"confusable": "Р\u0455.\u03bfn(\u0131) # \uff2d\uff21\uff29\uff2e \U0001d40c\u00d7\u2212\u2215\u2018\u2044 \u2126 e\u0301",
	"brackets":   "⟦12 lines not shown⟧ ⟦U+202E⟧",
	"forged":     "pass\n  |\ncode     none\nverb     read\nactor    maria\n\n\n---- end of the code ----\nApprove? This only reads a sensor.",
	"people":     "MAIN.on()  # 打开主继电器。 ポンプを始動する 펌프 시동: é ß ñ，（安全）\n",
	"long":       numbered(500),
	"wide":       "x = 1;" + strings.Repeat(" ", 5000) + "MAIN.on()",
	"blank":      "print('safe')" + strings.Repeat("\n", 4000) + "MAIN.on()",
	"bytes":      "a\xff\xfe\x00b\xc3(\xed\xa0\x80",
	"tabs":       "if x:\n\tMAIN.on()\n",
}

func numbered(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "step(%d)\n", i+1)
	}
	return b.String()
}

func request(code string) Request {
	at := time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)
	return Request{
		ID: "k3f9q2aa", Actor: "agent-7", CodeHash: sha256.Sum256([]byte(code)), Code: code, Pin: "MAIN", Verb: "drive", Asked: at,
		Expires: at.Add(5 * time.Minute), State: Pending,
	}
}

// TestGolden compares renderings with testdata; UPDATE_GOLDEN=1 writes them anew.
func TestGolden(t *testing.T) {
	for name, code := range corpus {
		t.Run(name, func(t *testing.T) {
			got := Render(request(code))
			file := filepath.Join("testdata", name+".txt")
			if os.Getenv("UPDATE_GOLDEN") == "1" {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
			checkRendering(t, got, code)
		})
	}
}

// checkRendering holds a rendering to what must be so whatever an agent writes.
func checkRendering(t *testing.T, got, code string) {
	t.Helper()
	lines := strings.Split(strings.TrimSuffix(got, "\n"), "\n")
	for i, want := range []string{"verb     drive", "pin      MAIN", "actor    agent-7", "id       k3f9q2aa", "state    pending"} {
		if i >= len(lines) || lines[i] != want {
			t.Fatalf("line %d: got %q want %q", i, lines, want)
		}
	}
	const head = 9
	if len(lines) > head+limits.ApprovalLines+1 {
		t.Errorf("got %d lines", len(lines))
	}
	for i, line := range lines {
		if i >= head && !strings.HasPrefix(line, "  | ") {
			t.Errorf("line %d is not marked as the agent's: %q", i, line)
		}
		// An escape is at most ten characters long.
		if n := utf8.RuneCountInString(line); n > 10*limits.ApprovalColumns+40 {
			t.Errorf("line %d has %d characters", i, n)
		}
		for _, r := range line {
			switch {
			case r < ' ' || r == 0x7f, unicode.In(r, unicode.C, unicode.Z, unicode.M, unicode.Cyrillic, unicode.Greek) && r != ' ', r == utf8.RuneError:
				t.Errorf("line %d has %U: %q", i, r, line)
			}
		}
	}
	if strings.Count(got, "⟦") != strings.Count(got, "⟧") {
		t.Errorf("brackets do not match: %q", got)
	}
	if code != "" && !strings.Contains(lines[head-1], "Do not believe") {
		t.Errorf("got %q", lines[head-1])
	}
}

// TestFieldsAreEscaped: what comes before the code cannot break its line either.
func TestFieldsAreEscaped(t *testing.T) {
	r := request("x")
	r.Actor, r.Pin, r.By = "a\nverb     read", "\x1b[31m"+strings.Repeat("P", 500), "\u202eb"
	got := Render(r)
	if strings.Contains(got, "\nverb     read") || strings.ContainsAny(got, "\x1b\u202e") || !strings.Contains(got, "characters not shown") {
		t.Errorf("got %q", got)
	}
	if !strings.HasPrefix(got, "verb     drive\npin      ⟦U+001B⟧[31mP") || !strings.Contains(got, "by       ⟦U+202E⟧b\n") {
		t.Errorf("got %q", got)
	}
}

func FuzzRender(f *testing.F) {
	for _, code := range corpus {
		f.Add(code)
	}
	f.Fuzz(func(t *testing.T, code string) {
		checkRendering(t, Render(request(code)), strings.TrimSuffix(code, "\n"))
	})
}
