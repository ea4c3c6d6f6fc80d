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

	ops, left                 int // the cut is when left becomes 0
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

// change is one step of names, whole. A nil inode removes.
type change []entry

type entry struct {
	name string
	to   *inode
}

func (c change) apply(names map[string]*inode) {
	for _, e := range c {
		if names[e.name] = e.to; e.to == nil {
			delete(names, e.name)
		}
	}
}

func (c change) touches(folders map[string]bool) bool {
	return slices.ContainsFunc(c, func(e entry) bool { return folders[folderOf(e.name)] })
}

func (c change) mark(folders map[string]bool) {
	for _, e := range c {
		folders[folderOf(e.name)] = true
	}
}

// write is one write, or without data a change of the size to at.
type write struct {
	at   int64
	data []byte
}

// New returns an empty disk. The seed settles what a failed Sync leaves.
func New(seed uint64) *Disk {
	return &Disk{rng: rand.New(rand.NewPCG(seed, 0)), seen: map[string]*inode{}, durable: map[string]*inode{}, room: -1}
}

// CutAfter lets n more operations that change or sync something succeed. The next one is under way when the power goes: it fails,
// and what it did is kept, torn or lost. Everything after it fails, reading too.
func (d *Disk) CutAfter(n int) { d.set(func() { d.left = n + 1 }) }

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
		if n.rng.Float64() < keep && (d.unordered || !c.touches(stopped)) {
			c.apply(names)
		} else {
			c.mark(stopped)
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
		} else if len(w.data) > 0 && keep > 0 && rng.IntN(4) > 0 {
			disk = w.tear(rng, disk)
		}
	}
	return disk
}

// tear keeps some of a write: of its sectors, and of the parts of one of them. Half the time nothing after the first loss is kept, as
// of a file that is written from its beginning.
func (w write) tear(rng *rand.Rand, disk []byte) []byte {
	n, inOrder, lost := len(w.data), rng.IntN(2) == 0, false
	within, much := rng.IntN(n), rng.Float64()
	for from, to := 0, 0; from < n; from = to {
		if to = min(n, from+sector-int((w.at+int64(from))%sector)); from < within && within < to {
			to = within
		}
		if lost = rng.Float64() > much || inOrder && lost; !lost {
			disk = write{at: w.at + int64(from), data: w.data[from:to]}.apply(disk)
		}
	}
	if end := w.at + int64(n); rng.IntN(4) == 0 && end > int64(len(disk)) { // only the size was written
		disk = write{at: end}.apply(disk)
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

func folderOf(name string) string { return strings.TrimSuffix(path.Dir(name), ".") }

// do runs an operation under the lock and names it in its error.
func (d *Disk) do(op, name string, f func() error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	err := ErrCut
	if !d.cut {
		err = f()
	}
	if err == nil {
		return nil
	}
	return &fs.PathError{Op: op, Path: name, Err: err}
}

// step counts an operation that changes or syncs something. The one that is cut has its effect all the same, as far as it is kept.
func (d *Disk) step() error {
	d.ops++
	d.left--
	if d.cut = d.left == 0; d.cut {
		return ErrCut
	}
	return nil
}

func (d *Disk) isFolder(dir string) bool {
	return dir == "" || d.seen[dir] != nil && d.seen[dir].folder
}

// find returns the file of a name. One that is not there is nil when it may be made.
func (d *Disk) find(name string, create bool) (*inode, error) {
	i := d.seen[name]
	switch {
	case !store.Valid(name):
		return nil, fs.ErrInvalid
	case !d.isFolder(folderOf(name)) || i == nil && !create:
		return nil, fs.ErrNotExist
	case i != nil && i.folder:
		return nil, syscall.EISDIR
	}
	return i, nil
}

// change carries out a change of names.
func (d *Disk) change(c change) error {
	if d.readOnly {
		return syscall.EROFS
	}
	if d.full && len(c) == 1 && c[0].to != nil {
		return syscall.ENOSPC
	}
	if old := d.seen[c[len(c)-1].name]; old != nil { // removed or replaced
		d.take(-old.allocated)
	}
	c.apply(d.seen)
	d.pending = append(d.pending, c)
	return d.step()
}

func (d *Disk) take(bytes int64) {
	if d.room >= 0 {
		d.room -= bytes
	}
}

// Open opens a file.
func (d *Disk) Open(name string, create bool) (store.File, error) {
	f := &file{disk: d, name: name}
	err := d.do("open", name, func() (err error) {
		if f.inode, err = d.find(name, create); err != nil || f.inode != nil {
			return err
		}
		f.inode = &inode{}
		return d.change(change{{name, f.inode}})
	})
	if err != nil {
		return nil, err
	}
	return f, nil
}

// Rename puts a file in the place of another.
func (d *Disk) Rename(from, to string) error {
	return d.do("rename", from, func() error {
		i, err := d.find(from, false)
		old, toErr := d.find(to, true)
		if err = errors.Join(err, toErr); err != nil || i == old {
			return err
		}
		return d.change(change{{from, nil}, {to, i}})
	})
}

// Remove removes a file.
func (d *Disk) Remove(name string) error {
	return d.do("remove", name, func() error {
		if _, err := d.find(name, false); err != nil {
			return err
		}
		return d.change(change{{name, nil}})
	})
}

// List names the files of a folder.
func (d *Disk) List(dir string) (names []string, err error) {
	err = d.do("list", dir, func() error {
		for name, i := range d.seen {
			if !i.folder && folderOf(name) == dir {
				names = append(names, path.Base(name))
			}
		}
		return nil
	})
	slices.Sort(names)
	return names, err
}

// Mkdir makes a folder.
func (d *Disk) Mkdir(dir string) error {
	return d.do("mkdir", dir, func() error {
		switch i, err := d.find(dir, true); {
		case strings.Contains(dir, "/"):
			return fs.ErrInvalid
		case i != nil:
			return syscall.ENOTDIR
		case errors.Is(err, syscall.EISDIR):
			return nil
		case err != nil:
			return err
		}
		return d.change(change{{dir, &inode{folder: true}}})
	})
}

// Sync makes the names of a folder durable, and with a rename between two folders what came before it in the other.
func (d *Disk) Sync(dir string) error {
	return d.do("sync", dir, func() error {
		if !d.isFolder(dir) {
			return fs.ErrNotExist
		}
		folders := map[string]bool{dir: true}
		var now, rest []change
		for _, c := range slices.Backward(d.pending) {
			if !c.touches(folders) {
				rest = append(rest, c)
				continue
			}
			c.mark(folders)
			now = append(now, c)
		}
		if err := d.sync(len(now) > 0); err != nil {
			return err
		}
		for _, c := range slices.Backward(now) {
			c.apply(d.durable)
		}
		slices.Reverse(rest)
		d.pending = rest
		return nil
	})
}

// sync admits a sync, of something or of nothing.
func (d *Disk) sync(something bool) error {
	if d.readOnly && something {
		return syscall.EROFS
	}
	if d.failSyncs > 0 {
		d.failSyncs--
		return errors.Join(d.step(), syscall.EIO)
	}
	return d.step()
}

// Free returns the room there is.
func (d *Disk) Free() (n int64, err error) {
	err = d.do("free", "", func() error {
		switch n = d.room; {
		case d.full:
			n = 0
		case n < 0:
			n = 1 << 40
		}
		return nil
	})
	return n, err
}
