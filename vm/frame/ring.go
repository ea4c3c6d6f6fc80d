package frame

import (
	"errors"
	"sync/atomic"
	"unsafe"

	"github.com/pal-terminal/pal/limits"
)

// A ring is one direction of a channel in memory that two processes share: a stream of bytes with one writer and one reader.
// Records stand in it as they would in a socket. Either process can write anything anywhere in the memory at any time, so an end
// takes nothing from it but two words of the other side, each loaded once and checked, and bytes, which the reader copies
// out before anybody looks at them. Its own cursor it keeps outside.
//
// No wake-up is lost. A reader that finds nothing sets asleep and then looks at the tail once more; a writer moves the tail
// and then looks at asleep. All four are sequentially consistent, so whatever the order, one of the two sees what the other did:
// the reader does not sleep, or the writer wakes it. Only the wake-up itself, one byte on the socket, can come for nothing, when
// the reader saw the new tail after all; a reader takes that for a reason to look again.
type ring struct {
	tail   *atomic.Uint64 // bytes written so far; the writer's
	head   *atomic.Uint64 // bytes read so far; the reader's
	asleep *atomic.Uint32 // set by the reader, cleared by whoever ends the sleep
	data   []byte
	mine   uint64 // this end's cursor
	peer   uint64 // the other's, as last seen
}

const (
	ringHeader = 4096 // a page; the words stand on cache lines of their own
	cacheLine  = 128  // of the largest kind
)

// SharedBytes is the size of the memory that a guard and a machine share: a ring each way.
const SharedBytes = 2 * (ringHeader + limits.RingBytes)

// ErrRing says that the other side's cursor stands where no honest one comes to.
var ErrRing = errors.New("frame: the other side's cursor in the shared memory makes no sense")

// Reader is the reading end of a ring, for one goroutine at a time.
type Reader struct{ ring }

// Writer is the writing end of a ring, for one goroutine at a time.
type Writer struct{ ring }

// Rings returns the guard's ends of the two rings in mem, or the machine's. mem has SharedBytes, all zero at first.
func Rings(mem []byte, guard bool) (*Reader, *Writer) {
	up, down := ringAt(mem[:SharedBytes/2]), ringAt(mem[SharedBytes/2:SharedBytes])
	if guard {
		return &Reader{up}, &Writer{down}
	}
	return &Reader{down}, &Writer{up}
}

func ringAt(mem []byte) ring {
	word := func(k int) unsafe.Pointer { return unsafe.Pointer(&mem[k*cacheLine]) }
	return ring{
		tail: (*atomic.Uint64)(word(0)), head: (*atomic.Uint64)(word(1)), asleep: (*atomic.Uint32)(word(2)), data: mem[ringHeader:],
	}
}

// Read copies what has come into p, as much as fits; 0 without an error when nothing has.
func (r *Reader) Read(p []byte) (int, error) {
	have := r.peer - r.mine
	if have == 0 {
		r.peer = r.tail.Load()
		if have = r.peer - r.mine; have > uint64(len(r.data)) {
			return 0, ErrRing
		}
	}
	p = p[:min(uint64(len(p)), have)]
	n := copy(p, r.data[r.mine%uint64(len(r.data)):])
	copy(p[n:], r.data)
	r.mine += uint64(len(p))
	if len(p) > 0 {
		r.head.Store(r.mine)
	}
	return len(p), nil
}

// Sleep says that this end is about to wait for a wake-up. It reports false when something has come meanwhile; then it must not.
func (r *Reader) Sleep() bool {
	r.asleep.Store(1)
	if r.tail.Load() == r.mine {
		return true
	}
	r.asleep.Store(0)
	return false
}

// Awake ends a sleep.
func (r *Reader) Awake() { r.asleep.Store(0) }

// Write copies in as much of p as there is room for, possibly nothing.
func (w *Writer) Write(p []byte) (int, error) {
	room := uint64(len(w.data)) - (w.mine - w.peer)
	if room < uint64(len(p)) {
		head := w.head.Load()
		if head-w.peer > w.mine-w.peer { // it went back, or past what was written
			return 0, ErrRing
		}
		w.peer = head
		room = uint64(len(w.data)) - (w.mine - w.peer)
	}
	p = p[:min(uint64(len(p)), room)]
	n := copy(w.data[w.mine%uint64(len(w.data)):], p)
	copy(w.data, p[n:])
	w.mine += uint64(len(p))
	if len(p) > 0 {
		w.tail.Store(w.mine)
	}
	return len(p), nil
}

// Wake reports whether the reader sleeps and is to be woken now. It is asked after every write.
func (w *Writer) Wake() bool { return w.asleep.Load() != 0 && w.asleep.Swap(0) != 0 }
