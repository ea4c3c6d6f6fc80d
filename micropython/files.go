package micropython

import (
	"bytes"
	"embed"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"time"

	"github.com/pal-terminal/pal/limits"
)

// The guest library: what a program finds in /lib.
//
//go:embed lib/*.py lib/machine/*.py
var library embed.FS

// POSIX error numbers as MicroPython's errno module has them; the engine's C library would use others. 27 (EFBIG) must not
// be among them: it is that library's EINTR, upon which the engine tries again for ever.
const (
	enoent    = 2
	ebadf     = 9
	eacces    = 13
	eexist    = 17
	enotdir   = 20
	eisdir    = 21
	einval    = 22
	emfile    = 24
	enospc    = 28
	espipe    = 29
	erofs     = 30
	enotempty = 39
)

// node is a file or a folder of the tree.
type node struct {
	children map[string]*node // nil for a file
	data     []byte
	fixed    bool // read-only, with everything in it
	gone     bool // removed: an open handle sees an empty file that cannot be written
	ino      uint64
	mtime    time.Time
}

func (n *node) isDir() bool { return n.children != nil }

// tree is the file system a program sees, all of it in memory: /lib and board.py to read, /flash to write, within
// limits.FlashBytes. No path leads to the host's files.
type tree struct {
	root, flash *node
	cwd         string
	inodes      uint64
	job         uint32 // the one that runs
	used        int    // bytes in /flash
	nodes       int    // files and folders in /flash
	open        map[int32]*handle
	lastFD      int32
	lastStat    [2]string // the two latest paths asked about: an import asks for X, then X.py, then opens X.py
}

func newTree() *tree {
	t := &tree{cwd: "/flash", open: map[int32]*handle{}}
	t.root = t.folder(true)
	t.flash = t.folder(false)
	t.root.children["flash"] = t.flash
	t.root.children["lib"] = t.folder(true)
	return t
}

func (t *tree) folder(fixed bool) *node {
	t.inodes++
	return &node{children: map[string]*node{}, fixed: fixed, ino: t.inodes, mtime: time.Now()}
}

func (t *tree) file(data []byte, fixed bool) *node {
	t.inodes++
	return &node{data: data, fixed: fixed, ino: t.inodes, mtime: time.Now()}
}

// ownFolder holds the part of the library that no file of a program's takes the place of: it comes first on the search path. The
// rest of it, in /lib, comes last, as what is built into a board does.
const ownFolder = "pal"

// isOwn says that a module of the library belongs to the guard's side: what else would have that name is another thing.
func isOwn(name string) bool {
	name, _, _ = strings.Cut(name, "/")
	switch name = strings.TrimSuffix(name, ".py"); name {
	case "asyncio", "bluetooth", "machine", "network", "select", "socket", "uasyncio", "ubluetooth", "usocket":
		return true
	}
	return strings.HasPrefix(name, "_")
}

// addLibrary puts the embedded library into /lib.
func (t *tree) addLibrary() error {
	lib := t.root.children["lib"]
	own := t.folder(true)
	lib.children[ownFolder] = own
	return fs.WalkDir(library, "lib", func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return fmt.Errorf("read the guest library: %w", err)
		}
		rel := strings.TrimPrefix(strings.TrimPrefix(p, "lib"), "/")
		if rel == "" || rel == "driver.py" { // the driver is not for programs to read or import
			return nil
		}
		parent := lib
		if isOwn(rel) {
			parent = own
		}
		if dir := path.Dir(rel); dir != "." {
			parent = parent.children[dir]
		}
		if d.IsDir() {
			parent.children[path.Base(rel)] = t.folder(true)
			return nil
		}
		data, err := library.ReadFile(p)
		if err != nil {
			return fmt.Errorf("read the guest library: %w", err)
		}
		parent.children[path.Base(rel)] = t.file(data, true)
		return nil
	})
}

// setBoard makes source readable as board.py, at the root and in the working folder.
func (t *tree) setBoard(source []byte) {
	n := t.file(append([]byte(nil), source...), true)
	t.root.children["board.py"] = n
	t.flash.children["board.py"] = n
}

