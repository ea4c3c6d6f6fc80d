//go:build unix

package store_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/pal-terminal/pal/store"
	"github.com/pal-terminal/pal/store/storetest"
)

func TestFolderContract(t *testing.T) {
	storetest.Run(t, func(t *testing.T) store.Disk { return folder(t, filepath.Join(t.TempDir(), "made", "deep")) })
}

func TestFolderIsItsUsersAlone(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "open")
	must(t, os.Mkdir(dir, 0o777))
	must(t, os.Chmod(dir, 0o777))
	d := folder(t, dir)
	must(t, d.Mkdir("x"))
	must(t, store.Replace(d, "x/a", []byte("hello")))
	for name, want := range map[string]fs.FileMode{".": 0o700, "x": 0o700, "x/a": 0o600} {
		info, err := os.Stat(filepath.Join(dir, name))
		must(t, err)
		if got := info.Mode().Perm(); got != want {
			t.Errorf("%s: got mode %o, want %o", name, got, want)
		}
	}
}

func TestFolderOpensRegularFilesOnly(t *testing.T) {
	dir, outside := t.TempDir(), filepath.Join(t.TempDir(), "outside")
	must(t, os.WriteFile(outside, []byte("secret"), 0o600))
	must(t, os.WriteFile(filepath.Join(dir, "file"), []byte("inside"), 0o600))
	must(t, os.Symlink(outside, filepath.Join(dir, "out")))
	must(t, os.Symlink("file", filepath.Join(dir, "in")))
	must(t, os.Symlink(filepath.Dir(outside), filepath.Join(dir, "folder")))
	must(t, syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600))
	d := folder(t, dir)
	for _, name := range []string{"out", "in", "pipe", "folder/outside", "folder/new"} {
		if f, err := d.Open(name, true); err == nil {
			t.Errorf("%s was opened", name)
			f.Close()
		}
		if err := errors.Join(d.Rename("file", name), nil); err == nil {
			t.Errorf("%s was replaced", name)
		}
	}
	if names, err := d.List(""); err != nil || len(names) != 1 || names[0] != "file" {
		t.Errorf("got %q, %v", names, err)
	}
	if _, err := d.List("folder"); err == nil {
		t.Error("listed a folder outside")
	}
	if err := d.Mkdir("folder"); err == nil {
		t.Error("took a link for a folder")
	}
}

// TestFolderReadOnly needs no mount: a file without the right to write reads as one on a read-only disk does.
func TestFolderReadOnly(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("nothing is forbidden to root")
	}
	dir := t.TempDir()
	d := folder(t, dir)
	must(t, store.Replace(d, "a", []byte("hello")))
	must(t, os.Chmod(filepath.Join(dir, "a"), 0o400))
	f, err := d.Open("a", true)
	must(t, err)
	b := make([]byte, 5)
	if _, err := f.ReadAt(b, 0); err != nil || string(b) != "hello" {
		t.Errorf("got %q, %v", b, err)
	}
	for _, err := range []error{f.Truncate(0), func() error { _, err := f.WriteAt(b, 0); return err }()} {
		if !errors.Is(err, fs.ErrPermission) {
			t.Errorf("got %v, want a permission error", err)
		}
	}
}
