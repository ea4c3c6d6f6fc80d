// Package frame is the wire between the guard and a virtual machine process: length-prefixed binary records over one
// bidirectional descriptor.
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

// Records. Upper half of the alphabet of the protocol: the guard sends Run, Interrupt, Reply, Edge and Bye; the machine
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
	TypeBye                       // guard → machine: end
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
}

// Run carries a job. Seq ties its Interrupt, Call, Output and Done to it.
type Run struct {
	Seq uint32
	Job hw.Job
}

// Interrupt asks for KeyboardInterrupt in job Seq; a machine that is not running that job ignores it.
type Interrupt struct{ Seq uint32 }

// Call is one hardware call of job Seq.
type Call struct {
	Seq  uint32
	Call hw.Call
}

// Reply answers the machine's outstanding Call.
type Reply struct{ Reply hw.Reply }

// Edge is a level change for the running job.
type Edge struct{ Edge hw.Edge }

// Output is printed text of job Seq.
type Output struct {
	Seq    uint32
	Stream hw.Stream
	Data   []byte
}

// Done ends job Seq. The fields of Outcome that only the guard can know (Rung, Died, Cause, Started) are not carried.
type Done struct {
	Seq     uint32
	Outcome hw.Outcome
}

// Heartbeat says that the machine is alive; Fuel is what the running job has burnt so far.
type Heartbeat struct{ Fuel uint64 }

// Bye asks the machine to end.
type Bye struct{}

// Append encodes rec, one of the structs of this package, with its length prefix and returns the extended buffer. It fails
// only when the record would be longer than limits.FrameBytes or rec is of another type.
func Append(buf []byte, rec any) ([]byte, error) {
	start := len(buf)
	w := writer{append(buf, 0, 0, 0, 0, 0)}
	t, err := w.record(rec)
	if err != nil {
		return buf, err
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

func (w *writer) record(rec any) (Type, error) {
	switch r := rec.(type) {
	case *Call: // by pointer on the hot path, so that nothing escapes
		w.u32(r.Seq)
		w.call(&r.Call)
		return TypeCall, nil
	case *Reply:
		w.reply(&r.Reply)
		return TypeReply, nil
	case Ready:
		w.str(r.Engine)
		w.strs(r.Sandbox)
		w.strs(r.Missing)
		w.u64(uint64(r.BootUS))
		w.u64(r.HeapBytes)
		return TypeReady, nil
	case Run:
		w.u32(r.Seq)
		w.job(&r.Job)
		return TypeRun, nil
	case Interrupt:
		w.u32(r.Seq)
		return TypeInterrupt, nil
	case Edge:
		w.edge(&r.Edge)
		return TypeEdge, nil
	case Output:
		w.u32(r.Seq)
		w.u8(uint8(r.Stream))
		w.bytes(r.Data)
		return TypeOutput, nil
	case Done:
		w.u32(r.Seq)
		w.outcome(&r.Outcome)
		return TypeDone, nil
	case Heartbeat:
		w.u64(r.Fuel)
		return TypeHeartbeat, nil
	case Bye:
		return TypeBye, nil
	}
	return 0, fmt.Errorf("%w: %T", ErrUnknown, rec)
}

// Decode reads one record without its length prefix and returns one of the structs of this package, Call and Reply as
// pointers. The result shares no memory with body.
func Decode(body []byte) (any, error) {
	r := reader{b: body}
	t := Type(r.u8())
	var rec any
	switch t {
	case TypeReady:
		rec = Ready{Engine: r.str(), Sandbox: r.strs(), Missing: r.strs(), BootUS: int64(r.u64()), HeapBytes: r.u64()}
	case TypeRun:
		rec = Run{Seq: r.u32(), Job: r.job()}
	case TypeInterrupt:
		rec = Interrupt{Seq: r.u32()}
	case TypeCall:
		rec = &Call{Seq: r.u32(), Call: r.call()}
	case TypeReply:
		rec = &Reply{Reply: r.reply()}
	case TypeEdge:
		rec = Edge{Edge: r.edge()}
	case TypeOutput:
		rec = Output{Seq: r.u32(), Stream: hw.Stream(r.u8()), Data: r.bytes()}
	case TypeDone:
		rec = Done{Seq: r.u32(), Outcome: r.outcome()}
	case TypeHeartbeat:
		rec = Heartbeat{Fuel: r.u64()}
	case TypeBye:
		rec = Bye{}
	default:
		return nil, fmt.Errorf("%w: %d", ErrUnknown, t)
	}
	if r.short {
		return nil, ErrShort
	}
	if len(r.b) > 0 {
		return nil, ErrTrailing
	}
	return rec, nil
}
