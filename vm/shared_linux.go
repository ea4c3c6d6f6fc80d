package vm

import (
	"io"
	"os"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"github.com/pal-terminal/pal/limits"
	"github.com/pal-terminal/pal/vm/frame"
)

// shared is the memory that records go through once the child said that it has it too (frame.Ready). The socket then carries
// wake-ups, bytes without a meaning.
type shared struct {
	mem    []byte // nil where the system refused it
	used   bool   // set before the process counts as started
	in     *frame.Reader
	out    *frame.Writer
	asleep atomic.Bool // the reading goroutine waits for a wake-up; the guard's own word for it
	down   atomic.Bool // shutdown was called
	late   int         // bytes that may still be read after that
	vain   int         // wake-ups since the last byte
}

// makeShared makes memory for two rings, mapped here and open for a child; nil when the system refuses, since the socket alone
// does as well. It is sealed against a change of its size, which would make reading it here a bus error.
func makeShared() ([]byte, *os.File) {
	fd, err := unix.MemfdCreate("channel", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return nil, nil
	}
	file := os.NewFile(uintptr(fd), "memory")
	const seals = unix.F_SEAL_SHRINK | unix.F_SEAL_GROW | unix.F_SEAL_SEAL
	if err = unix.Ftruncate(fd, frame.SharedBytes); err == nil {
		_, err = unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, seals)
	}
	if err == nil {
		// All pages now: one that cannot be had later would be a bus error too.
		mem, err := unix.Mmap(fd, 0, frame.SharedBytes, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_POPULATE)
		if err == nil {
			return mem, file
		}
	}
	_ = file.Close() // nothing was kept in it
	return nil, nil
}

func unmap(mem []byte) error {
	if mem == nil {
		return nil
	}
	return unix.Munmap(mem)
}

// share makes every further record go through the memory. It reports false when the child was given none.
func (c *child) share() bool {
	s := &c.shared
	if s.mem == nil {
		return false
	}
	s.in, s.out = frame.Rings(s.mem, true)
	s.used = true
	return true
}

// take reads what is in the ring. After shutdown that is at most what could have stood there: a descendant that still writes must
// not keep the guard reading.
func (c *child) take(p []byte) (int, error) {
	s := &c.shared
	down := s.down.Load()
	if down {
		if p = p[:min(len(p), s.late)]; len(p) == 0 {
			return 0, io.EOF
		}
	}
	n, err := s.in.Read(p)
	if err != nil {
		return 0, violated("%v", err)
	}
	if down {
		s.late -= n
	}
	if n > 0 {
		s.vain = 0
	}
	return n, nil
}

// sleep waits for a wake-up, unless there is something to read.
func (c *child) sleep() error {
	s := &c.shared
	if !s.in.Sleep() {
		return nil
	}
	var bell [limits.VainWakes]byte
	s.asleep.Store(true)
	_, err := c.receive(bell[:])
	s.asleep.Store(false)
	s.in.Awake()
	if s.vain++; s.vain > limits.VainWakes && err == nil {
		return violated("wake-ups for nothing")
	}
	return err
}

// give writes some of p into the ring and wakes the child if it sleeps. It waits a little where there is no room.
func (c *child) give(p []byte) (int, error) {
	s := &c.shared
	n, err := s.out.Write(p)
	switch {
	case err != nil:
		return 0, violated("%v", err)
	case n == 0 && s.down.Load():
		return 0, io.EOF
	case n == 0:
		pause := unix.NsecToTimespec(limits.RingPause.Nanoseconds())
		_ = unix.Nanosleep(&pause, nil) // a signal that cuts it short does no harm
		return 0, nil
	}
	if s.out.Wake() { // a socket full of wake-ups or without a reader needs none: whoever wants to know reads it
		_ = unix.Send(c.fd, []byte{0}, unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL)
	}
	return n, nil
}
