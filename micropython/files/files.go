// Package files is what a program sees as its file system.
//
// # Model
//
// A [Tree] answers the file calls of the engine's C library. /lib and board.py are here in memory and read-only; /flash is the guard's,
// and every use of it is one [hw.Call] through the Ask of [Host]. No path leads to the files of the process's own system. One
// program runs at a time, on one goroutine, and a Tree is used on that one alone.
//
// # What it refuses
//
// Changes outside of /flash, bytecode files (.mpy), which the engine would run unchecked, and more open files than limits.VMOpenFiles. Addresses
// that the engine passes are looked up in its memory and answered with an error number when they lie outside.
package files

import (
	"bytes"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"time"

	"github.com/pal-terminal/pal/hw"
)

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

	efault       = 14
	enametoolong = 36
	enosys       = 38
)

// node is a file or a folder of the library. All of them are read-only.
type node struct {
	children map[string]*node // nil for a file
	data     []byte
	ino      uint64
	mtime    time.Time
}

func (n *node) isDir() bool { return n.children != nil }

// Host is what a [Tree] needs of the machine that it belongs to.
type Host struct {
	Ask    func(hw.Call) *hw.Reply      // makes a call to the guard; the answer is good until the next
	Print  func(to hw.Stream, p []byte) // takes what is written to standard output and error
	Source func(code string) string     // turns a module's text into what the engine compiles
}

// Tree is the file system of a program.
type Tree struct {
	host     Host
	root     *node
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

// New makes a tree without a library. Programs start in /flash.
func New(host Host) *Tree {
	t := &Tree{host: host, cwd: flashRoot, open: map[int32]*handle{}}
	t.root = t.folder()
	t.root.children["flash"] = t.folder() // for the listing of /
	t.root.children["lib"] = t.folder()
	return t
}

func (t *Tree) folder() *node {
	t.inodes++
	return &node{children: map[string]*node{}, ino: t.inodes, mtime: time.Now()}
}

func (t *Tree) file(data []byte) *node {
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

// AddLibrary puts what is in the folder lib of library into /lib. Call it once, before the first program runs.
func (t *Tree) AddLibrary(library fs.FS) error {
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
		data, err := fs.ReadFile(library, p)
		if err != nil {
			return fmt.Errorf("read the guest library: %w", err)
		}
		parent.children[path.Base(rel)] = t.file(data)
		return nil
	})
}

// SetBoard makes source readable as board.py, at the root and in the working folder that programs start in.
func (t *Tree) SetBoard(source []byte) {
	t.root.children["board.py"] = t.file(bytes.Clone(source))
}

// Begin starts a job: what was read ahead before it is not trusted, and handles of earlier jobs may be taken back. Jobs have rising
// numbers, which may begin again at 0.
func (t *Tree) Begin(job uint32) { t.job, t.fault = job, hw.Reply{} }

// abs makes p absolute and clean; .. never leads above the root.
func (t *Tree) abs(p string) string {
	if !strings.HasPrefix(p, "/") {
		p = t.cwd + "/" + p
	}
	return path.Clean(p)
}

// local returns the node at the absolute path p, or an error number.
func (t *Tree) local(p string) (*node, int32) {
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
func (t *Tree) fixed(p string) int32 {
	if _, errno := t.local(p); errno == 0 {
		return erofs
	}
	if _, errno := t.local(path.Dir(p)); errno != 0 {
		return errno
	}
	return erofs
}
