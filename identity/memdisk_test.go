package identity

import (
	"errors"
	"io/fs"
	"maps"
	"slices"
)

var errFault = errors.New("disk fault")

// memDisk is a disk that forgets, at a crash, what was not synced, and fails where it is told to.
type memDisk struct {
	current map[string]*inode // the folder as programs see it
	durable map[string]*inode // the folder as a crash leaves it
	steps   int               // steps done so far
	fault   int               // the step that fails, counted from 1; 0: none
	forever bool              // every later step fails as well: the machine is gone
	half    bool              // a write that fails has written half
}

type inode struct{ data, synced []byte }

func newMemDisk() *memDisk {
	return &memDisk{current: map[string]*inode{}, durable: map[string]*inode{}}
}

// step counts and reports the fault that is due.
func (d *memDisk) step() error {
	d.steps++
	if d.fault > 0 && (d.steps == d.fault || d.forever && d.steps > d.fault) {
		return errFault
	}
	return nil
}

// crash returns the disk after a loss of power. renamed says whether folder changes that were not synced made it.
func (d *memDisk) crash(renamed bool) *memDisk {
	folder := d.durable
	if renamed {
		folder = d.current
	}
	after := newMemDisk()
	for name, n := range folder {
		kept := &inode{data: slices.Clone(n.synced), synced: slices.Clone(n.synced)}
		after.current[name], after.durable[name] = kept, kept
	}
	return after
}

// copy returns an equal disk without faults.
func (d *memDisk) copy() *memDisk {
	after := newMemDisk()
	for name, n := range d.current {
		kept := &inode{data: slices.Clone(n.data), synced: slices.Clone(n.synced)}
		after.current[name] = kept
		if d.durable[name] == n {
			after.durable[name] = kept
		}
	}
	return after
}

func (d *memDisk) read(name string, _ int64) ([]byte, fs.FileMode, error) {
	n, ok := d.current[name]
	if !ok {
		return nil, 0, fs.ErrNotExist
	}
	return slices.Clone(n.data), 0o600, nil
}

func (d *memDisk) create(name string) (file, error) {
	if err := d.step(); err != nil {
		return nil, err
	}
	if _, there := d.current[name]; there {
		return nil, fs.ErrExist
	}
	n := &inode{}
	d.current[name] = n
	return &memFile{disk: d, inode: n}, nil
}

func (d *memDisk) rename(from, to string) error {
	if err := d.step(); err != nil {
		return err
	}
	n, ok := d.current[from]
	if !ok {
		return fs.ErrNotExist
	}
	delete(d.current, from)
	d.current[to] = n
	return nil
}

func (d *memDisk) remove(name string) error {
	if err := d.step(); err != nil {
		return err
	}
	if _, ok := d.current[name]; !ok {
		return fs.ErrNotExist
	}
	delete(d.current, name)
	return nil
}

func (d *memDisk) sync() error {
	if err := d.step(); err != nil {
		return err
	}
	d.durable = maps.Clone(d.current)
	return nil
}

type memFile struct {
	disk  *memDisk
	inode *inode
}

func (f *memFile) Write(p []byte) (int, error) {
	if err := f.disk.step(); err != nil {
		if f.disk.half {
			f.inode.data = append(f.inode.data, p[:len(p)/2]...)
			f.inode.synced = slices.Clone(f.inode.data) // the worst: the half is what stays
		}
		return 0, err
	}
	f.inode.data = append(f.inode.data, p...)
	return len(p), nil
}

func (f *memFile) Sync() error {
	if err := f.disk.step(); err != nil {
		return err
	}
	f.inode.synced = slices.Clone(f.inode.data)
	return nil
}

func (f *memFile) Close() error { return f.disk.step() }
