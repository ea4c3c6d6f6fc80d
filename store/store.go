// Package store keeps what must survive a loss of power: small records, the latch of the e-stop, and the seam to the disk below
// them and below the audit log.
//
// # Model
//
// A [Disk] is one folder. What is written lies in the machine's memory until [File.Sync]; what is created, renamed or removed, until
// [Disk.Sync] of its folder. Everything here is written so that a cut at any step leaves the old or the new, never a part, and
// so that what was damaged all the same is told apart from what is whole: it is moved to quarantine, told, and not used.
//
// [Records] is a table of small values, a file each. [Latch] is the e-stop: what is not clearly clear is set, also what is damaged or
// gone, and setting it needs no room. [Starts] counts starts that failed, and knows how the run before ended. After a failed sync nothing
// is believed to be on disk: it is written again, and so is, at a start, what may have been left in memory by a process that died.
//
// store knows nothing of what its records mean.
//
// # What it refuses
//
// Names that lead out of the folder, links, pipes and devices; keys of other than a-z, 0-9 and -; values over the limit; and to call
// something durable that the disk did not.
package store

import (
	"io"
	"io/fs"
	"strings"
)

// Disk is one folder of what must survive. Names are relative, with at most one slash: see [Valid]. Its methods are safe for
// concurrent use. Only regular files are opened and listed. On a disk that cannot be written, files that are there can be read.
type Disk interface {
	// Open opens a file for reading and writing; with create it is made when it is not there, else that is fs.ErrNotExist.
	Open(name string, create bool) (File, error)
	// Rename puts a file in the place of another, whole.
	Rename(from, to string) error
	Remove(name string) error
	// List returns the names of the files of a folder, "" for the disk's own, sorted and without the folder; none when it is not there.
	List(dir string) ([]string, error)
	// Mkdir makes a folder in the disk's own, and says nothing when it is there.
	Mkdir(dir string) error
	// Sync makes what was created, renamed and removed in a folder durable.
	Sync(dir string) error
	// Free returns how many bytes can be written; a negative number when nobody knows.
	Free() (int64, error)
}

// File is an open file of a Disk.
type File interface {
	io.ReaderAt
	io.WriterAt
	Truncate(size int64) error
	// Sync makes what was written durable when it returns nil. After an error nobody knows what is.
	Sync() error
	Size() (int64, error)
	Close() error
}

// Valid tells whether a Disk takes a name.
func Valid(name string) bool {
	return fs.ValidPath(name) && name != "." && strings.Count(name, "/") <= 1 && !strings.ContainsAny(name, "\\\x00")
}
