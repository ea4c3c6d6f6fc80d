package identity

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// disk is the state folder. It is a seam so that tests can fail any step.
type disk interface {
	// read returns at most limit bytes of a file; a longer one is an error.
	read(name string, limit int64) ([]byte, fs.FileMode, error)
	// create makes a new file that only this user can read. It fails when the file exists.
	create(name string) (file, error)
	rename(from, to string) error
	remove(name string) error
	// sync makes renames in the folder survive a loss of power.
	sync() error
}

// file is a file being written.
type file interface {
	io.WriteCloser
	Sync() error
}

// folder is a disk in a directory.
type folder string

func (d folder) path(name string) string { return filepath.Join(string(d), name) }

func (d folder) read(name string, limit int64) (content []byte, mode fs.FileMode, err error) {
	f, err := os.OpenFile(d.path(name), os.O_RDONLY|syscall.O_NONBLOCK, 0) // a pipe in its place is not waited for
	if err != nil {
		return nil, 0, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return nil, 0, err
	}
	if !info.Mode().IsRegular() {
		return nil, 0, fmt.Errorf("%s is not a regular file", f.Name())
	}
	content, err = io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, 0, err
	}
	if int64(len(content)) > limit {
		return nil, 0, fmt.Errorf("%s is longer than %d bytes", f.Name(), limit)
	}
	return content, info.Mode(), nil
}

func (d folder) create(name string) (file, error) {
	f, err := os.OpenFile(d.path(name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	return f, nil
}

func (d folder) rename(from, to string) error { return os.Rename(d.path(from), d.path(to)) }

func (d folder) remove(name string) error { return os.Remove(d.path(name)) }

func (d folder) sync() error {
	f, err := os.Open(string(d))
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// replace puts content in place of the named file so that after a crash at any step the file holds the old content or the
// new, never a part. When it returns an error, either may be there.
func replace(d disk, name string, content []byte) error {
	temp := name + ".tmp"
	// One that a crash left behind is of no use, and may have been made by somebody else.
	if err := d.remove(temp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("clear the way for %s: %w", name, err)
	}
	if err := writeNew(d, temp, content); err != nil {
		return fmt.Errorf("write %s: %w", temp, errors.Join(err, ignoreMissing(d.remove(temp))))
	}
	if err := d.rename(temp, name); err != nil {
		return fmt.Errorf("put %s in place: %w", name, errors.Join(err, ignoreMissing(d.remove(temp))))
	}
	if err := d.sync(); err != nil {
		return fmt.Errorf("sync the folder of %s: %w", name, err)
	}
	return nil
}

// writeNew writes a new file through to the disk.
func writeNew(d disk, name string, content []byte) error {
	f, err := d.create(name)
	if err != nil {
		return err
	}
	if _, err := f.Write(content); err != nil {
		return errors.Join(err, f.Close())
	}
	if err := f.Sync(); err != nil {
		return errors.Join(err, f.Close())
	}
	return f.Close()
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
