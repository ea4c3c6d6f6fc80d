//go:build linux || darwin

package store

import (
	"os"
	"syscall"
)

// free returns what an ordinary user can write on the file system of an open file.
func free(f *os.File) (int64, error) {
	var st syscall.Statfs_t
	if err := syscall.Fstatfs(int(f.Fd()), &st); err != nil {
		return 0, &os.PathError{Op: "statfs", Path: f.Name(), Err: err}
	}
	return int64(st.Bavail) * int64(st.Bsize), nil
}
