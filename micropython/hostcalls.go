package micropython

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/pal-terminal/pal/hw"
	"github.com/pal-terminal/pal/limits"
)

const (
	firstHostFunction = 16 // references below belong to the engine's own conventions
	maxHostArgs       = 8
	errnoEFAULT       = 14
	errnoEINVAL       = 22
	errnoENODEV       = 19
	errnoEIO          = 5
)

// hostFunction is one function that the guest library may call. call gets exactly args records; what it returns is the
// Python value, None for a failure that errno(), text() and refusal() then describe.
type hostFunction struct {
	name  string
	args  int
	call  func(m *machine, a []record) record
	keeps bool // an argument that is an object stays the host's
}

// hostFunctions is every way from the guest into the host. The order does not matter; the list is read-only.
var hostFunctions = slices.Concat(ownFunctions, busFunctions)

var ownFunctions = []hostFunction{
	// Hardware.
	{name: "pin_open", args: 1, call: (*machine).openPin},
	{name: "pin_mode", args: 4, call: (*machine).modePin},
	{name: "pin_read", args: 1, call: func(m *machine, a []record) record { return m.simple(hw.OpPinRead, a[0], 0, 0, 0) }},
	{name: "pin_write", args: 2, call: func(m *machine, a []record) record {
		return m.writePin(hw.OpPinWrite, a[0], a[1].number())
	}},
	{name: "pin_toggle", args: 1, call: func(m *machine, a []record) record { return m.writePin(hw.OpPinToggle, a[0], 0) }},
	{name: "pin_irq", args: 2, call: func(m *machine, a []record) record { return m.simple(hw.OpPinIRQ, a[0], a[1].number(), 0, 0) }},
	{name: "adc_open", args: 1, call: func(m *machine, a []record) record { return m.named(hw.Call{Op: hw.OpADCOpen}, a[0]) }},
	{name: "adc_read", args: 1, call: func(m *machine, a []record) record { return m.simple(hw.OpADCRead, a[0], 0, 0, 0) }},
	{name: "adc_uv", args: 1, call: (*machine).microvolts},
	{name: "event", args: 2, call: (*machine).event},
	{name: "board_call", args: 2, call: (*machine).boardCall},
	{name: "refuse", args: 1, call: func(m *machine, a []record) record { return m.named(hw.Call{Op: hw.OpRefuse}, a[0]) }},
	// What the last None meant.
	{name: "errno", call: func(m *machine, _ []record) record { return integer(int64(m.fault.Errno)) }},
	{name: "text", call: func(m *machine, _ []record) record { return m.str(m.fault.Text) }},
	{name: "refusal", call: func(m *machine, _ []record) record { return integer(int64(m.fault.Refusal)) }},
	{name: "settled", call: (*machine).settled},
	{name: "failing", call: (*machine).failing},
	{name: "throwable", args: 1, call: (*machine).throwable},
	{name: "throw", call: (*machine).throw},
	// Time.
	{name: "ticks_us", call: func(m *machine, _ []record) record {
		m.settle()
		return integer(int64(m.sinceStart()/time.Microsecond) & (1<<30 - 1))
	}},
	{name: "deadline", args: 1, call: (*machine).deadline},
	{name: "wait", args: 1, call: func(m *machine, a []record) record {
		return flag(m.sleep(time.Duration(a[0].number()) * time.Microsecond))
	}},
	{name: "time_ns", args: 1, call: (*machine).wallClock},
	{name: "set_clock", args: 2, call: (*machine).setClock},
	// What the machine is.
	{name: "board_name", call: func(m *machine, _ []record) record { return m.str(m.opts.Board) }},
	{name: "pal_version", call: func(m *machine, _ []record) record { return m.str(m.opts.Version) }},
	{name: "random_hex", args: 1, call: (*machine).randomHex},
	// The driver's own.
	{name: "driver_source", call: func(m *machine, _ []record) record { return m.str(driverSource + driverValues) }},
	{name: "register", args: 3, keeps: true, call: (*machine).register},
	{name: "seal", call: func(m *machine, _ []record) record { m.sealed = true; return null }},
	{name: "enter", call: (*machine).enter},
	{name: "leave", call: (*machine).leave},
	{name: "worn_out", call: func(m *machine, _ []record) record { m.wornOut = true; return null }},
	{name: "failed", args: 4, call: (*machine).failed},
	{name: "answer", args: 2, call: (*machine).answer},
	{name: "set_board", args: 1, call: func(m *machine, a []record) record { m.files.SetBoard(a[0].text(m.eng.mem)); return null }},
	{name: "file_text", args: 1, call: func(m *machine, a []record) record { return m.str(m.files.FaultText(int32(a[0].number()))) }},
	{name: "file_sync", call: func(m *machine, _ []record) record { return integer(int64(m.files.Sync())) }},
	{name: "next_edge", call: (*machine).takeEdge},
	{name: "irq_mask", args: 1, call: (*machine).maskHandlers},
	{name: "edge_rose", call: func(m *machine, _ []record) record { return flag(m.edge.Rose) }},
	{name: "edge_lost", call: func(m *machine, _ []record) record { return integer(int64(m.edge.Lost)) }},
	{name: "kick", call: func(m *machine, _ []record) record { m.kicked = true; m.scheduleHandlers(); return null }},
	{name: "again", args: 1, call: (*machine).handlersBroke},
	{name: "stream", args: 2, call: (*machine).keepOpen},
	{name: "error_out", args: 1, call: func(m *machine, a []record) record {
		trace, _ := ownTraceback(string(a[0].text(m.eng.mem)))
		m.print(hw.Stderr, []byte(trace))
		return null
	}},
}

