//go:build !unix

package state

import (
	"errors"
	"os"
)

// Terminals run on Unix systems only; elsewhere the other commands need no lock.
func lock(*os.File) error { return errors.ErrUnsupported }
