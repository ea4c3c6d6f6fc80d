package frame

import (
	"encoding/binary"
	"math"

	"github.com/pal-terminal/pal/hw"
)

// writer appends fields; lists longer than a uint16 can count are cut, which no caller within the limits reaches.
type writer struct{ b []byte }

func (w *writer) u8(v uint8)   { w.b = append(w.b, v) }
func (w *writer) u16(v uint16) { w.b = binary.LittleEndian.AppendUint16(w.b, v) }
func (w *writer) u32(v uint32) { w.b = binary.LittleEndian.AppendUint32(w.b, v) }
func (w *writer) u64(v uint64) { w.b = binary.LittleEndian.AppendUint64(w.b, v) }
func (w *writer) str(s string) { w.u32(uint32(len(s))); w.b = append(w.b, s...) }
func (w *writer) bytes(p []byte) {
	w.u32(uint32(len(p)))
	w.b = append(w.b, p...)
}

func (w *writer) flag(v bool) {
	if v {
		w.u8(1)
	} else {
		w.u8(0)
	}
}

func (w *writer) strs(list []string) {
	if len(list) > math.MaxUint16 {
		list = list[:math.MaxUint16]
	}
	w.u16(uint16(len(list)))
	for _, s := range list {
		w.str(s)
	}
}

func (w *writer) call(c *hw.Call) {
	w.u8(uint8(c.Op))
	w.u16(c.Pin)
	w.u64(uint64(c.A))
	w.u64(uint64(c.B))
	w.u64(uint64(c.C))
	w.str(c.Text)
	w.bytes(c.Data)
}

func (w *writer) reply(r *hw.Reply) {
	w.u32(uint32(r.Errno))
	w.u32(r.Refusal)
	w.u64(uint64(r.Value))
	w.u64(uint64(r.Extra))
	w.str(r.Text)
	w.bytes(r.Data)
}

func (w *writer) edge(e *hw.Edge) {
	w.u16(e.Pin)
	w.flag(e.Rose)
	w.u32(e.Lost)
	w.u64(uint64(e.AtUS))
	w.str(e.Label)
}

func (w *writer) job(j *hw.Job) {
	w.u8(uint8(j.Kind))
	w.str(j.Session)
	w.strs(j.Drop)
	w.str(j.Code)
	w.str(j.Func)
	w.bytes(j.Args)
	w.flag(j.Single)
	w.flag(j.Eval)
	w.u32(uint32(j.MaxOutput))
	w.edge(&j.Edge)
}

func (w *writer) outcome(o *hw.Outcome) {
	w.flag(o.Exception != nil)
	if e := o.Exception; e != nil {
		w.str(e.Class)
		w.str(e.Message)
		w.u32(uint32(e.Line))
		w.str(e.Traceback)
	}
	w.bytes(o.Value)
	w.u64(o.Fuel)
	w.u32(o.Refusal)
	w.u64(uint64(o.DroppedOut))
	w.u64(uint64(o.DroppedErr))
}

// reader takes fields from the front of b; after the first field that is not there every further one is zero and short
// stays set.
type reader struct {
	b     []byte
	short bool
}

func (r *reader) take(n int) []byte {
	if r.short || n < 0 || n > len(r.b) {
		r.short = true
		return nil
	}
	p := r.b[:n]
	r.b = r.b[n:]
	return p
}

func (r *reader) u8() uint8 {
	if p := r.take(1); p != nil {
		return p[0]
	}
	return 0
}

func (r *reader) u16() uint16 {
	if p := r.take(2); p != nil {
		return binary.LittleEndian.Uint16(p)
	}
	return 0
}

func (r *reader) u32() uint32 {
	if p := r.take(4); p != nil {
		return binary.LittleEndian.Uint32(p)
	}
	return 0
}

func (r *reader) u64() uint64 {
	if p := r.take(8); p != nil {
		return binary.LittleEndian.Uint64(p)
	}
	return 0
}

// size reads a length; on a 32-bit system one over the largest int must not turn negative.
func (r *reader) size() int {
	n := r.u32()
	if n > math.MaxInt32 {
		r.short = true
		return 0
	}
	return int(n)
}

// count reads a byte count made by the peer and keeps it within an int.
func (r *reader) count() int {
	n := r.u64()
	if n > math.MaxInt32 {
		return math.MaxInt32
	}
	return int(n)
}

func (r *reader) flag() bool { return r.u8() != 0 }

func (r *reader) str() string { return string(r.take(r.size())) }

func (r *reader) bytes() []byte {
	p := r.take(r.size())
	if len(p) == 0 {
		return nil
	}
	return append([]byte(nil), p...)
}

func (r *reader) strs() []string {
	n := int(r.u16())
	var list []string
	for range n {
		s := r.str()
		if r.short { // a count that promises more than the record holds must not make us loop or grow
			return nil
		}
		list = append(list, s)
	}
	return list
}

func (r *reader) call() hw.Call {
	return hw.Call{
		Op: hw.Op(r.u8()), Pin: r.u16(),
		A: int64(r.u64()), B: int64(r.u64()), C: int64(r.u64()),
		Text: r.str(), Data: r.bytes(),
	}
}

func (r *reader) reply() hw.Reply {
	return hw.Reply{
		Errno: int32(r.u32()), Refusal: r.u32(),
		Value: int64(r.u64()), Extra: int64(r.u64()),
		Text: r.str(), Data: r.bytes(),
	}
}

func (r *reader) edge() hw.Edge {
	return hw.Edge{Pin: r.u16(), Rose: r.flag(), Lost: r.u32(), AtUS: int64(r.u64()), Label: r.str()}
}

func (r *reader) job() hw.Job {
	return hw.Job{
		Kind: hw.JobKind(r.u8()), Session: r.str(), Drop: r.strs(), Code: r.str(), Func: r.str(), Args: r.bytes(),
		Single: r.flag(), Eval: r.flag(), MaxOutput: r.size(), Edge: r.edge(),
	}
}

func (r *reader) outcome() hw.Outcome {
	var o hw.Outcome
	if r.flag() {
		o.Exception = &hw.Exception{Class: r.str(), Message: r.str(), Line: r.size(), Traceback: r.str()}
	}
	o.Value = r.bytes()
	o.Fuel = r.u64()
	o.Refusal = r.u32()
	o.DroppedOut = r.count()
	o.DroppedErr = r.count()
	return o
}
