package micropython

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"time"

	"github.com/tetratelabs/wazero/api"
)

// imports are the functions that the engine expects of its host; one not listed answers "not supported". Each takes its
// arguments from stack and leaves its result there.
func imports(m *machine) map[string]func(stack []uint64) {
	table := map[string]func([]uint64){
		"tick":             func([]uint64) { m.tick() },
		"mp_js_random_u32": func(s []uint64) { s[0] = uint64(m.random.next()) },
		"mp_js_ticks_ms": func(s []uint64) {
			m.settle()
			s[0] = uint64(uint32(m.sinceStart() / time.Millisecond))
		},
		"mp_js_time_ms":          func(s []uint64) { s[0] = api.EncodeF64(float64(m.now().UnixMilli())) },
		"emscripten_resize_heap": func(s []uint64) { s[0] = truth(m.eng.grow(uint32(s[0]))) },
		"_abort_js":              func([]uint64) { panic(fatal{"the engine called abort"}) },
		"js_check_existing":      func(s []uint64) { s[0] = minus(1) },
		"proxy_js_free_obj":      func([]uint64) {},
		"has_attr":               func(s []uint64) { s[0] = 0 },
		"lookup_attr":            func(s []uint64) { s[0] = m.lookup(uint32(s[0]), uint32(s[1]), uint32(s[2])) },
		"call0":                  func(s []uint64) { m.hostCall(uint32(s[0]), uint32(s[1]), 0, 0) },
		"call1": func(s []uint64) {
			m.hostCall(uint32(s[0]), uint32(s[3]), uint32(s[2]), 1)
			s[0] = 0
		},
		"call2": func(s []uint64) {
			m.hostCall2(uint32(s[0]), uint32(s[4]), uint32(s[2]), uint32(s[3]))
			s[0] = 0
		},
		"calln": func(s []uint64) {
			m.hostCall(uint32(s[0]), uint32(s[4]), uint32(s[3]), uint32(s[2]))
			s[0] = 0
		},
		"call0_kwarg": func(s []uint64) { m.eng.setRecord(uint32(s[5]), null) },
		"calln_kwarg": func(s []uint64) { m.eng.setRecord(uint32(s[7]), null) },
		"proxy_convert_mp_to_js_then_js_to_mp_obj_jsside":               m.dropRecord,
		"proxy_convert_mp_to_js_then_js_to_js_then_js_to_mp_obj_jsside": m.dropRecord,
	}
	for name, call := range m.files.Calls() {
		table[name] = func(s []uint64) { call(m.eng.mem, s) }
	}
	return table
}

// unsupported serves the imports for JavaScript objects, of which there are none here: nothing happens, and whoever
// expects a number gets ENOSYS.
func unsupported(result bool) func([]uint64) {
	return func(s []uint64) {
		if result {
			s[0] = minus(38)
		}
	}
}

// dropRecord replaces a value that the program wants turned into a JavaScript one with None.
func (m *machine) dropRecord(s []uint64) {
	m.giveBack(m.eng.record(uint32(s[0])))
	m.eng.setRecord(uint32(s[0]), null)
}

// lookup resolves js.NAME for the driver and the library, which take what they need before the first job; then the door
// is shut and a program finds nothing there.
func (m *machine) lookup(ref, name, out uint32) uint64 {
	if m.sealed || ref != 0 {
		return 0
	}
	rest, ok := m.eng.mem.Read(name, min(64, m.eng.mem.Size()-name))
	if !ok {
		return 0
	}
	if end := bytes.IndexByte(rest, 0); end >= 0 {
		rest = rest[:end]
	}
	for k := range hostFunctions {
		if hostFunctions[k].name == string(rest) {
			m.eng.setRecord(out, record{kind: toObject, a: firstHostFunction + uint32(k)})
			return 1
		}
	}
	return 0
}

// hostCall runs one host function on n argument records at args.
func (m *machine) hostCall(ref, out, args, n uint32) {
	k := ref - firstHostFunction
	if k >= uint32(len(hostFunctions)) || n > maxHostArgs {
		m.eng.setRecord(out, null)
		return
	}
	for i := range n {
		m.args[i] = m.eng.record(args + i*recordBytes)
	}
	m.dispatch(k, n, out)
}

func (m *machine) hostCall2(ref, out, a, b uint32) {
	k := ref - firstHostFunction
	if k >= uint32(len(hostFunctions)) {
		m.eng.setRecord(out, null)
		return
	}
	m.args[0], m.args[1] = m.eng.record(a), m.eng.record(b)
	m.dispatch(k, 2, out)
}

func (m *machine) dispatch(k, n, out uint32) {
	f := &hostFunctions[k]
	args := m.args[:n]
	var r record
	if int(n) != f.args {
		r = null
	} else {
		r = f.call(m, args)
	}
	for _, a := range args {
		if a.isReference() && !f.keeps {
			m.giveBack(a)
		}
	}
	m.eng.setRecord(out, r)
}

// giveBack frees what the engine holds for a record that the host does not keep.
func (m *machine) giveBack(r record) {
	var err error
	switch {
	case r.isReference():
		m.eng.args[0] = uint64(r.a)
		err = m.eng.proxyFree.CallWithStack(m.ctx, m.eng.args[:])
	case r.kind == fromException:
		err = m.eng.release(m.ctx, r.b)
	}
	if err != nil {
		panic(fatal{"free a value: " + err.Error()})
	}
}

func truth(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// minus is a negative 32-bit result.
func minus(n int32) uint64 { return uint64(uint32(-n)) }

// randomness hands out system randomness 32 bits at a time.
type randomness struct {
	buf  [256]byte
	left int
}

func (r *randomness) next() uint32 {
	if r.left < 4 {
		if _, err := rand.Read(r.buf[:]); err != nil {
			panic(fatal{"read randomness: " + err.Error()})
		}
		r.left = len(r.buf)
	}
	r.left -= 4
	v := binary.LittleEndian.Uint32(r.buf[r.left:])
	return v
}
