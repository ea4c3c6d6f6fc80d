// Package frame is the wire between the guard and a virtual machine process: length-prefixed binary records over one
// bidirectional descriptor or, once Ready has gone over that, over two rings in shared memory ([Rings]), with the descriptor left
// for wake-ups.
//
// # Format
//
//	length  uint32 little endian, of what follows; at most limits.FrameBytes
//	type    uint8, a [Type]
//	body    fields in the order of the type's struct: fixed-width integers little endian, strings and bytes as uint32
//	        length and that many bytes, lists as uint16 count
//
// The guard treats the machine as hostile: [Decode] bounds every length by what is left of the record, refuses trailing
// bytes and unknown types, and copies what it returns. frame neither reads nor writes descriptors: vm and micropython do.
package frame

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/pal-terminal/pal/hw"
	"github.com/pal-terminal/pal/limits"
)

// Type names a record.
type Type uint8

// Records. Upper half of the alphabet of the protocol: the guard sends Run, Interrupt, Reply and Edge; the machine
// sends Ready, Call, Output, Done and Heartbeat.
const (
	TypeReady     Type = iota + 1 // machine → guard, once: it can run jobs
	TypeRun                       // guard → machine: one job
	TypeInterrupt                 // guard → machine: raise KeyboardInterrupt in job Seq
	TypeCall                      // machine → guard: one hardware call of the running job
	TypeReply                     // guard → machine: its answer
	TypeEdge                      // guard → machine: a level change
	TypeOutput                    // machine → guard: printed bytes
	TypeDone                      // machine → guard: the job's end
	TypeHeartbeat                 // machine → guard: it is alive and its engine reached a tick, a wait or idleness
)

// HeaderBytes is the size of the length prefix.
const HeaderBytes = 4

// Errors of Decode.
var (
	ErrShort    = errors.New("frame: record is cut short")
	ErrTrailing = errors.New("frame: bytes after the record's fields")
	ErrTooLong  = errors.New("frame: record is too long")
	ErrUnknown  = errors.New("frame: unknown record type")
)

// Ready is sent once by the machine.
type Ready struct {
	Engine    string   // engine version, for status and doctor
	Sandbox   []string // measures that are active: "rlimits", "landlock-v4", "seccomp", "pdeathsig", "empty-env", "no-new-privs"
	Missing   []string // measures that are not, each with its reason
	BootUS    int64    // microseconds from process start to ready
	HeapBytes uint64
	Shared    bool // every further record goes through the shared memory, in both directions
}

func (r *Ready) fields(w *wire) {
	w.text(&r.Engine)
	w.texts(&r.Sandbox)
	w.texts(&r.Missing)
	num(w, &r.BootUS, 8)
	num(w, &r.HeapBytes, 8)
	w.flag(&r.Shared)
}

// Run carries a job. Seq ties its Interrupt, Call, Output and Done to it.
type Run struct {
	Seq uint32
	Job hw.Job
}

func (r *Run) fields(w *wire) { num(w, &r.Seq, 4); w.job(&r.Job) }

// Interrupt asks for KeyboardInterrupt in job Seq; a machine that is not running that job ignores it.
type Interrupt struct{ Seq uint32 }

func (r *Interrupt) fields(w *wire) { num(w, &r.Seq, 4) }

// Call is one hardware call of job Seq.
type Call struct {
	Seq  uint32
	Call hw.Call
}

func (r *Call) fields(w *wire) { num(w, &r.Seq, 4); w.call(&r.Call) }

// Reply answers the machine's outstanding Call.
type Reply struct{ Reply hw.Reply }

func (r *Reply) fields(w *wire) { w.reply(&r.Reply) }

// Edge is a level change for the running job.
type Edge struct{ Edge hw.Edge }

func (r *Edge) fields(w *wire) { w.edge(&r.Edge) }

// Output is printed text of job Seq.
type Output struct {
	Seq    uint32
	Stream hw.Stream
	Data   []byte
}