// abs makes p absolute and clean; .. never leads above the root.
func (t *tree) abs(p string) string {
	if !strings.HasPrefix(p, "/") {
		p = t.cwd + "/" + p
	}
	return path.Clean(p)
}

// find returns the node at the absolute path p, or an error number.
func (t *tree) find(p string) (*node, int32) {
	n := t.root
	for part := range strings.SplitSeq(strings.Trim(p, "/"), "/") {
		if part == "" {
			continue
		}
		if !n.isDir() {
			return nil, enotdir
		}
		next := n.children[part]
		if next == nil {
			return nil, enoent
		}
		n = next
	}
	return n, 0
}

// parent returns the folder that p would be made in and p's last part.
func (t *tree) parent(p string) (*node, string, int32) {
	dir, base := path.Split(p)
	if base == "" {
		return nil, "", eexist // the root itself
	}
	n, errno := t.find(dir)
	switch {
	case errno != 0:
		return nil, "", errno
	case !n.isDir():
		return nil, "", enotdir
	case n.fixed:
		return nil, "", erofs
	case len(base) > limits.NameBytes:
		return nil, "", einval
	}
	return n, base, 0
}

// create makes an empty file.
func (t *tree) create(p string) (*node, int32) {
	dir, base, errno := t.parent(p)
	if errno != 0 {
		return nil, errno
	}
	if errno := t.mayName(base); errno != 0 {
		return nil, errno
	}
	n := t.file(nil, false)
	dir.children[base] = n
	t.nodes++
	return n, 0
}

// mayName refuses names that no file may have. A .mpy file is bytecode that the engine would run unchecked.
func (t *tree) mayName(base string) int32 {
	switch {
	case strings.HasSuffix(base, ".mpy"):
		return eacces
	case t.nodes >= limits.FlashFiles:
		return enospc
	}
	return 0
}

func (t *tree) mkdir(p string) int32 {
	if _, errno := t.find(p); errno == 0 {
		return eexist
	}
	dir, base, errno := t.parent(p)
	if errno != 0 {
		return errno
	}
	if errno := t.mayName(base); errno != 0 {
		return errno
	}
	dir.children[base] = t.folder(false)
	t.nodes++
	return 0
}

// remove deletes a file or, with dir, an empty folder.
func (t *tree) remove(p string, dir bool) int32 {
	n, errno := t.find(p)
	if errno != 0 {
		return errno
	}
	parent, base, errno := t.parent(p)
	switch {
	case errno != 0:
		return errno
	case n.fixed:
		return erofs
	case dir && !n.isDir():
		return enotdir
	case !dir && n.isDir():
		return eisdir
	case dir && len(n.children) > 0:
		return enotempty
	}
	delete(parent.children, base)
	t.used -= len(n.data)
	t.nodes--
	n.data, n.gone = nil, true // what is deleted must not hold memory that nobody counts
	return 0
}

func (t *tree) rename(from, to string) int32 {
	n, errno := t.find(from)
	if errno != 0 {
		return errno
	}
	source, oldBase, errno := t.parent(from)
	if errno != 0 {
		return errno
	}
	target, newBase, errno := t.parent(to)
	switch {
	case errno != 0:
		return errno
	case n.fixed:
		return erofs
	case strings.HasSuffix(newBase, ".mpy"):
		return eacces
	case to == from:
		return 0
	case strings.HasPrefix(to, from+"/"):
		return einval
	}
	if old := target.children[newBase]; old != nil {
		if errno := t.remove(to, n.isDir()); errno != 0 {
			return errno
		}
	}
	delete(source.children, oldBase)
	target.children[newBase] = n
	return 0
}

// resize sets a file's length within the limits.
func (t *tree) resize(n *node, size int) int32 {
	switch {
	case n.fixed:
		return erofs
	case n.gone:
		return enoent
	case size > limits.FileBytes, t.used+size-len(n.data) > limits.FlashBytes:
		return enospc
	}
	t.used += size - len(n.data)
	if size <= len(n.data) {
		n.data = bytes.Clone(n.data[:size]) // what was cut off is not counted and must not be kept
	} else {
		n.data = append(n.data, make([]byte, size-len(n.data))...)
	}
	n.mtime = time.Now()
	return 0
}
