package store

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// folder is a folder of the machine. The root keeps every name in it.
type folder struct{ root *os.Root }

// Folder returns the disk in a folder of the machine, which is made when it is not there and becomes its user's alone.
func Folder(dir string) (Disk, error) {
	dir, err := filepath.Abs(dir)
	if err = errors.Join(err, os.MkdirAll(dir, 0o700)); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	if err := root.Chmod(".", 0o700); err != nil && !errors.Is(err, syscall.EROFS) {
		return nil, errors.Join(err, root.Close())
	}
	for above := filepath.Dir(dir); above != dir; dir, above = above, filepath.Dir(above) {
		syncFolder(os.Open(above)) //nolint:errcheck // one that cannot be opened, or is read-only, was not changed
	}
	return &folder{root}, nil
}

func syncFolder(f *os.File, err error) error {
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// regular refuses what is no name and what is there and no regular file: a link, a pipe, a device.
func (d *folder) regular(name string) error {
	if !Valid(name) {
		return &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	info, err := d.root.Lstat(name)
	if err == nil && !info.Mode().IsRegular() {
		return &fs.PathError{Op: "open", Path: name, Err: errors.New("it is no regular file")}
	}
	return err
}

func (d *folder) Open(name string, create bool) (File, error) {
	flags := os.O_RDWR
	if create {
		flags |= os.O_CREATE
	}
	if err := d.regular(name); err != nil && (!create || !errors.Is(err, fs.ErrNotExist)) {
		return nil, err
	}
	f, refused := d.root.OpenFile(name, flags, 0o600)
	if refused != nil {
		var err error
		if f, err = d.root.OpenFile(name, os.O_RDONLY, 0); err != nil {
			return nil, refused
		}
	}
	return &file{f, refused}, nil
}

func (d *folder) Rename(from, to string) error {
	if err := d.regular(to); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := d.regular(from); err != nil {
		return err
	}
	return d.root.Rename(from, to)
}

func (d *folder) Remove(name string) error {
	if err := d.regular(name); err != nil {
		return err
	}
	return d.root.Remove(name)
}

func (d *folder) List(dir string) (names []string, err error) {
	entries, err := fs.ReadDir(d.root.FS(), cmp.Or(dir, "."))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, e := range entries {
		if e.Type().IsRegular() {
			names = append(names, e.Name())
		}
	}
	return names, err
}

func (d *folder) Mkdir(dir string) error {
	if !Valid(dir) || strings.Contains(dir, "/") {
		return &fs.PathError{Op: "mkdir", Path: dir, Err: fs.ErrInvalid}
	}
	err := d.root.Mkdir(dir, 0o700)
	if info, statErr := d.root.Lstat(dir); statErr == nil && info.IsDir() {
		return nil
	}
	return err
}

func (d *folder) Sync(dir string) error { return syncFolder(d.root.Open(cmp.Or(dir, "."))) }

func (d *folder) Free() (int64, error) { return free(d.root.Name()) }

// file is a regular file. refused is why it is open for reading only, a better reason than the one that a write then gets.
type file struct {
	*os.File
	refused error
}

func (f *file) WriteAt(p []byte, off int64) (int, error) {
	n, err := f.File.WriteAt(p, off)
	return n, cmp.Or(f.refused, err)
}

func (f *file) Truncate(size int64) error {
	err := f.File.Truncate(size)
	return cmp.Or(f.refused, err)
}

func (f *file) Size() (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}