func (r *Output) fields(w *wire) { num(w, &r.Seq, 4); num(w, &r.Stream, 1); w.bytes(&r.Data) }

// Done ends job Seq. The fields of Outcome that only the guard can know (Rung, Died, Cause, Started) are not carried.
type Done struct {
	Seq     uint32
	Outcome hw.Outcome
}

func (r *Done) fields(w *wire) { num(w, &r.Seq, 4); w.outcome(&r.Outcome) }

// Heartbeat says that the machine is alive. The end of the channel is what ends it.
type Heartbeat struct{}

// Append encodes rec, one of the structs of this package, with its length prefix and returns the extended buffer. It fails
// only when the record would be longer than limits.FrameBytes or rec is of another type.
func Append(buf []byte, rec any) ([]byte, error) {
	start := len(buf)
	w := wire{b: append(buf, 0, 0, 0, 0, 0)}
	t := w.write(rec)
	if t == 0 {
		return buf, fmt.Errorf("%w: %T", ErrUnknown, rec)
	}
	n := len(w.b) - start - HeaderBytes
	if n > limits.FrameBytes {
		return buf, fmt.Errorf("%w: %d bytes", ErrTooLong, n)
	}
	binary.LittleEndian.PutUint32(w.b[start:], uint32(n))
	w.b[start+HeaderBytes] = byte(t)
	return w.b, nil
}

// Length reads a length prefix and checks it.
func Length(header [HeaderBytes]byte) (int, error) {
	n := binary.LittleEndian.Uint32(header[:])
	if n == 0 {
		return 0, ErrShort
	}
	if n > limits.FrameBytes {
		return 0, fmt.Errorf("%w: %d bytes", ErrTooLong, n)
	}
	return int(n), nil
}

// write appends the fields of rec and returns its type, 0 when it has none.
func (w *wire) write(rec any) Type {
	switch r := rec.(type) {
	case *Call: // by pointer on the hot path, so that nothing escapes
		r.fields(w)
		return TypeCall
	case *Reply:
		r.fields(w)
		return TypeReply
	case Ready:
		r.fields(w)
		return TypeReady
	case Run:
		r.fields(w)
		return TypeRun
	case Interrupt:
		r.fields(w)
		return TypeInterrupt
	case Edge:
		r.fields(w)
		return TypeEdge
	case Output:
		r.fields(w)
		return TypeOutput
	case Done:
		r.fields(w)
		return TypeDone
	case Heartbeat:
		return TypeHeartbeat
	}
	return 0
}

// Decode reads one record without its length prefix and returns one of the structs of this package, Call and Reply as
// pointers. The result shares no memory with body.
func Decode(body []byte) (any, error) {
	w := wire{b: body, reading: true}
	var t Type
	num(&w, &t, 1)
	rec := w.read(t)
	switch {
	case w.short:
		return nil, ErrShort
	case rec == nil:
		return nil, fmt.Errorf("%w: %d", ErrUnknown, t)
	case len(w.b) > 0:
		return nil, ErrTrailing
	}
	return rec, nil
}

// read returns the record of type t that follows, nil when there is no such type.
func (w *wire) read(t Type) any {
	switch t {
	case TypeReady:
		return fresh(w, (*Ready).fields)
	case TypeRun:
		return fresh(w, (*Run).fields)
	case TypeInterrupt:
		return fresh(w, (*Interrupt).fields)
	case TypeCall:
		r := new(Call)
		r.fields(w)
		return r
	case TypeReply:
		r := new(Reply)
		r.fields(w)
		return r
	case TypeEdge:
		return fresh(w, (*Edge).fields)
	case TypeOutput:
		return fresh(w, (*Output).fields)
	case TypeDone:
		return fresh(w, (*Done).fields)
	case TypeHeartbeat:
		return Heartbeat{}
	}
	return nil
}

func fresh[T any](w *wire, fields func(*T, *wire)) T {
	var r T
	fields(&r, w)
	return r
}
