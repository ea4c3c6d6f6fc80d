package crash

import (
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

// enter locks the disk for an operation on the file.
func (f *file) enter(op string) (leave func(), err error) {
	f.disk.mu.Lock()
	switch {
	case f.disk.cut:
		err = ErrCut
	case f.closed:
		err = fs.ErrClosed
	}
	return f.disk.mu.Unlock, fail(op, f.name, err)
}

func (f *file) ReadAt(p []byte, off int64) (int, error) {
	leave, err := f.enter("read")
	defer leave()
	if err != nil {
		return 0, err
	}
	if off < 0 {
		return 0, fail("read", f.name, fs.ErrInvalid)
	}
	n := copy(p, f.inode.seen[min(off, int64(len(f.inode.seen))):])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// WriteAt writes what there is room for.
func (f *file) WriteAt(p []byte, off int64) (int, error) {
	leave, err := f.enter("write")
	defer leave()
	d, i := f.disk, f.inode
	switch {
	case err != nil:
		return 0, err
	case off < 0:
		return 0, fail("write", f.name, fs.ErrInvalid)
	case d.readOnly:
		return 0, fail("write", f.name, syscall.EROFS)
	case len(p) == 0:
		return 0, nil
	}
	room, full := d.room, error(nil)
	if d.full {
		room = 0
	}
	if most := max(0, i.allocated+room-off); room >= 0 && int64(len(p)) > most {
		p, full = p[:most], syscall.ENOSPC
	}
	if len(p) > 0 {
		err = d.step()
		w := write{at: off, data: slices.Clone(p)}
		if end := off + int64(len(p)); end > i.allocated {
			d.give(i.allocated - end)
			i.allocated = end
		}
		i.seen, i.pending = w.apply(i.seen), append(i.pending, w)
	}
	if err != nil {
		return 0, fail("write", f.name, err)
	}
	return len(p), fail("write", f.name, full)
}

func (f *file) Truncate(size int64) error {
	leave, err := f.enter("truncate")
	defer leave()
	d, i := f.disk, f.inode
	switch {
	case err != nil:
		return err
	case size < 0:
		return fail("truncate", f.name, fs.ErrInvalid)
	case d.readOnly:
		return fail("truncate", f.name, syscall.EROFS)
	case size == int64(len(i.seen)):
		return nil
	}
	err = d.step()
	if size < i.allocated {
		d.give(i.allocated - size)
		i.allocated = size
	}
	w := write{at: size}
	i.seen, i.pending = w.apply(i.seen), append(i.pending, w)
	return fail("truncate", f.name, err)
}

// Sync makes what was written durable.
func (f *file) Sync() error {
	leave, err := f.enter("sync")
	defer leave()
	if err != nil {
		return err
	}
	d, i := f.disk, f.inode
	if err := d.sync(len(i.pending) > 0); err != nil {
		if !d.cut && !d.readOnly {
			i.disk, i.pending = settle(d.rng, chance(d.rng), i.disk, i.pending), nil
		}
		return fail("sync", f.name, err)
	}
	for _, w := range i.pending {
		i.disk = w.apply(i.disk)
	}
	i.pending = nil
	return nil
}

func (f *file) Size() (int64, error) {
	leave, err := f.enter("size")
	defer leave()
	return int64(len(f.inode.seen)), err
}

func (f *file) Close() error {
	leave, err := f.enter("close")
	defer leave()
	f.closed = true
	return err
}
