//go:build !linux

package vm

import (
	"errors"
	"os"
)

// supported reports whether this system has the child processes that the pool needs: parent-death signal, process groups
// and a sandbox that the child can put itself into.
func supported() error { return errors.ErrUnsupported }

// child stands for a process that this system cannot have; NewPool refuses before any method is called.
type child struct {
	proc   *os.Process
	stderr *os.File
	soon   bool
}

func keepDescriptors() error { return nil }

func spawn([]string) (*child, error) { return nil, errors.ErrUnsupported }

func (*child) Read([]byte) (int, error) { return 0, errors.ErrUnsupported }
func (*child) write([]byte) error       { return errors.ErrUnsupported }
func (*child) share() bool              { return false }
func (*child) unread() bool             { return false }
func (*child) shutdown()                {}
func (*child) close() error             { return nil }
func (*child) killGroup()               {}
func (*child) awaitExit()               {}
func (*child) reap() string             { return "" }

// ResidentBytes is 0: this system does not say.
func ResidentBytes(int) int64 { return 0 }
