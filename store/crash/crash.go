// Package crash is a [store.Disk] in memory that loses power: for tests.
//
// # Model
//
// The disk keeps apart what programs see and what lies on it. File.Sync moves a file's writes over, Disk.Sync the names of a folder. At
// a cut each write that was not synced is kept, lost, or torn, at a byte or between sectors, and a file may have grown without
// its bytes; each name that was not synced is kept or lost, within a folder only after those before it ([Disk.Unordered] drops this).
// A name may be kept whose bytes were lost: syncing a file is not syncing its folder, nor the reverse. A folder that is lost loses what
// is in it. A rename is whole. Everything follows from seeds.
//
// After a Sync that failed, the writes before it are as after a cut, and a later Sync does not bring them back; programs go on seeing
// them. This is what Linux does.
package crash

import (
	"errors"
	"io/fs"
	"maps"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/pal-terminal/pal/store"
)

// ErrCut is the error of every operation at and after the cut.
var ErrCut = errors.New("the power is cut")

const sector = 512

// Disk is a disk in memory.
type Disk struct {
	mu      sync.Mutex
	rng     *rand.Rand
	seen    map[string]*inode
	durable map[string]*inode
	pending []change

	ops, left                 int // left is negative when no cut is planned
	cut                       bool
	full, readOnly, unordered bool
	room                      int64 // negative: no end
	failSyncs                 int
}

// inode is a file, or a folder, which has no bytes.
type inode struct {
	folder     bool
	seen, disk []byte
	pending    []write
	allocated  int64 // bytes below it have their place; what a Truncate added has not
}

// change is one step of names. A nil inode removes.
type change []entry

type entry struct {
	name string
	to   *inode
}

// write is one write, or without data a change of the size to at.
type write struct {
	at   int64
	data []byte
}

// New returns an empty disk. The seed settles what a failed Sync leaves.
func New(seed uint64) *Disk {
	return &Disk{rng: rand.New(rand.NewPCG(seed, 0)), seen: map[string]*inode{}, durable: map[string]*inode{}, left: -1, room: -1}
}

// CutAfter lets n more operations that change or sync something succeed. The next one is under way when the power goes: it fails,
// and what it did is kept, torn or lost. Everything after it fails, reading too.
func (d *Disk) CutAfter(n int) { d.set(func() { d.left = n }) }

// Ops is how many operations changed or synced something until now.
func (d *Disk) Ops() (n int) { d.set(func() { n = d.ops }); return n }

// Full makes the disk full: nothing is created and no file grows. Bytes that have their place can be overwritten and synced.
func (d *Disk) Full(full bool) { d.set(func() { d.full = full }) }

// Room leaves room for n more bytes; a negative number is no end. What is removed gives room back.
func (d *Disk) Room(n int64) { d.set(func() { d.room = n }) }

// ReadOnly makes the disk read-only.
func (d *Disk) ReadOnly(readOnly bool) { d.set(func() { d.readOnly = readOnly }) }

// FailSync makes the next n syncs fail, of files and folders.
func (d *Disk) FailSync(n int) { d.set(func() { d.failSyncs = n }) }

// Unordered makes names that were not synced be kept or lost each by itself.
func (d *Disk) Unordered(unordered bool) { d.set(func() { d.unordered = unordered }) }

func (d *Disk) set(f func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	f()
}

// Restart returns what a machine finds when power came back, now. It changes nothing of d, so that other seeds can be tried.
func (d *Disk) Restart(seed uint64) *Disk {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := New(seed)
	n.unordered = d.unordered
	names, keep, stopped := maps.Clone(d.durable), chance(n.rng), map[string]bool{}
	for _, c := range d.pending {
		kept := n.rng.Float64() < keep
		for _, s := range c {
			kept = kept && (d.unordered || !stopped[folderOf(s.name)])
		}
		for _, s := range c {
			if kept {
				apply(names, s.name, s.to)
			} else {
				stopped[folderOf(s.name)] = true
			}
		}
	}
	fresh, keep := map[*inode]*inode{}, chance(n.rng)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		old, dir := names[name], folderOf(name)
		if dir != "" && (names[dir] == nil || !names[dir].folder) {
			continue
		}
		if fresh[old] == nil {
			b := settle(n.rng, keep, old.disk, old.pending)
			fresh[old] = &inode{folder: old.folder, seen: b, disk: slices.Clone(b), allocated: int64(len(b))}
		}
		n.seen[name] = fresh[old]
	}
	n.durable = maps.Clone(n.seen)
	return n
}

