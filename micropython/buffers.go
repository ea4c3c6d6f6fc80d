package micropython

import (
	"encoding/binary"

	"github.com/pal-terminal/pal/limits"
)

// bufferTypes are the engine's addresses of the types whose objects carry bytes: an object's first word says which it is of.
type bufferTypes struct{ bytes, bytearray, memoryview uint32 }

// learnBuffers takes the addresses of bytes, bytearray and memoryview, from the driver.
func (m *machine) learnBuffers(a []record) record {
	m.buffers = bufferTypes{bytes: uint32(a[0].number()), bytearray: uint32(a[1].number()), memoryview: uint32(a[2].number())}
	return null
}

// Layout of the engine's objects: a bytes object is type, hash, length, address; a bytearray or a memoryview is type, item code (8
// bits) with spare or offset (24 bits), number of items, address. The code's top bit says that a memoryview may be written.
const (
	objectBytes = 16
	mayWrite    = 0x80
)

// buffer returns the bytes of the object at the address in r, in place: reading and writing them is reading and writing the object.
// The library hands out addresses of objects that it holds; all the same, what is not one of the three types, lies outside the
// memory, or may not be written when write is set, is nil and false. The address 0 is no buffer: nil and true.
func (m *machine) buffer(r record, write bool) ([]byte, bool) {
	at := uint32(r.number())
	if at == 0 {
		return nil, true
	}
	object, ok := m.eng.mem.Read(at, objectBytes)
	if !ok {
		return nil, false
	}
	kind, info := binary.LittleEndian.Uint32(object), binary.LittleEndian.Uint32(object[4:])
	count, start := binary.LittleEndian.Uint32(object[8:]), binary.LittleEndian.Uint32(object[12:])
	size := uint32(1)
	switch kind {
	case m.buffers.bytes:
		ok = !write
	case m.buffers.bytearray:
	case m.buffers.memoryview:
		size = itemBytes(byte(info) &^ mayWrite)
		start += info >> 8 * size
		ok = size > 0 && (!write || info&mayWrite != 0)
	default:
		ok = false
	}
	if !ok || uint64(count)*uint64(size) > uint64(m.eng.mem.Size()) {
		return nil, false
	}
	return m.eng.mem.Read(start, count*size)
}

// itemBytes is the size of an array's items, 0 for those that are no plain numbers.
func itemBytes(code byte) uint32 {
	switch code {
	case 1, 'b', 'B':
		return 1
	case 'h', 'H':
		return 2
	case 'i', 'I', 'l', 'L', 'f':
		return 4
	case 'q', 'Q', 'd':
		return 8
	}
	return 0
}

// pieces cuts p into what one call carries.
func pieces(p []byte, f func(piece []byte) (more bool)) {
	for len(p) > limits.BusBytes {
		if !f(p[:limits.BusBytes]) {
			return
		}
		p = p[limits.BusBytes:]
	}
	f(p)
}
