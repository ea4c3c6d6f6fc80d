//go:build unix

package state

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// What stands in the lock's place is not written to, and nothing is waited for.
func TestLockIsNoLink(t *testing.T) {
	victim := filepath.Join(t.TempDir(), "victim")
	if err := os.WriteFile(victim, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, plant := range map[string]func(path string) error{
		"link":      func(path string) error { return os.Symlink(victim, path) },
		"dangling":  func(path string) error { return os.Symlink(victim+"-new", path) },
		"pipe":      func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"directory": func(path string) error { return os.Mkdir(path, 0o700) },
	} {
		t.Run(name, func(t *testing.T) {
			f := open(t, t.TempDir())
			if err := plant(f.Path(lockFile)); err != nil {
				t.Fatal(err)
			}
			if l, err := f.Lock("127.0.0.1:1"); err == nil {
				t.Errorf("Lock: got a lock, want an error")
				l.Release()
			}
		})
	}
	if got, err := os.ReadFile(victim); err != nil || string(got) != "precious" {
		t.Errorf("what the link led to: got %q, %v, want it untouched", got, err)
	}
	if _, err := os.Stat(victim + "-new"); !os.IsNotExist(err) {
		t.Errorf("what the dangling link led to: got %v, want nothing", err)
	}
}

// Who can replace files in the folder can replace the tokens.
func TestFolderOfEverybody(t *testing.T) {
	dir := t.TempDir()
	for mode, want := range map[os.FileMode]bool{0o777: false, 0o703: false, 0o755: true, 0o700: true} {
		if err := os.Chmod(dir, mode); err != nil {
			t.Fatal(err)
		}
		_, err := Open(dir)
		if (err == nil) != want || err != nil && !strings.Contains(err.Error(), "chmod 700") {
			t.Errorf("Open of a folder of mode %o: got %v, want opened %v", mode, err, want)
		}
	}
}
