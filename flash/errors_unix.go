//go:build unix

package flash

import (
	"errors"
	"syscall"
)

// failures are the numbers that programs know failures of the disk by.
var failures = map[syscall.Errno]int{
	syscall.ENOSPC: eNOSPC, syscall.EDQUOT: eNOSPC, syscall.EROFS: eROFS, syscall.EACCES: eACCES, syscall.EPERM: eACCES,
}

// number returns the POSIX number of a failure of the disk.
func number(err error) int {
	if errno, ok := errors.AsType[syscall.Errno](err); ok && failures[errno] != 0 {
		return failures[errno]
	}
	return eIO
}

func isReadOnly(err error) bool { return errors.Is(err, syscall.EROFS) }
