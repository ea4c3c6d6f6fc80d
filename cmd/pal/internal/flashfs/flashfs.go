// Package flashfs copies files between this computer and a terminal, for the commands of `pal fs`, `pal mip` and `pal edit`.
//
// # Model
//
// A [Place] is a file or folder here or there. [Store.Plan] looks at both ends and answers the steps of a copy, having refused
// whatever can be known to fail, so that nothing is copied of what cannot be copied as a whole; [Store.Do] does one step. A
// file that both ends have with the same SHA-256 is not copied again unless that is asked for. Files appear whole at either end.
//
// # What it refuses
//
// Names from a terminal that would leave the folder they are copied into, files that are no regular ones, names that are not
// UTF-8, and files larger than a terminal keeps. Which paths a terminal takes is for the terminal to say.
package flashfs

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/pal-terminal/pal/limits"
	"github.com/pal-terminal/pal/protocol"
)

// Client is what is asked of a connection to a terminal; package client's has it.
type Client interface {
	FS(ctx context.Context, f protocol.FS) (*protocol.FSAnswer, error)
	GetFile(ctx context.Context, path string) ([]byte, error)
	PutFile(ctx context.Context, path string, data []byte) error
}

// LocalError is something wrong with the words of a command or with files on this computer, before anything was copied.
type LocalError struct{ err error }

func (e *LocalError) Error() string { return e.err.Error() }
func (e *LocalError) Unwrap() error { return e.err }

func localf(format string, args ...any) error { return &LocalError{fmt.Errorf(format, args...)} }

// Place is a file or folder.
type Place struct {
	Path   string // of this computer, or below /flash of the terminal: "/main.py"
	Remote bool
	folder bool // it was written with a slash at its end
}

// Parse reads a word of a command line. With a colon before it, it is a path of the terminal, below /flash whether it says so or not.
func Parse(word string) Place {
	p, remote := strings.CutPrefix(word, ":")
	if !remote {
		return Place{Path: word, folder: strings.HasSuffix(word, "/") || strings.HasSuffix(word, string(filepath.Separator))}
	}
	return Place{Path: Path(p), Remote: true, folder: strings.HasSuffix(p, "/")}
}

// Path makes a path of the protocol from what people write for it: "main.py", "/main.py" and "/flash/main.py" are "/main.py", with or
// without a colon before it. It is not cleaned: that a terminal refuses "..", people should see.
func Path(word string) string {
	p := strings.TrimPrefix(word, ":")
	if !strings.HasPrefix(p, "/") {
		p = "/" + p
	}
	if below, ok := strings.CutPrefix(p, "/flash"); ok && (below == "" || below[0] == '/') {
		p = "/" + strings.TrimPrefix(below, "/")
	}
	if len(p) > 1 {
		p = strings.TrimSuffix(p, "/")
	}
	return p
}

// String is the place as people write it.
func (p Place) String() string {
	if p.Remote {
		return ":" + p.Path
	}
	return p.Path
}

// join returns a place below p; below is slash-separated.
func (p Place) join(below string) (Place, error) {
	if p.Remote {
		return Place{Path: path.Join(p.Path, below), Remote: true}, nil
	}
	local, err := filepath.Localize(below)
	if err != nil {
		return p, localf("%q is no name for a file here", below)
	}
	return Place{Path: filepath.Join(p.Path, local)}, nil
}

// base is the name that a copy gets in a folder; empty for one that has none to give: its contents are copied.
func (p Place) base() string {
	name := path.Base(p.Path)
	if !p.Remote {
		name = filepath.Base(p.Path)
	}
	if name == "." || name == ".." || name == "/" || name == string(filepath.Separator) {
		return ""
	}
	return name
}

// entry is what is known of a place; it is the zero entry when nothing is there.
type entry struct {
	there, folder bool
	size          int64
}

// Store is the files of a terminal and of this computer.
type Store struct{ c Client }

// New returns the files that a client reaches.
func New(c Client) *Store { return &Store{c} }

// look finds out what a place is.
func (s *Store) look(ctx context.Context, p Place) (entry, error) {
	if !p.Remote {
		info, err := os.Stat(p.Path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return entry{}, nil
		case err != nil:
			return entry{}, &LocalError{err}
		case !info.IsDir() && !info.Mode().IsRegular():
			return entry{}, localf("%s is no regular file", p)
		}
		return entry{there: true, folder: info.IsDir(), size: info.Size()}, nil
	}
	if p.Path == "/" {
		return entry{there: true, folder: true}, nil
	}
	answer, err := s.c.FS(ctx, protocol.FS{Op: "stat", Path: p.Path})
	if notFound(err) {
		return entry{}, nil
	}
	if err != nil {
		return entry{}, err
	}
	if len(answer.Entries) != 1 {
		return entry{}, fmt.Errorf("stat %s: the terminal told of %d files", p, len(answer.Entries))
	}
	e := answer.Entries[0]
	return entry{there: true, folder: e.Folder, size: e.Size}, nil
}

func notFound(err error) bool {
	refusal, ok := errors.AsType[*protocol.Error](err)
	return ok && refusal.Code == protocol.CodeNotFound
}

// Folder reports whether a place is a folder that exists.
func (s *Store) Folder(ctx context.Context, p Place) (bool, error) {
	e, err := s.look(ctx, p)
	return e.folder, err
}

// hash returns the SHA-256 of a file in hexadecimal, and nothing when it is not there.
func (s *Store) hash(ctx context.Context, p Place) (string, error) {
	if p.Remote {
		none := int64(0)
		answer, err := s.c.FS(ctx, protocol.FS{Op: "get", Path: p.Path, Size: &none})
		if notFound(err) {
			return "", nil
		}
		if err != nil {
			return "", err
		}
		return answer.SHA256, nil
	}
	data, err := s.Read(ctx, p)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return Hash(data), err
}

// Hash is the SHA-256 of data in hexadecimal.
func Hash(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// Read returns a file of either side, of at most limits.FileBytes.
func (s *Store) Read(ctx context.Context, p Place) ([]byte, error) {
	if p.Remote {
		return s.c.GetFile(ctx, p.Path)
	}
	f, err := os.Open(p.Path)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // opened for reading only
	data, err := io.ReadAll(io.LimitReader(f, limits.FileBytes+1))
	if err == nil && len(data) > limits.FileBytes {
		err = tooLarge(p)
	}
	return data, err
}

func tooLarge(p Place) error {
	return localf("%s has more than the %d bytes that a terminal keeps of a file", p, limits.FileBytes)
}

// write makes a file whole or leaves what was there.
func (s *Store) write(ctx context.Context, p Place, data []byte) error {
	if p.Remote {
		return s.c.PutFile(ctx, p.Path, data)
	}
	temp, err := os.CreateTemp(filepath.Dir(p.Path), ".pal-*")
	if err != nil {
		return err
	}
	_, err = temp.Write(data)
	if err = errors.Join(err, temp.Chmod(mode(p.Path)), temp.Close()); err == nil {
		err = os.Rename(temp.Name(), p.Path)
	}
	if err != nil {
		err = errors.Join(fmt.Errorf("write %s: %w", p, err), os.Remove(temp.Name()))
	}
	return err
}

// mode is what a written file may be used for: what it could before.
func mode(name string) fs.FileMode {
	if info, err := os.Stat(name); err == nil {
		return info.Mode().Perm()
	}
	return 0o644
}
