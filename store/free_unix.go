//go:build linux || darwin

package store

import (
	"os"
	"syscall"
)

// free returns what an ordinary user can write on the file system of a folder.
func free(dir string) (int64, error) {
	var st syscall.Statfs_t
	if err := syscall.Statfs(dir, &st); err != nil {
		return 0, &os.PathError{Op: "statfs", Path: dir, Err: err}
	}
	return int64(st.Bavail) * int64(st.Bsize), nil
}
