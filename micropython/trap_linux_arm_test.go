package micropython

import "golang.org/x/sys/unix"

const mmapTrap = unix.SYS_MMAP2