// chance is how likely what was not synced is kept: one cut loses all of it, another none, most some.
func chance(rng *rand.Rand) float64 { return []float64{0, 1, 0.5, 0.5, 0.8, 0.2}[rng.IntN(6)] }

// settle is what a cut leaves of a file.
func settle(rng *rand.Rand, keep float64, disk []byte, pending []write) []byte {
	disk = slices.Clone(disk)
	for _, w := range pending {
		if rng.Float64() < keep {
			disk = w.apply(disk)
			continue
		}
		if n := len(w.data); n > 0 && keep > 0 {
			switch rng.IntN(4) {
			case 0: // the head was written
				disk = write{at: w.at, data: w.data[:rng.IntN(n)]}.apply(disk)
			case 1: // the tail was
				from := rng.IntN(n)
				disk = write{at: w.at + int64(from), data: w.data[from:]}.apply(disk)
			case 2: // some sectors were
				for from := 0; from < n; {
					to := min(n, from+sector-int((w.at+int64(from))%sector))
					if rng.IntN(2) == 0 {
						disk = write{at: w.at + int64(from), data: w.data[from:to]}.apply(disk)
					}
					from = to
				}
			}
			if end := w.at + int64(n); rng.IntN(4) == 0 && end > int64(len(disk)) { // the size was
				disk = write{at: end}.apply(disk)
			}
		}
	}
	return disk
}

func (w write) apply(b []byte) []byte {
	if end := w.at + int64(len(w.data)); end > int64(len(b)) {
		b = append(b, make([]byte, end-int64(len(b)))...)
	}
	if w.data == nil {
		return b[:w.at]
	}
	copy(b[w.at:], w.data)
	return b
}

func apply(names map[string]*inode, name string, to *inode) {
	if to == nil {
		delete(names, name)
		return
	}
	names[name] = to
}

func folderOf(name string) string { return strings.TrimSuffix(path.Dir(name), ".") }

// step admits an operation that changes or syncs something. It may have its effect also when it is the one that is cut.
func (d *Disk) step() error {
	d.ops++
	if d.left == 0 {
		d.cut = true
		return ErrCut
	}
	d.left--
	return nil
}

// find checks a name and the folder it is in. It returns nil for a file that is not there.
func (d *Disk) find(name string) (*inode, error) {
	switch dir := folderOf(name); {
	case d.cut:
		return nil, ErrCut
	case !store.Valid(name):
		return nil, fs.ErrInvalid
	case dir != "" && (d.seen[dir] == nil || !d.seen[dir].folder):
		return nil, fs.ErrNotExist
	}
	return d.seen[name], nil
}

// rename carries out a change of names.
func (d *Disk) rename(c change) error {
	if d.readOnly {
		return syscall.EROFS
	}
	err := d.step()
	for _, s := range c {
		if old := d.seen[s.name]; old != nil && s.to == nil && len(c) == 1 || old != nil && s.to != nil {
			d.give(old.allocated)
		}
		apply(d.seen, s.name, s.to)
	}
	d.pending = append(d.pending, c)
	return err
}

func (d *Disk) give(bytes int64) {
	if d.room >= 0 {
		d.room += bytes
	}
}

func fail(op, name string, err error) error {
	if err == nil {
		return nil
	}
	return &fs.PathError{Op: op, Path: name, Err: err}
}

