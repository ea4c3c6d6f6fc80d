//go:build linux

package vm_test

import (
	"encoding/binary"
	"os"
	"runtime"

	"golang.org/x/sys/unix"

	"github.com/pal-terminal/pal/vm/frame"
)

// port is the fake machine's end of the channel: the socket, and the rings once share was called. It is one reader's and, under
// the fake's lock, one writer's.
type port struct {
	socket *os.File
	mem    []byte
	in     *frame.Reader
	out    *frame.Writer
}

func openPort() *port { return &port{socket: os.NewFile(3, "channel")} }

// attach maps the memory that the guard gave and reports whether there is some.
func (c *port) attach() bool {
	mem, err := unix.Mmap(4, 0, frame.SharedBytes, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return false
	}
	c.mem = mem
	return unix.Close(4) == nil
}

// share makes records go through the memory from here on.
func (c *port) share() {
	if c.mem != nil {
		c.in, c.out = frame.Rings(c.mem, false)
	}
}

func (c *port) Read(p []byte) (int, error) {
	if c.in == nil {
		return c.socket.Read(p)
	}
	for {
		n, err := c.in.Read(p)
		if n > 0 || err != nil {
			return n, err
		}
		if c.in.Sleep() {
			var bell [16]byte
			_, err = c.socket.Read(bell[:])
			c.in.Awake()
			if err != nil {
				return 0, err
			}
		}
	}
}

func (c *port) Write(p []byte) (int, error) {
	if c.out == nil {
		return c.socket.Write(p)
	}
	all := len(p)
	for len(p) > 0 {
		n, err := c.out.Write(p)
		if err != nil {
			return 0, err
		}
		if p = p[n:]; n == 0 {
			runtime.Gosched()
		}
		if c.out.Wake() {
			c.ring()
		}
	}
	return all, nil
}

// ring wakes the guard, who may be gone.
func (c *port) ring() { _ = unix.Send(3, []byte{0}, unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL) }

// Words of the shared memory: where the machine's writing and its reading stand.
const (
	tailUp   = 0
	headDown = frame.SharedBytes/2 + 128
)

// setWord sets a cursor to what it is not.
func (c *port) setWord(at int, v uint64) { binary.NativeEndian.PutUint64(c.mem[at:], v) }
