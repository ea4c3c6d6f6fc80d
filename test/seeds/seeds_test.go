//go:build unix

// Package seeds sends every request of the specifications that PAL was built from, over a plain WebSocket client of another
// language.
package seeds

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/pal-terminal/pal/test/terminal"
)

func TestSeeds(t *testing.T) {
	x := terminal.Start(t, nil)
	out, err := exec.CommandContext(t.Context(), "node", "seeds.mjs", x.URL, x.Agent).CombinedOutput()
	if err != nil {
		t.Fatalf("node: %v\n%s(the client needs `npm ci` in test/peer, which `make test` does)", err, out)
	}
	if !strings.Contains(string(out), "answered as they say") {
		t.Errorf("got %q, want the client's last line", out)
	}
}
