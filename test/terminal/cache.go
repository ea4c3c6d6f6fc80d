//go:build unix

package terminal

import (
	"os"
	"path/filepath"
	"testing"
)

// CacheDir is a folder for compiled engines that outlives the test: the first compile takes a second.
func CacheDir(t testing.TB) string {
	t.Helper()
	base, err := os.UserCacheDir()
	if err != nil {
		base = os.TempDir()
	}
	dir := filepath.Join(base, "pal")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatalf("cache folder: %v", err)
	}
	return dir
}
