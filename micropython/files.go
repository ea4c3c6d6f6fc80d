package micropython

import (
	"bytes"
	"embed"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"time"

	"github.com/pal-terminal/pal/hw"
)

// The guest library: what a program finds in /lib.
//
//go:embed lib/*.py lib/machine/*.py
var library embed.FS

// POSIX error numbers as MicroPython's errno module has them; the engine's C library would use others. 27 (EFBIG) must not
// be among them: it is that library's EINTR, upon which the engine tries again for ever.
const (
	enoent  = 2
	eio     = 5
	ebadf   = 9
	eacces  = 13
	eexist  = 17
	enotdir = 20
	eisdir  = 21
	einval  = 22
	emfile  = 24
	efbig   = 27
	enospc  = 28
	espipe  = 29
	erofs   = 30
)

// node is a file or a folder of the library. All of them are read-only.
type node struct {
	children map[string]*node // nil for a file
	data     []byte
	ino      uint64
	mtime    time.Time
}

func (n *node) isDir() bool { return n.children != nil }

// tree is the file system that a program sees: /lib and board.py, which are here in memory and read-only, and /flash, which the guard
// keeps (flash.go). No path leads to the host's files.
type tree struct {
	root     *node
	ask      func(hw.Call) *hw.Reply // the guard
	cwd      string
	inodes   uint64
	job      uint32 // the one that runs
	open     map[int32]*handle
	lastFD   int32
	lastStat [2]string // the two latest paths asked about: an import asks for X, then X.py, then opens X.py
	changes  uint32    // made by this machine to what the guard keeps: what was read ahead before one is not trusted
	fault    hw.Reply  // the guard's latest refusal, for the text that an error number has no room for
	faultAt  string    // its path
}

func newTree(ask func(hw.Call) *hw.Reply) *tree {
	t := &tree{cwd: flashRoot, ask: ask, open: map[int32]*handle{}}
	t.root = t.folder()
	t.root.children["flash"] = t.folder() // for the listing of /
	t.root.children["lib"] = t.folder()
	return t
}

func (t *tree) folder() *node {
	t.inodes++
	return &node{children: map[string]*node{}, ino: t.inodes, mtime: time.Now()}
}

func (t *tree) file(data []byte) *node {
	t.inodes++
	return &node{data: data, ino: t.inodes, mtime: time.Now()}
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
	own := t.folder()
	lib.children[ownFolder] = own
	return fs.WalkDir(library, "lib", func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return fmt.Errorf("read the guest library: %w", err)
		}
		rel := strings.TrimPrefix(strings.TrimPrefix(p, "lib"), "/")
		if rel == "" || strings.HasPrefix(rel, "driver") { // the driver is not for programs to read or import
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
			parent.children[path.Base(rel)] = t.folder()
			return nil
		}
		data, err := library.ReadFile(p)
		if err != nil {
			return fmt.Errorf("read the guest library: %w", err)
		}
		parent.children[path.Base(rel)] = t.file(data)
		return nil
	})
}

// setBoard makes source readable as board.py, at the root and in the working folder that programs start in.
func (t *tree) setBoard(source []byte) {
	t.root.children["board.py"] = t.file(bytes.Clone(source))
}

// abs makes p absolute and clean; .. never leads above the root.
func (t *tree) abs(p string) string {
	if !strings.HasPrefix(p, "/") {
		p = t.cwd + "/" + p
	}
	return path.Clean(p)
}

// local returns the node at the absolute path p, or an error number.
func (t *tree) local(p string) (*node, int32) {
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

// fixed is the answer to whoever wants to change something outside of /flash.
func (t *tree) fixed(p string) int32 {
	if _, errno := t.local(p); errno == 0 {
		return erofs
	}
	if _, errno := t.local(path.Dir(p)); errno != 0 {
		return errno
	}
	return erofs
}
