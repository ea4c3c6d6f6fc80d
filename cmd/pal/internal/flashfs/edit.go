package flashfs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/pal-terminal/pal/protocol"
)

// Edit has a person change a file of the terminal, or begin a new one: edit is handed a copy here and returns when it has been changed.
// It reports whether anything was written. Nothing is when the file of the terminal changed meanwhile; then, and whenever
// writing fails, the copy stays and the error says where.
func (s *Store) Edit(ctx context.Context, p Place, edit func(file string) error) (changed bool, err error) {
	was, err := s.Read(ctx, p)
	isNew := notFound(err)
	if err != nil && !isNew {
		return false, err
	}
	folder, err := os.MkdirTemp("", "pal-edit-")
	if err != nil {
		return false, err
	}
	file := filepath.Join(folder, filepath.Base(path.Base(p.Path))) // with its name, by which editors know a language
	if err := os.WriteFile(file, was, 0o600); err != nil {
		return false, errors.Join(err, os.RemoveAll(folder))
	}
	err = s.edited(ctx, p, file, was, isNew, edit)
	unchanged := errors.Is(err, errSame)
	if err == nil || unchanged {
		return err == nil, os.RemoveAll(folder)
	}
	if now, readErr := os.ReadFile(file); readErr == nil && bytes.Equal(now, was) {
		return false, errors.Join(err, os.RemoveAll(folder)) // nothing of anybody's is lost
	}
	return false, fmt.Errorf("%w: what was written is in %s", err, file)
}

// errSame says that there is nothing to write.
var errSame = errors.New("the file is as it was")

// edited runs the editor and writes what it leaves.
func (s *Store) edited(ctx context.Context, p Place, file string, was []byte, isNew bool, edit func(file string) error) error {
	if err := edit(file); err != nil {
		return err
	}
	now, err := s.Read(ctx, Place{Path: file})
	switch {
	case errors.Is(err, fs.ErrNotExist) && isNew, err == nil && bytes.Equal(now, was):
		return errSame
	case err != nil:
		return err
	}
	sum, err := s.hash(ctx, p)
	if err != nil {
		return err
	}
	if isNew != (sum == "") || !isNew && sum != Hash(was) {
		return &protocol.Error{Code: protocol.CodeConflict, Message: p.String() + " changed meanwhile and is left as it is", Resource: p.Path}
	}
	return s.write(ctx, p, now)
}
