// Package flash keeps the files that programs have under /flash, in a folder of the guard's, through replacements of the machine
// and restarts of the terminal.
//
// # Model
//
// A [Store] is a tree of folders and files within limits.FlashBytes and limits.FlashFiles. Programs reach it by hw.OpFile calls
// through [Store.Call], people and agents by the methods. Paths are absolute within /flash. Each file remembers the [Rights] of
// the code that last wrote it.
//
// All contents are in memory, so that looking never waits for a disk, and every change goes to the disk before it is seen. A
// whole file is replaced in one step ([Store.Write]); what a program appends is on the disk at once and durable a moment later
// (limits.FlashSync), or when it asks for that. Rights of less than [Full] are durable before the file that has them.
//
// # What it refuses
//
// Paths that leave the folder, by name or by link; .mpy files, which the engine would run unchecked; a file that is no regular
// file; more than the quota (ENOSPC). Code of fewer rights may not change a file written by code of more, and a .py file written
// by code of fewer rights cannot be read by code of more: an import would run the one with the rights of the other. When the
// record of rights is damaged, a file counts as written by the fewest when it is to be read and by the most when it is to be
// changed.
package flash

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/pal-terminal/pal/limits"
)

// Rights order the callers of the store by what their code may do with outputs. The higher may do all that the lower may.
type Rights uint8

// Rights.
const (
	Reading Rights = iota // may drive nothing
	Asking                // asks before high-danger drives
	Full

	lost Rights = 255 // the record of rights was damaged
)

// String returns the rights in words.
func (r Rights) String() string {
	switch r {
	case Reading:
		return "reading"
	case Asking:
		return "asking"
	case Full:
		return "full"
	default:
		return "lost"
	}
}

// Info is one entry of the tree.
type Info struct {
	Path   string // absolute: "/main.py"
	Folder bool
	Size   int64
	Time   time.Time
	Rights Rights
}

// POSIX error numbers as MicroPython has them.
const (
	eNOENT       = 2
	eIO          = 5
	eACCES       = 13
	eEXIST       = 17
	eNOTDIR      = 20
	eISDIR       = 21
	eINVAL       = 22
	eNOSPC       = 28
	eROFS        = 30
	eNAMETOOLONG = 36
	eNOTEMPTY    = 39
)

// Error is a refusal or a failure with its POSIX number.
type Error struct {
	Errno int
	Op    string
	Path  string
	Text  string
}

// Error implements error.
func (e *Error) Error() string { return e.Op + " " + e.Path + ": " + e.Text }

func fail(errno int, text string, args ...any) *Error {
	return &Error{Errno: errno, Text: fmt.Sprintf(text, args...)}
}

// named gives an error the words of who asked. A failure of the disk gets the number that a program would have got for it.
func named(op, path string, err error) error {
	if err == nil {
		return nil
	}
	own, ok := errors.AsType[*Error](err)
	if !ok {
		own = fail(number(err), "%v", err)
	}
	own.Op, own.Path = op, path
	return own
}

// Store is the tree. Its methods are safe from any goroutine. Looking never waits for the disk.
//
// Order of locks: syncing, writing, mu.
type Store struct {
	disk  disk
	stop  chan struct{} // closed by Close
	ended sync.WaitGroup

	syncing sync.Mutex // held over every sync

	writing sync.Mutex          // held over every change, but not while the contents of a whole file go to the disk
	closed  bool                // guarded by writing
	dirty   map[string]struct{} // files and folders that are not durable yet; guarded by writing
	record  map[string]Rights   // rights as they are on the disk; guarded by writing

	// Guarded by mu, and changed under writing only. mu is never held while the disk is used.
	mu      sync.RWMutex
	root    *node
	bytes   int64
	entries int
}

// Open opens the tree kept in dir, which is made when it is not there; what is in it and cannot be (a link, a name that is not
// UTF-8, a file over its bound) is left alone and not shown. An empty dir keeps the files in memory only.
func Open(dir string) (*Store, error) {
	s := &Store{root: &node{children: map[string]*node{}}, dirty: map[string]struct{}{}, stop: make(chan struct{})}
	if dir == "" {
		return s, nil
	}
	if err := s.disk.open(dir); err != nil {
		return nil, fmt.Errorf("open files: %w", err)
	}
	var damaged bool
	s.record, damaged = s.disk.readRights()
	if err := s.load(damaged); err != nil {
		return nil, errors.Join(fmt.Errorf("open files: %w", err), s.disk.root.Close())
	}
	if damaged {
		_ = s.writeRecord(nil) // that they are lost, so that files written from now on are not; if it fails, all stays as damaged
	}
	s.ended.Go(s.syncer)
	return s, nil
}

