package micropython

import (
	"errors"
	"fmt"
	"io"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/pal-terminal/pal/vm/frame"
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

// attach maps the memory that the guard shares as descriptor fd and closes that; nil when it is no such memory, as when the guard
// could make none.
func attach(fd int) []byte {
	const seals = unix.F_SEAL_SHRINK | unix.F_SEAL_GROW | unix.F_SEAL_SEAL
	var st unix.Stat_t
	if have, err := unix.FcntlInt(uintptr(fd), unix.F_GET_SEALS, 0); err != nil || have != seals {
		return nil
	}
	if err := unix.Fstat(fd, &st); err != nil || st.Size != frame.SharedBytes {
		return nil
	}
	mem, err := unix.Mmap(fd, 0, frame.SharedBytes, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil
	}
	_ = unix.Close(fd) // the mapping stays
	return mem
}

// ring wakes the guard. A socket that is full of wake-ups needs no more.
func ring(fd int) error {
	err := unix.Send(fd, []byte{0}, unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL)
	switch {
	case err == nil, errors.Is(err, unix.EAGAIN), errors.Is(err, unix.EINTR):
		return nil
	case errors.Is(err, unix.EPIPE), errors.Is(err, unix.ECONNRESET):
		return io.EOF
	}
	return fmt.Errorf("wake the guard: %w", err)
}

// poll takes its timeout in nanoseconds, so that short sleeps are short.
func poll(fds []unix.PollFd, d time.Duration) error {
	ts := unix.NsecToTimespec(max(0, int64(d)))
	_, err := unix.Ppoll(fds, &ts, nil)
	return err
}
