//go:build unix

package micropython

import (
	"errors"
	"fmt"
	"io"
	"math"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pal-terminal/pal/limits"
	"github.com/pal-terminal/pal/vm/frame"
)

// channel is the stream socket to the guard, read and written by blocking system calls: with one goroutine that also runs
// the engine there is nobody to hand a file descriptor to, and the runtime's poller would cost two context switches. Where the
// guard gave shared memory too, the records go through that once Ready was sent, and the socket is left for wake-ups.
type channel struct {
	fd   int
	in   []byte // received bytes, [r, w) not yet consumed
	r, w int
	out  []byte
	rest int // waits that sleep at once, since looking was in vain

	mem  []byte // shared with the guard, nil for none
	from *frame.Reader
	to   *frame.Writer // nil while records go through the socket
	bell [limits.VainWakes]byte
}

// openChannel takes charge of the socket fd and, where there is some, of the memory at fd+1. cores is how many threads can run at
// a time: with one it never looks for what may come, since the guard could not send it meanwhile.
func openChannel(fd, cores int) (*channel, error) {
	kind, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TYPE)
	if err != nil {
		return nil, fmt.Errorf("descriptor %d is not the guard's channel: %w", fd, err)
	}
	if kind != unix.SOCK_STREAM {
		return nil, fmt.Errorf("descriptor %d is not a stream socket", fd)
	}
	if err := unix.SetNonblock(fd, false); err != nil {
		return nil, fmt.Errorf("prepare the channel: %w", err)
	}
	// A receive that waits longer gives way to a heartbeat.
	tv := unix.NsecToTimeval(int64(limits.HeartbeatPeriod))
	if err := unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &tv); err != nil {
		return nil, fmt.Errorf("prepare the channel: %w", err)
	}
	c := &channel{fd: fd, in: make([]byte, 2*limits.FrameBytes), mem: attach(fd + 1)}
	if cores < 2 {
		c.rest = math.MaxInt
	}
	return c, nil
}

// share makes every further record go through the shared memory, if there is any.
func (c *channel) share() {
	if c.mem != nil {
		c.from, c.to = frame.Rings(c.mem, false)
	}
}

// send writes one record and returns when the guard or the kernel has all of it; io.EOF when nobody is there to read it.
func (c *channel) send(rec any) error {
	buf, err := frame.Append(c.out[:0], rec)
	if err != nil {
		return err
	}
	c.out = buf
	if c.to != nil {
		return c.put(buf)
	}
	for len(buf) > 0 {
		n, err := unix.Write(c.fd, buf)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if errors.Is(err, unix.EPIPE) || errors.Is(err, unix.ECONNRESET) {
			return io.EOF
		}
		if err != nil {
			return fmt.Errorf("write to the guard: %w", err)
		}
		buf = buf[n:]
	}
	return nil
}

// put writes into the ring and wakes the guard if it sleeps. Where there is no room it waits and takes in what comes, so that two
// full rings never wait for each other.
func (c *channel) put(buf []byte) error {
	for {
		n, err := c.to.Write(buf)
		if err != nil {
			return err
		}
		if n > 0 && c.to.Wake() {
			if err := ring(c.fd); err != nil {
				return err
			}
		}
		if buf = buf[n:]; len(buf) == 0 {
			return nil
		}
		if n > 0 {
			continue
		}
		if _, err := c.receive(false); err != nil {
			return err
		}
		if err := c.sleep(limits.RingPause); err != nil {
			return err
		}
	}
}

// next returns the next whole record among the bytes already received, or nil.
func (c *channel) next() (any, error) {
	have := c.in[c.r:c.w]
	if len(have) < frame.HeaderBytes {
		return nil, nil
	}
	n, err := frame.Length([frame.HeaderBytes]byte(have))
	if err != nil {
		return nil, err
	}
	if len(have) < frame.HeaderBytes+n {
		return nil, nil
	}
	c.r += frame.HeaderBytes + n
	return frame.Decode(have[frame.HeaderBytes : frame.HeaderBytes+n])
}

// receive reads what there is; with wait it waits up to limits.HeartbeatPeriod for the first byte. It reports whether bytes
// came, and io.EOF at the end of the channel.
func (c *channel) receive(wait bool) (bool, error) {
	if c.r > 0 {
		c.w = copy(c.in, c.in[c.r:c.w])
		c.r = 0
	}
	if c.from != nil {
		return c.take(wait)
	}
	n, err := c.read(c.in[c.w:], wait)
	c.w += n
	return n > 0, err
}

// read reads from the socket: nothing when nothing comes in time, io.EOF at its end.
func (c *channel) read(p []byte, wait bool) (int, error) {
	flags := 0
	if !wait {
		flags = unix.MSG_DONTWAIT
	}
	n, err := recv(c.fd, p, flags)
	switch {
	case errors.Is(err, unix.EINTR), errors.Is(err, unix.EAGAIN):
		return 0, nil
	case errors.Is(err, unix.ECONNRESET), err == nil && n == 0:
		return 0, io.EOF
	case err != nil:
		return 0, fmt.Errorf("read from the guard: %w", err)
	}
	return n, nil
}

// take is receive from the ring.
func (c *channel) take(wait bool) (bool, error) {
	n, err := c.from.Read(c.in[c.w:])
	if n == 0 && err == nil && wait && c.from.Sleep() {
		_, err = c.read(c.bell[:], true)
		c.from.Awake()
		if err == nil {
			n, err = c.from.Read(c.in[c.w:])
		}
	}
	c.w += n
	return n > 0, err
}

// receiveSoon is receive for an answer that is on its way. To put this thread to sleep and wake it costs far more than the guard
// takes for most calls, so it looks for a moment first; not after it did so in vain, and not on a single core.
func (c *channel) receiveSoon() (bool, error) {
	if c.rest > 0 {
		c.rest--
		return c.receive(true)
	}
	for start := time.Now(); time.Since(start) < limits.SpinWait; {
		if got, err := c.receive(false); got || err != nil {
			return got, err
		}
	}
	c.rest = limits.SpinRest
	return c.receive(true)
}

// wait returns when bytes can be received, the channel has ended or d has passed; early returns are allowed.
func (c *channel) wait(d time.Duration) error {
	if c.from == nil {
		return c.sleep(d)
	}
	if !c.from.Sleep() {
		return nil
	}
	err := c.sleep(d)
	c.from.Awake()
	if err == nil { // wake-ups must not end the next wait
		_, err = c.read(c.bell[:], false)
	}
	return err
}

// sleep returns when something comes from the socket or d has passed.
func (c *channel) sleep(d time.Duration) error {
	fds := []unix.PollFd{{Fd: int32(c.fd), Events: unix.POLLIN}}
	if err := poll(fds, d); err != nil && !errors.Is(err, unix.EINTR) {
		return fmt.Errorf("wait for the guard: %w", err)
	}
	return nil
}
