// Package state is the folder in which a terminal keeps what outlives its process, and in which the commands beside it find
// that terminal.
//
// # Model
//
// A [Folder] belongs to one running terminal at a time: [Folder.Lock] holds an advisory lock whose file says who holds
// it. A terminal that serves writes its address into the folder ([Folder.Publish]) and takes it away when it ends; other
// processes read it with [client.FromState]. Files are replaced whole, never written in place, so a reader sees the old or
// the new one.
//
// The lock is the kernel's and ends with the process, so a crash leaves nothing to clean up; what a crash leaves behind is
// the address, which is why readers must expect nobody to answer there.
package state

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/pal-terminal/pal/client"
)

// Names of files in the folder.
const (
	lockFile     = "lock"
	terminalFile = "terminal.json"
	// HistoryFile holds the lines typed into the REPL.
	HistoryFile = "repl_history"
)

// HeldError says who holds a folder.
type HeldError struct {
	Dir    string
	Holder string // as the lock file has it: process and address; may be empty
}

// Error tells what to do about it.
func (e *HeldError) Error() string {
	holder := e.Holder
	if holder == "" {
		holder = "another process"
	}
	return fmt.Sprintf("state folder %s is in use by %s: stop that terminal first, or give this one a folder with --state DIR", e.Dir, holder)
}

// Folder is a state folder that exists and can be written.
type Folder struct{ dir string }

// Open makes the folder if it is not there and proves that it can be written, but not by everybody: who can replace files in
// it can replace the tokens.
func Open(dir string) (*Folder, error) {
	err := os.MkdirAll(dir, 0o700)
	if info, statErr := os.Stat(dir); err == nil && statErr == nil && openToAll(info.Mode()) {
		return nil, fmt.Errorf("state folder %s can be written by every user of this computer: look at what is in it, then chmod 700, or choose another one with --state DIR", dir)
	}
	var probe *os.File
	if err == nil {
		probe, err = os.CreateTemp(dir, ".probe-*")
	}
	if err != nil {
		return nil, fmt.Errorf("state folder %s cannot be written (%w): choose another one with --state DIR", dir, cause(err))
	}
	return &Folder{dir}, errors.Join(probe.Close(), os.Remove(probe.Name()))
}

// cause drops the operation and path that the message around it says already.
func cause(err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		return at.Err
	}
	return err
}

// Path returns the path of a file in the folder.
func (f *Folder) Path(name string) string { return filepath.Join(f.dir, name) }

// Lock is a folder that is taken.
type Lock struct{ file *os.File }

// Lock takes the folder for this process until [Lock.Release] or the end of the process. addr is what a refused second
// process is told. When another process holds it the error is a *HeldError.
func (f *Folder) Lock(addr string) (*Lock, error) {
	file, err := openLock(f.Path(lockFile))
	if err != nil {
		return nil, fmt.Errorf("open lock: %w", err)
	}
	if err := lock(file); err != nil {
		holder := make([]byte, 256)
		n, _ := file.ReadAt(holder, 0) // at most a file that is not filled in yet
		closed := file.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, &HeldError{Dir: f.dir, Holder: strings.TrimSpace(string(holder[:n]))}
		}
		return nil, errors.Join(fmt.Errorf("lock %s: %w", file.Name(), err), closed)
	}
	l := &Lock{file}
	if err := l.Tell(addr); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return l, nil
}

// Tell changes the address that a refused second process is told.
func (l *Lock) Tell(addr string) error {
	holder := fmt.Appendf(nil, "process %d (%s)\n", os.Getpid(), addr)
	_, err := l.file.WriteAt(holder, 0)
	if err := errors.Join(err, l.file.Truncate(int64(len(holder)))); err != nil {
		return fmt.Errorf("write lock: %w", err)
	}
	return nil
}

// Release gives the folder back. The file stays: removing it would let two processes hold two locks of one name.
func (l *Lock) Release() error { return l.file.Close() }

// Publish tells other processes where the terminal is.
func (f *Folder) Publish(t client.Terminal) error {
	return WriteJSON(f.Path(terminalFile), t)
}

// Withdraw takes the address away again.
func (f *Folder) Withdraw() error {
	err := os.Remove(f.Path(terminalFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// WriteJSON writes v to a file that only its owner can read, whole or not at all.
func WriteJSON(path string, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode %s: %w", filepath.Base(path), err)
	}
	file, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*") // mode 0600
	if err != nil {
		return fmt.Errorf("write %s: %w", path, cause(err))
	}
	_, err = file.Write(append(data, '\n'))
	err = errors.Join(err, file.Close())
	if err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("write %s: %w", path, cause(err)), os.Remove(file.Name()))
	}
	return nil
}
