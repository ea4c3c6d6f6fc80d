//go:build unix

package palbin_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/pal-terminal/pal/test/palbin"
)

func TestBuild(t *testing.T) {
	t.Setenv(palbin.Env, t.TempDir())
	path := palbin.Build(t)
	out, err := exec.Command("go", "version", "-m", path).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if s := string(out); !strings.Contains(s, "CGO_ENABLED=0") || strings.Contains(s, "-race=true") {
		t.Errorf("build settings: got\n%s\nwant no cgo and no race detector", s)
	}
	if again := palbin.Build(t); again != path {
		t.Errorf("second Build: got %s, want %s", again, path)
	}
}
