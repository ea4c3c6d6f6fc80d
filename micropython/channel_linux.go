package micropython

import (
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// recv is recvfrom without an address, which the wrapper of package unix would allocate.
func recv(fd int, p []byte, flags int) (int, error) {
	call := unix.Syscall6
	if flags&unix.MSG_DONTWAIT != 0 {
		call = unix.RawSyscall6 // never blocks, so the scheduler need not know
	}
	n, _, errno := call(unix.SYS_RECVFROM, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(p))), uintptr(len(p)), uintptr(flags), 0, 0)
	if errno != 0 {
		return 0, errno
	}
	return int(n), nil
}

// poll takes its timeout in nanoseconds, so that short sleeps are short.
func poll(fds []unix.PollFd, d time.Duration) error {
	ts := unix.NsecToTimespec(max(0, int64(d)))
	_, err := unix.Ppoll(fds, &ts, nil)
	return err
}
