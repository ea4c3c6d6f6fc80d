//go:build unix

package client

import (
	"errors"
	"syscall"
)

// gone reports whether no process has the number any more.
func gone(pid int) bool { return pid > 0 && errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }
