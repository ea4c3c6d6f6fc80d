//go:build unix

package micropython

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pal-terminal/pal/hw"
)

// The modules that the engine lacks and CPython has behave as CPython's.
func TestStandardModules(t *testing.T) {
	g := start(t)
	code, err := os.ReadFile("testdata/library.py")
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile("testdata/library.out")
	if err != nil {
		t.Fatal(err)
	}
	r := g.run(hw.Job{Kind: hw.JobExec, Code: string(code)})
	if d := cmp.Diff(string(want), r.out); d != "" || r.Exception != nil {
		t.Errorf("output (-want +got):\n%s%+v", d, r.Exception)
	}
	if r := g.exec("import warnings\nwarnings.simplefilter('x')\nwarnings.warn('careful')"); r.err != "UserWarning: careful\n" || r.Exception != nil {
		t.Errorf("got %q, %+v", r.err, r.Exception)
	}
}
