//go:build unix

package identity

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A pipe in the place of a file must not hold the start up.
func TestPipeIsNotWaitedFor(t *testing.T) {
	for _, name := range []string{"tokens.json", "local-human.token"} {
		dir := t.TempDir()
		if name != "tokens.json" {
			mustLocal(t, openDir(t, dir))
			if err := syscall.Unlink(filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
		}
		if err := syscall.Mkfifo(filepath.Join(dir, name), 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := Open(dir, time.Now)
		if err == nil {
			_, err = s.EnsureLocal()
		}
		if err == nil || !strings.Contains(err.Error(), "not a regular file") {
			t.Errorf("a pipe as %s: got %v, want it refused", name, err)
		}
	}
}
