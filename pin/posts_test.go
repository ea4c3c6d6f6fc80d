package pin

import (
	"testing"

	"github.com/pal-terminal/pal/hw"
)

const postsBoard = `board: posts
pins:
  - {id: 1, name: PLAIN, owner: agent, can: [in, out], safe: low}
  - {id: 2, name: TIMED, owner: agent, can: [out], safe: low, max_on: 2s}
  - {id: 3, name: RISKY, owner: agent, can: [out], safe: low, danger: high}
  - {id: 4, name: GUARDED, owner: guard, can: [in]}
  - {id: 5, name: BOOT, owner: system}
`

// Only an output without rules that the caller can drive right now is posted to.
func TestPosts(t *testing.T) {
	r := newRig(t, postsBoard, nil)
	defer r.end()
	check := func(when, name string, c Caller, want bool) {
		t.Helper()
		if got := r.Posts(c, r.h(name)); got != want {
			t.Errorf("%s of %s %s: got %v, want %v", name, c.Name, when, got, want)
		}
	}
	configure := func(name string, m hw.Mode) {
		t.Helper()
		if _, err := r.Configure(agent, r.h(name), m, hw.PullNone, -1); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"PLAIN", "TIMED", "RISKY"} {
		configure(name, hw.ModeOut)
	}
	check("as an output", "PLAIN", agent, true)
	check("as an output", "PLAIN", reader, false)
	check("with a rule", "TIMED", agent, false)
	check("of high danger", "RISKY", agent, false)
	check("of the guard", "GUARDED", agent, false)
	for _, h := range []Handle{4, 5, 65535} {
		if r.Posts(agent, h) {
			t.Errorf("handle %d: got true, want false", h)
		}
	}
	if err := r.Stop("test"); err != nil {
		t.Fatal(err)
	}
	check("under the e-stop", "PLAIN", agent, false)
	if err := r.Clear(); err != nil {
		t.Fatal(err)
	}
	check("after the release", "PLAIN", agent, true)
	configure("PLAIN", hw.ModeIn)
	check("as an input", "PLAIN", agent, false)
}