// Open opens a file.
func (d *Disk) Open(name string, create bool) (store.File, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	i, err := d.find(name)
	switch {
	case err != nil:
	case i == nil && !create:
		err = fs.ErrNotExist
	case i == nil && d.full && !d.readOnly:
		err = syscall.ENOSPC
	case i == nil:
		i = &inode{}
		err = d.rename(change{{name, i}})
	case i.folder:
		err = syscall.EISDIR
	}
	if err != nil {
		return nil, fail("open", name, err)
	}
	return &file{disk: d, name: name, inode: i}, nil
}

// Rename puts a file in the place of another.
func (d *Disk) Rename(from, to string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	i, err := d.find(from)
	old, toErr := d.find(to)
	switch {
	case err != nil || toErr != nil:
		err = errors.Join(err, toErr)
	case i == nil:
		err = fs.ErrNotExist
	case i.folder || old != nil && old.folder:
		err = syscall.EISDIR
	case i != old:
		err = d.rename(change{{from, nil}, {to, i}})
	}
	return fail("rename", from, err)
}

// Remove removes a file.
func (d *Disk) Remove(name string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	i, err := d.find(name)
	switch {
	case err != nil:
	case i == nil:
		err = fs.ErrNotExist
	case i.folder:
		err = syscall.EISDIR
	default:
		err = d.rename(change{{name, nil}})
	}
	return fail("remove", name, err)
}

// List names the files of a folder.
func (d *Disk) List(dir string) ([]string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.cut || dir != "" && (!store.Valid(dir) || strings.Contains(dir, "/")) {
		_, err := d.find(dir)
		return nil, fail("list", dir, errors.Join(err, fs.ErrInvalid))
	}
	var names []string
	for name, i := range d.seen {
		if !i.folder && folderOf(name) == dir {
			names = append(names, path.Base(name))
		}
	}
	slices.Sort(names)
	return names, nil
}

// Mkdir makes a folder.
func (d *Disk) Mkdir(dir string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	i, err := d.find(dir)
	switch {
	case err != nil:
	case strings.Contains(dir, "/"):
		err = fs.ErrInvalid
	case i != nil && !i.folder:
		err = syscall.ENOTDIR
	case i == nil && d.full && !d.readOnly:
		err = syscall.ENOSPC
	case i == nil:
		err = d.rename(change{{dir, &inode{folder: true}}})
	}
	return fail("mkdir", dir, err)
}

// Sync makes the names of a folder durable, and with a rename between two folders what came before it in the other.
func (d *Disk) Sync(dir string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if dir != "" {
		if i, err := d.find(dir); err != nil || i == nil || !i.folder {
			return fail("sync", dir, errors.Join(err, fs.ErrNotExist))
		}
	}
	folders, now := map[string]bool{dir: true}, make([]bool, len(d.pending))
	for n, c := range slices.Backward(d.pending) {
		now[n] = slices.ContainsFunc(c, func(s entry) bool { return folders[folderOf(s.name)] })
		for _, s := range c {
			folders[folderOf(s.name)] = folders[folderOf(s.name)] || now[n]
		}
	}
	if err := d.sync(slices.Contains(now, true)); err != nil {
		return fail("sync", dir, err)
	}
	var rest []change
	for n, c := range d.pending {
		if !now[n] {
			rest = append(rest, c)
			continue
		}
		for _, s := range c {
			apply(d.durable, s.name, s.to)
		}
	}
	d.pending = rest
	return nil
}

// sync admits a sync, of something or of nothing.
func (d *Disk) sync(something bool) error {
	if d.cut {
		return ErrCut
	}
	if d.readOnly && something {
		return syscall.EROFS
	}
	if err := d.step(); err != nil {
		return err
	}
	if d.failSyncs > 0 {
		d.failSyncs--
		return syscall.EIO
	}
	return nil
}

// Free returns the room there is.
func (d *Disk) Free() (n int64, err error) {
	d.set(func() {
		switch n = d.room; {
		case d.cut:
			err = ErrCut
		case d.full:
			n = 0
		case n < 0:
			n = 1 << 40
		}
	})
	return n, err
}