// load builds the tree from the disk.
func (s *Store) load(damaged bool) error {
	return fs.WalkDir(s.disk.root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		path := "/" + name
		switch {
		case name == ".":
			return err
		case err != nil || check(path) != nil:
			return skip(d)
		}
		parent, last, err := s.parent(path)
		if err != nil || s.entries >= limits.FlashFiles || !parent.room(last) {
			return skip(d)
		}
		if d.IsDir() {
			parent.children[last] = &node{children: map[string]*node{}}
			s.entries++
			return nil
		}
		info, err := d.Info()
		if err != nil || !info.Mode().IsRegular() || info.Size() > min(limits.FileBytes, limits.FlashBytes-s.bytes) {
			return nil
		}
		data, err := s.disk.read(path)
		if err != nil || int64(len(data)) != info.Size() {
			return nil
		}
		n := &node{data: data, time: info.ModTime(), rights: Full}
		if r, ok := s.record[path]; ok {
			n.rights = r
		}
		if damaged {
			n.rights = lost
		}
		parent.children[last] = n
		s.entries++
		s.bytes += info.Size()
		return nil
	})
}

func skip(d fs.DirEntry) error {
	if d != nil && d.IsDir() {
		return fs.SkipDir
	}
	return nil
}

// Stat describes one path.
func (s *Store) Stat(_ Rights, path string) (Info, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	n, err := s.find(path)
	if err != nil {
		return Info{}, named("stat", path, err)
	}
	return n.info(path), nil
}

// List describes what is in a folder, by name; with deep everything below it.
func (s *Store) List(_ Rights, path string, deep bool) ([]Info, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	n, err := s.folder(path)
	if err != nil {
		return nil, named("list", path, err)
	}
	list := []Info{}
	n.walk(strings.TrimSuffix(path, "/"), deep, func(p string, c *node) { list = append(list, c.info(p)) })
	return list, nil
}

// Read returns a whole file, of at most limits.FileBytes. It is for people and agents, who look at a text; what code of r may
// import is decided in [Store.Call].
func (s *Store) Read(_ Rights, path string) ([]byte, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	n, err := s.file(path)
	if err != nil {
		return nil, named("read", path, err)
	}
	return slices.Clone(n.data), nil
}

// Write replaces a whole file at once: whoever reads sees the old one or the new one, also after a power cut. Missing folders
// on the way are made.
func (s *Store) Write(r Rights, path string, data []byte) error {
	return named("write", path, s.replace(r, path, slices.Clone(data)))
}

// Remove deletes a file or, with deep, a folder with everything in it. An empty folder needs no deep.
func (s *Store) Remove(r Rights, path string, deep bool) error {
	return named("remove", path, s.remove(r, path, deep, either))
}

// Mkdir makes a folder and those on the way to it.
func (s *Store) Mkdir(_ Rights, path string) error {
	return named("mkdir", path, s.change(func() error { return s.makeFolders(path) }))
}

// Rename moves a file or a folder.
func (s *Store) Rename(r Rights, from, to string) error {
	return named("rename", from, s.rename(r, from, to))
}

// Free tells the bytes left and the quota.
func (s *Store) Free() (free, total int64) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return limits.FlashBytes - s.bytes, limits.FlashBytes
}

// Close makes what was written durable. Changes after it are refused.
func (s *Store) Close() error {
	s.writing.Lock()
	again := s.closed
	s.closed = true
	s.writing.Unlock()
	if again || !s.disk.there() {
		return nil
	}
	close(s.stop)
	s.ended.Wait()
	return errors.Join(s.sync("/"), s.disk.root.Close())
}

// syncer makes durable what programs wrote, a moment later.
func (s *Store) syncer() {
	tick := time.NewTicker(limits.FlashSync)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			_ = s.sync("/") // what failed stays dirty and is tried again; who needs to know asks with FileSync
		case <-s.stop:
			return
		}
	}
}
