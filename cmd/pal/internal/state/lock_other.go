//go:build !unix

package state

import (
	"errors"
	"io/fs"
	"os"
)

// Terminals run on Unix systems only; elsewhere the other commands need no lock.
func lock(*os.File) error { return errors.ErrUnsupported }

func openLock(string) (*os.File, error) { return nil, errors.ErrUnsupported }

// Modes say nothing about who may write there.
func openToAll(fs.FileMode) bool { return false }