func flag(b bool) record {
	if b {
		return record{kind: toBool, a: 1}
	}
	return record{kind: toBool}
}

// str copies s into the engine, which frees it.
func (m *machine) str(s string) record {
	p, err := m.eng.alloc(m.ctx, len(s)+1)
	if err != nil {
		panic(fatal{err.Error()})
	}
	m.eng.mem.WriteString(p, s)
	m.eng.mem.WriteByte(p+uint32(len(s)), 0)
	return record{kind: toString, a: uint32(len(s)), b: p}
}

// result keeps a failed reply for errno(), text() and refusal() and turns one that succeeded into its value.
func (m *machine) result(r *hw.Reply) record {
	if r.Errno != 0 {
		m.fault = *r
		m.fault.Text = strings.ToValidUTF8(m.fault.Text, "\uFFFD")
		return null
	}
	return integer(r.Value)
}

func (m *machine) fail(errno int32, text string) record {
	m.fault = hw.Reply{Errno: errno, Text: text}
	return null
}

func (m *machine) simple(op hw.Op, pin record, a, b, c int64) record {
	h := pin.number()
	if h < 0 || h > math.MaxUint16 {
		return m.fail(errnoEINVAL, "no such pin")
	}
	return m.result(m.hardware(op, uint16(h), a, b, c))
}

func (m *machine) microvolts(a []record) record {
	h := a[0].number()
	if h < 0 || h > math.MaxUint16 {
		return m.fail(errnoEINVAL, "no such input")
	}
	r := m.hardware(hw.OpADCRead, uint16(h), 0, 0, 0)
	if r.Errno != 0 {
		return m.result(r)
	}
	return integer(r.Extra)
}

func (m *machine) event(a []record) record {
	name, data := a[0].text(m.eng.mem), a[1].text(m.eng.mem)
	switch {
	case len(name) == 0 || len(name) > limits.EventNameBytes:
		return m.fail(errnoEINVAL, "an event name has 1 to 64 bytes")
	case len(data) > limits.EventDataBytes:
		return m.fail(errnoEINVAL, "event data is longer than 4096 bytes of JSON")
	case !utf8.Valid(name) || !utf8.Valid(data):
		return m.fail(errnoEINVAL, "event is not UTF-8")
	}
	return m.result(m.perform(hw.Call{Op: hw.OpEvent, Text: string(name), Data: data}))
}

// boardCall calls a function of board.py in engineering mode. The value is JSON text, or behind "!", which starts no JSON,
// the class and message of what the function raised.
func (m *machine) boardCall(a []record) record {
	data := a[1].text(m.eng.mem)
	if len(data) > limits.OutputMax {
		return m.fail(errnoEINVAL, "arguments are longer than 64 KiB of JSON")
	}
	r := m.perform(hw.Call{Op: hw.OpBoardCall, Text: string(a[0].text(m.eng.mem)), Data: data})
	if r.Errno != 0 && (r.Refusal != 0 || !json.Valid(r.Data)) {
		return m.result(r)
	}
	if r.Errno != 0 {
		return m.str("!" + strings.ToValidUTF8(string(r.Data), "\uFFFD"))
	}
	if len(r.Data) == 0 || !json.Valid(r.Data) {
		return m.str("null")
	}
	return m.str(strings.ToValidUTF8(string(r.Data), "\uFFFD"))
}

// deadline turns a wait in microseconds into a point on the clock that wait understands, as a float: the engine's integers
// end at 31 bits.
func (m *machine) deadline(a []record) record {
	us := min(max(a[0].number(), 0), int64(math.MaxInt32)*1000)
	return float(float64(int64(m.sinceStart()/time.Microsecond) + us))
}

// wallClock answers nanoseconds since 1970 in two parts, since neither the engine's integers nor its floats hold them: the
// argument chooses seconds (0) or the nanoseconds within the last of them asked for (1).
func (m *machine) wallClock(a []record) record {
	if a[0].number() == 0 {
		m.settle()
		m.wall = m.now()
		return float(float64(m.wall.Unix()))
	}
	return integer(int64(m.wall.Nanosecond()))
}

// now is the machine's clock: the system's, moved by what a program set.
func (m *machine) now() time.Time { return time.Now().Add(m.clockAhead) }

// setClock sets the machine's clock, which is nobody else's, to seconds since 1970 and microseconds.
func (m *machine) setClock(a []record) record {
	m.clockAhead = time.Until(time.Unix(a[0].number(), a[1].number()*1000))
	return flag(true)
}

// randomHex answers n bytes of system randomness, n at most 256, in hexadecimal.
func (m *machine) randomHex(a []record) record {
	p := make([]byte, min(max(a[0].number(), 0), 256))
	if _, err := rand.Read(p); err != nil {
		panic(fatal{"read randomness: " + err.Error()})
	}
	return m.str(hex.EncodeToString(p))
}
