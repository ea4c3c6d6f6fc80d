package micropython

import (
	"encoding/binary"
	"math"

	"github.com/tetratelabs/wazero/api"
)

// The engine and its host exchange values as records of three 32-bit words: a kind and its payload.
const recordBytes = 12

// Kinds of record that the engine makes.
const (
	fromException int32 = -1 // length, address of "Class\x04traceback" (the host frees it)
	fromNone      int32 = 1
	fromBool      int32 = 2
	fromInt       int32 = 3
	fromFloat     int32 = 4
	fromString    int32 = 5 // length, address
	fromProxy     int32 = 9 // one of the host's own objects; every other kind from 6 on is a reference to free
)

// Kinds of record that the host makes.
const (
	toUndefined int32 = 0
	toNull      int32 = 1
	toBool      int32 = 2
	toInt       int32 = 3
	toFloat     int32 = 4
	toString    int32 = 5 // length, address from malloc: the engine frees it
	toObject    int32 = 7
)

// record is a value on its way between engine and host.
type record struct {
	kind int32
	a, b uint32
}

func (e *engine) record(p uint32) record {
	raw, ok := e.mem.Read(p, recordBytes)
	if !ok {
		return record{}
	}
	return record{
		kind: int32(binary.LittleEndian.Uint32(raw)),
		a:    binary.LittleEndian.Uint32(raw[4:]),
		b:    binary.LittleEndian.Uint32(raw[8:]),
	}
}

func (e *engine) setRecord(p uint32, r record) {
	raw, ok := e.mem.Read(p, recordBytes)
	if !ok {
		return
	}
	binary.LittleEndian.PutUint32(raw, uint32(r.kind))
	binary.LittleEndian.PutUint32(raw[4:], r.a)
	binary.LittleEndian.PutUint32(raw[8:], r.b)
}

// text is the record's string; valid until the engine runs again.
func (r record) text(mem api.Memory) []byte {
	if r.kind != fromString && r.kind != fromException {
		return nil
	}
	p, _ := mem.Read(r.b, r.a)
	return p
}

// number is the record's value as an int64; floats are cut towards zero.
func (r record) number() int64 {
	switch r.kind {
	case fromBool, fromInt:
		return int64(int32(r.a))
	case fromFloat:
		f := math.Float64frombits(uint64(r.a) | uint64(r.b)<<32)
		switch {
		case math.IsNaN(f):
			return 0
		case f >= math.MaxInt64:
			return math.MaxInt64
		case f <= math.MinInt64:
			return math.MinInt64
		}
		return int64(f)
	}
	return 0
}

// isReference says that the record holds an engine object which the host has to give back.
func (r record) isReference() bool { return r.kind > fromString && r.kind != fromProxy && r.kind != 10 }

var null = record{kind: toNull}

func integer(v int64) record {
	if v == int64(int32(v)) {
		return record{kind: toInt, a: uint32(v)}
	}
	return float(float64(v))
}

func float(f float64) record {
	bits := math.Float64bits(f)
	return record{kind: toFloat, a: uint32(bits), b: uint32(bits >> 32)}
}
