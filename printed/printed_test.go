package printed

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Whatever the parts, what is kept is the beginning of what was printed, in whole characters, and the rest is counted.
func TestParts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := rapid.StringMatching(`[a-zé€😀]{0,60}`).Draw(t, "text")
		var streamed strings.Builder
		x := Text{Limit: rapid.IntRange(1, 80).Draw(t, "limit"), Stream: func(_ string, part []byte) { streamed.Write(part) }}
		for rest := all; rest != ""; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "part")
			x.Add(false, []byte(rest[:n]))
			rest = rest[n:]
		}
		x.Finish(0, 0)
		got := x.Out()
		if !strings.HasPrefix(all, got) || streamed.String() != got || len(got)+x.Dropped() != len(all) || len(got) > x.Limit {
			t.Fatalf("of %q with %d: got %q, streamed %q, dropped %d", all, x.Limit, got, streamed.String(), x.Dropped())
		}
	})
}

func TestStreamsApart(t *testing.T) {
	x := Text{Limit: 3}
	x.Add(true, []byte("error"))
	x.Add(false, []byte("ok"))
	x.Finish(1, 2)
	if x.Out() != "ok" || x.Err() != "err" || x.Dropped() != 5 {
		t.Errorf("got %q, %q, %d dropped", x.Out(), x.Err(), x.Dropped())
	}
}
