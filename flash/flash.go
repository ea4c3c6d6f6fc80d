// Package flash keeps the files that programs have under /flash, in a folder of the guard's, through replacements of the machine
// and restarts of the terminal.
//
// # Model
//
// A [Store] is a tree of folders and files within limits.FlashBytes and limits.FlashFiles. Programs reach it by hw.OpFile calls
// through [Store.Call], people and agents by the methods. Paths are absolute within /flash. Each file remembers the [Rights] of
// the code that last wrote it.
//
// # What it refuses
//
// Paths that leave the folder, by name or by link; .mpy files, which the engine would run unchecked; a file that is no regular
// file; more than the quota (ENOSPC). Code of fewer rights may not change a file written by code of more, and a .py file written
// by code of fewer rights cannot be read by code of more: an import would run the one with the rights of the other.
package flash

import (
	"time"

	"github.com/pal-terminal/pal/hw"
)

// Rights order the callers of the store by what their code may do with outputs. The higher may do all that the lower may.
type Rights uint8

// Rights.
const (
	Reading Rights = iota // may drive nothing
	Asking                // asks before high-danger drives
	Full
)

// Info is one entry of the tree.
type Info struct {
	Path   string // absolute: "/main.py"
	Folder bool
	Size   int64
	Time   time.Time
	Rights Rights
}

// Error is a refusal or a failure with its POSIX number.
type Error struct {
	Errno int
	Op    string
	Path  string
	Text  string
}

// Error implements error.
func (e *Error) Error() string { return e.Op + " " + e.Path + ": " + e.Text }

// Store is the tree. Its methods are safe from any goroutine.
type Store struct{}

// Open opens the tree kept in dir, which is made when it is not there; what is in it and cannot be (a link, a name that is not
// UTF-8) is left alone and not shown. An empty dir keeps the files in memory only.
func Open(dir string) (*Store, error) { return &Store{}, nil }

// Call performs one hw.OpFile call.
func (s *Store) Call(r Rights, call hw.Call) hw.Reply {
	return hw.Reply{Errno: 30, Text: "no files here yet"}
}

// Stat describes one path.
func (s *Store) Stat(r Rights, path string) (Info, error) { return Info{}, &Error{Errno: 2} }

// List describes what is in a folder, by name; with deep everything below it.
func (s *Store) List(r Rights, path string, deep bool) ([]Info, error) { return nil, &Error{Errno: 2} }

// Read returns a whole file, of at most limits.FileBytes.
func (s *Store) Read(r Rights, path string) ([]byte, error) { return nil, &Error{Errno: 2} }

// Write replaces a whole file at once: whoever reads sees the old one or the new one, also after a power cut. Missing folders
// on the way are made.
func (s *Store) Write(r Rights, path string, data []byte) error { return &Error{Errno: 30} }

// Remove deletes a file or, with deep, a folder with everything in it.
func (s *Store) Remove(r Rights, path string, deep bool) error { return &Error{Errno: 2} }

// Mkdir makes a folder and those on the way to it.
func (s *Store) Mkdir(r Rights, path string) error { return &Error{Errno: 30} }

// Rename moves a file or a folder.
func (s *Store) Rename(r Rights, from, to string) error { return &Error{Errno: 2} }

// Free tells the bytes left and the quota.
func (s *Store) Free() (free, total int64) { return 0, 0 }

// Close makes what was written durable.
func (s *Store) Close() error { return nil }
