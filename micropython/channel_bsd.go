//go:build unix && !linux

package micropython

import (
	"time"

	"golang.org/x/sys/unix"
)

func recv(fd int, p []byte, flags int) (int, error) {
	n, _, err := unix.Recvfrom(fd, p, flags)
	return n, err
}

// attach finds no memory: there is no sealing it here.
func attach(int) []byte { return nil }

func ring(int) error { return nil }

func poll(fds []unix.PollFd, d time.Duration) error {
	_, err := unix.Poll(fds, int(max(0, (d+time.Millisecond-1)/time.Millisecond)))
	return err
}
