//go:build linux && !arm

package micropython

import "golang.org/x/sys/unix"

// mmapTrap is the number of the system call that maps memory.
const mmapTrap = unix.SYS_MMAP
