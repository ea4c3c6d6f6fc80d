//go:build unix

package micropython

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pal-terminal/pal/hw"
)

// Programs whose output is known from elsewhere print the same here. Each runs in a session of its own.
func TestCorpus(t *testing.T) {
	programs, err := filepath.Glob("../test/corpus/*.py")
	if err != nil || len(programs) == 0 {
		t.Fatalf("no corpus: %v", err)
	}
	g := start(t)
	often := start(t)
	for _, p := range programs {
		t.Run(strings.TrimSuffix(filepath.Base(p), ".py"), func(t *testing.T) {
			code, err := os.ReadFile(p)
			if err != nil {
				t.Fatal(err)
			}
			want, err := os.ReadFile(strings.TrimSuffix(p, ".py") + ".out")
			if err != nil {
				t.Fatal(err)
			}
			r := g.run(hw.Job{Kind: hw.JobExec, Code: string(code)})
			if r.out != string(want) || r.Exception != nil {
				t.Errorf("got %q, %+v, want %q", r.out, r.Exception, want)
			}
			// Once more with a collection at nearly every allocation: a value that the collector cannot see would be lost. The
			// first line of each program is a comment, so the numbers of lines stay.
			stressed := "import gc; gc.threshold(128) " + string(code)
			r = often.run(hw.Job{Kind: hw.JobExec, Code: stressed})
			if r.out != string(want) || r.Exception != nil {
				t.Errorf("collecting often: got %q, %+v, want %q", r.out, r.Exception, want)
			}
		})
	}
}
