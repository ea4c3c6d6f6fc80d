package crash

import (
	"errors"
	"io"
	"io/fs"
	"slices"
	"syscall"
)

// file is an open file. It stays what it is when its name goes.
type file struct {
	disk   *Disk
	name   string
	inode  *inode
	closed bool
}

// do runs an operation; at must not be before the beginning.
func (f *file) do(op string, at int64, g func(d *Disk, i *inode) error) error {
	return f.disk.do(op, f.name, func() error {
		switch {
		case f.closed:
			return fs.ErrClosed
		case at < 0:
			return fs.ErrInvalid
		}
		return g(f.disk, f.inode)
	})
}

func (f *file) ReadAt(p []byte, off int64) (n int, err error) {
	err = f.do("read", off, func(_ *Disk, i *inode) error {
		n = copy(p, i.seen[min(off, int64(len(i.seen))):])
		return nil
	})
	if err == nil && n < len(p) {
		err = io.EOF
	}
	return n, err
}

// WriteAt writes what there is room for.
func (f *file) WriteAt(p []byte, off int64) (n int, err error) {
	err = f.do("write", off, func(d *Disk, i *inode) (full error) {
		if d.readOnly {
			return syscall.EROFS
		}
		room := d.room
		if d.full {
			room = 0
		}
		if most := max(0, i.allocated+room-off); room >= 0 && int64(len(p)) > most {
			p, full = p[:most], syscall.ENOSPC
		}
		if len(p) == 0 {
			return full
		}
		n = len(p)
		return errors.Join(i.write(d, write{off, slices.Clone(p)}), full)
	})
	return n, err
}

func (f *file) Truncate(size int64) error {
	return f.do("truncate", size, func(d *Disk, i *inode) error {
		if d.readOnly {
			return syscall.EROFS
		}
		if size == int64(len(i.seen)) {
			return nil
		}
		return i.write(d, write{at: size})
	})
}

// write changes what programs see of a file.
func (i *inode) write(d *Disk, w write) error {
	end := w.at + int64(len(w.data))
	if grown := end - i.allocated; w.data != nil == (grown > 0) {
		d.take(grown)
		i.allocated = end
	}
	i.seen, i.pending = w.apply(i.seen), append(i.pending, w)
	return d.step()
}

// Sync makes what was written durable.
func (f *file) Sync() error {
	return f.do("sync", 0, func(d *Disk, i *inode) error {
		err, keep := d.sync(len(i.pending) > 0), 1.0
		if errors.Is(err, syscall.EIO) {
			keep = chance(d.rng)
		} else if err != nil {
			return err
		}
		i.disk, i.pending = settle(d.rng, keep, i.disk, i.pending), nil
		return err
	})
}

func (f *file) Size() (n int64, err error) {
	err = f.do("size", 0, func(_ *Disk, i *inode) error {
		n = int64(len(i.seen))
		return nil
	})
	return n, err
}

func (f *file) Close() error {
	return f.do("close", 0, func(*Disk, *inode) error {
		f.closed = true
		return nil
	})
}
