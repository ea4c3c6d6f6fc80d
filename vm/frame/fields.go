package frame

import (
	"encoding/binary"
	"math"

	"github.com/pal-terminal/pal/hw"
)

// wire moves fields between structs and bytes. The order of a record's fields is written once, for both directions: writing,
// b grows; reading, fields are taken from its front. After the first field that is not there every further one is zero and
// short stays set.
type wire struct {
	b       []byte
	reading bool
	short   bool
}

// take returns the next n bytes, or nil when they are not there.
func (w *wire) take(n int) []byte {
	if w.short || n > len(w.b) {
		w.short = true
		return nil
	}
	p := w.b[:n]
	w.b = w.b[n:]
	return p
}

// num moves an integer of the given number of bytes, which are its type's.
func num[T ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~int32 | ~int64](w *wire, v *T, bytes int) {
	var b [8]byte
	if w.reading {
		copy(b[:], w.take(bytes))
		*v = T(binary.LittleEndian.Uint64(b[:]))
		return
	}
	binary.LittleEndian.PutUint64(b[:], uint64(*v))
	w.b = append(w.b, b[:bytes]...)
}

// size moves a length or a count, which fits an int of every system.
func (w *wire) size(n *int) {
	v := uint32(max(0, min(*n, math.MaxInt32)))
	num(w, &v, 4)
	if v > math.MaxInt32 {
		w.short, v = true, 0
	}
	*n = int(v)
}

func (w *wire) flag(v *bool) {
	var b uint8
	if *v {
		b = 1
	}
	num(w, &b, 1)
	*v = b != 0
}

func (w *wire) text(s *string) {
	n := len(*s)
	if w.size(&n); w.reading {
		*s = string(w.take(n))
	} else {
		w.b = append(w.b, *s...)
	}
}

func (w *wire) bytes(p *[]byte) {
	n := len(*p)
	if w.size(&n); w.reading {
		*p = append([]byte(nil), w.take(n)...)
	} else {
		w.b = append(w.b, *p...)
	}
}

// texts moves a list. One longer than a uint16 can count is cut, which no caller within the limits reaches.
func (w *wire) texts(list *[]string) {
	n := uint16(min(len(*list), math.MaxUint16))
	num(w, &n, 2)
	for i := range int(n) {
		if w.reading {
			*list = append(*list, "")
		}
		if w.text(&(*list)[i]); w.short { // a count that promises more than the record holds must not make us grow
			return
		}
	}
}

func (w *wire) call(c *hw.Call) {
	num(w, &c.Op, 1)
	num(w, &c.Pin, 2)
	num(w, &c.A, 8)
	num(w, &c.B, 8)
	num(w, &c.C, 8)
	w.text(&c.Text)
	w.bytes(&c.Data)
	w.flag(&c.Posted)
}

func (w *wire) reply(r *hw.Reply) {
	num(w, &r.Errno, 4)
	num(w, &r.Refusal, 4)
	num(w, &r.Value, 8)
	num(w, &r.Extra, 8)
	w.text(&r.Text)
	w.bytes(&r.Data)
}

func (w *wire) edge(e *hw.Edge) {
	num(w, &e.Source, 1)
	num(w, &e.Pin, 2)
	w.flag(&e.Rose)
	num(w, &e.Lost, 4)
	num(w, &e.AtUS, 8)
	w.text(&e.Label)
}

func (w *wire) job(j *hw.Job) {
	num(w, &j.Kind, 1)
	w.text(&j.Session)
	w.texts(&j.Drop)
	w.text(&j.Code)
	w.text(&j.Func)
	w.bytes(&j.Args)
	w.flag(&j.Single)
	w.flag(&j.Eval)
	w.size(&j.MaxOutput)
	w.edge(&j.Edge)
}

func (w *wire) outcome(o *hw.Outcome) {
	raised := o.Exception != nil
	if w.flag(&raised); raised {
		if w.reading {
			o.Exception = new(hw.Exception)
		}
		w.text(&o.Exception.Class)
		w.text(&o.Exception.Message)
		w.size(&o.Exception.Line)
		w.text(&o.Exception.Traceback)
	}
	w.bytes(&o.Value)
	num(w, &o.Fuel, 8)
	num(w, &o.Refusal, 4)
	w.size(&o.DroppedOut)
	w.size(&o.DroppedErr)
}
