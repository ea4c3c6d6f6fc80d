package micropython

import (
	"encoding/binary"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/pal-terminal/pal/hw"
	"github.com/pal-terminal/pal/limits"
)

// busFunctions are the host functions of everything beyond single levels: PWM, buses, pulses, counters, timers, tools. Handles come
// first; data goes by the address of the object that holds it (machine.buffer).
var busFunctions = []hostFunction{
	{name: "pwm", args: 4, call: func(m *machine, a []record) record {
		return m.simple(hw.OpPWM, a[0], a[1].number(), a[2].number(), a[3].number())
	}},
	{name: "pulse", args: 3, call: func(m *machine, a []record) record {
		return m.simple(hw.OpPulse, a[0], a[1].number(), a[2].number(), 0)
	}},
	{name: "bitstream", args: 6, call: (*machine).bitstream},
	{name: "dht", args: 2, call: func(m *machine, a []record) record { return m.fill(hw.Call{Op: hw.OpDHT}, a[0], a[1]) }},
	{name: "onewire_reset", args: 1, call: func(m *machine, a []record) record {
		return m.simple(hw.OpOneWire, a[0], hw.OneWireReset, 0, 0)
	}},
	{name: "onewire_bit", args: 2, call: func(m *machine, a []record) record {
		return m.simple(hw.OpOneWire, a[0], hw.OneWireBit, a[1].number(), 0)
	}},
	{name: "onewire_write", args: 2, call: func(m *machine, a []record) record {
		return m.write(hw.Call{Op: hw.OpOneWire, A: hw.OneWireWrite}, a[0], a[1])
	}},
	{name: "onewire_read", args: 2, call: func(m *machine, a []record) record {
		p, ok := m.buffer(a[1], true)
		if !ok || len(p) > limits.BusBytes {
			return m.noBuffer()
		}
		return m.fill(hw.Call{Op: hw.OpOneWire, A: hw.OneWireRead, B: int64(len(p))}, a[0], a[1])
	}},
	{name: "bus_open", args: 2, call: (*machine).busOpen},
	{name: "bus_close", args: 1, call: func(m *machine, a []record) record { return m.simple(hw.OpBusClose, a[0], 0, 0, 0) }},
	{name: "i2c", args: 7, call: (*machine).i2c},
	{name: "i2c_scan", args: 2, call: func(m *machine, a []record) record { return m.fill(hw.Call{Op: hw.OpI2CScan}, a[0], a[1]) }},
	{name: "spi", args: 4, call: (*machine).spi},
	{name: "uart_write", args: 3, call: (*machine).uartWrite},
	{name: "uart_read", args: 3, call: (*machine).uartRead},
	{name: "uart_any", args: 1, call: func(m *machine, a []record) record { return m.simple(hw.OpUARTAny, a[0], 0, 0, 0) }},
	{name: "uart_irq", args: 2, call: func(m *machine, a []record) record {
		return m.arm(hw.OpUARTIRQ, hw.SourceUART, a[0], a[1].number(), 0)
	}},
	{name: "count_open", args: 4, call: func(m *machine, a []record) record {
		return m.named(hw.Call{Op: hw.OpCountOpen, A: a[1].number(), B: a[2].number(), C: a[3].number()}, a[0])
	}},
	{name: "count", args: 3, call: (*machine).count},
	{name: "timer", args: 3, call: func(m *machine, a []record) record {
		return m.arm(hw.OpTimer, hw.SourceTimer, a[0], a[1].number(), a[2].number())
	}},
	{name: "offer_tool", args: 1, call: func(m *machine, a []record) record { return m.named(hw.Call{Op: hw.OpTool}, a[0]) }},
	{name: "network", args: 1, call: (*machine).network},
	{name: "buffers", args: 3, call: (*machine).learnBuffers},
}

// at sets the call's handle; false when there can be no such.
func at(c *hw.Call, handle record) bool {
	h := handle.number()
	c.Pin = uint16(h)
	return h >= 0 && h <= math.MaxUint16
}

func (m *machine) noHandle() record { return m.fail(errnoEINVAL, "no such bus or pin") }

// noBuffer tells the library to raise TypeError.
func (m *machine) noBuffer() record { return m.fail(errnoEFAULT, "") }

// named makes a call about something that the program names.
func (m *machine) named(c hw.Call, name record) record {
	text := name.text(m.eng.mem)
	if len(text) > limits.NameBytes || !utf8.Valid(text) {
		return m.fail(errnoEINVAL, "name is too long or not UTF-8")
	}
	c.Text = string(text)
	return m.result(m.perform(c))
}

// arm arms a source (period or flag above 0) or disarms it. What waits of a disarmed source is forgotten: it belongs to the arming before.
// Not so when it is armed: its first turn may come before the answer.
func (m *machine) arm(op hw.Op, s hw.Source, number record, a, b int64) record {
	result := m.simple(op, number, a, b, 0)
	if a == 0 && result.kind != toNull {
		m.edges.drop(edgeKey(s, uint16(number.number())))
	}
	return result
}

// write makes a call that only sends, in as many pieces as it takes; the answer is that of the last.
func (m *machine) write(c hw.Call, handle, buf record) record {
	p, ok := m.buffer(buf, false)
	switch {
	case !ok:
		return m.noBuffer()
	case !at(&c, handle):
		return m.noHandle()
	}
	var r *hw.Reply
	pieces(p, func(piece []byte) bool {
		c.Data = piece
		r = m.perform(c)
		return r.Errno == 0
	})
	return m.result(r)
}

// fill makes a call whose answer's data goes into a buffer and returns how many bytes came.
func (m *machine) fill(c hw.Call, handle, buf record) record {
	p, ok := m.buffer(buf, true)
	switch {
	case !ok:
		return m.noBuffer()
	case !at(&c, handle):
		return m.noHandle()
	}
	r := m.perform(c)
	if r.Errno != 0 {
		return m.result(r)
	}
	return integer(int64(copy(p, r.Data)))
}

// bitstream sends a buffer with the four times of its bits.
func (m *machine) bitstream(a []record) record {
	p, ok := m.buffer(a[5], false)
	c := hw.Call{Op: hw.OpBitstream}
	switch {
	case !ok:
		return m.noBuffer()
	case !at(&c, a[0]):
		return m.noHandle()
	case len(p) > limits.BusBytes:
		return m.fail(errnoEINVAL, "longer than 64 KiB")
	}
	m.scratch = m.scratch[:0]
	for _, t := range a[1:5] {
		m.scratch = binary.LittleEndian.AppendUint32(m.scratch, uint32(t.number()))
	}
	m.scratch = append(m.scratch, p...)
	c.Data = m.scratch
	return m.result(m.perform(c))
}

func (m *machine) busOpen(a []record) record {
	settings := a[1].text(m.eng.mem)
	if len(settings) > limits.MetaBytes || !utf8.Valid(settings) {
		return m.fail(errnoEINVAL, "settings are too long")
	}
	return m.named(hw.Call{Op: hw.OpBusOpen, Data: settings}, a[0])
}

// i2c makes one transaction: handle, address, flags, register number and its bytes (0 to 4, most significant first), buffer to write
// after it, buffer to fill. The value is how many bytes of the buffer to write were acknowledged.
func (m *machine) i2c(a []record) record {
	w, ok := m.buffer(a[5], false)
	r, okRead := m.buffer(a[6], true)
	c := hw.Call{Op: hw.OpI2C, A: a[1].number(), B: a[2].number(), C: int64(len(r)), Data: w}
	before := int(a[4].number())
	switch {
	case !ok || !okRead:
		return m.noBuffer()
	case !at(&c, a[0]) || before < 0 || before > 4:
		return m.noHandle()
	case len(w)+before > limits.BusBytes || len(r) > limits.BusBytes:
		return m.fail(errnoEINVAL, "longer than 64 KiB")
	}
	if before > 0 {
		register := binary.BigEndian.AppendUint32(m.scratch[:0], uint32(a[3].number()))
		m.scratch = append(register, w...)
		c.Data = m.scratch[4-before:]
	}
	reply := m.perform(c)
	if reply.Errno != 0 {
		return m.result(reply)
	}
	if len(reply.Data) != len(r) {
		return m.fail(errnoEIO, "the bus gave fewer bytes than it was asked for")
	}
	copy(r, reply.Data)
	return integer(reply.Value - int64(before))
}

// spi sends a buffer, or as many bytes of one value as the other buffer is long, and fills that when there is one.
func (m *machine) spi(a []record) record {
	tx, ok := m.buffer(a[1], false)
	rx, okRead := m.buffer(a[2], true)
	c := hw.Call{Op: hw.OpSPI}
	switch {
	case !ok || !okRead:
		return m.noBuffer()
	case !at(&c, a[0]):
		return m.noHandle()
	case tx != nil && rx != nil && len(tx) != len(rx):
		return m.fail(errnoEINVAL, "buffers must be the same length")
	}
	if rx != nil {
		c.A = 1
	}
	if tx == nil { // what comes in may as well be what goes out: it is overwritten afterwards
		for k := range rx {
			rx[k] = byte(a[3].number())
		}
		tx = rx
	}
	var r *hw.Reply
	pieces(tx, func(piece []byte) bool {
		c.Data = piece
		r = m.perform(c)
		if r.Errno == 0 && c.A != 0 && len(r.Data) != len(piece) {
			r = &hw.Reply{Errno: errnoEIO, Text: "the bus gave fewer bytes than it was asked for"}
		}
		if r.Errno != 0 {
			return false
		}
		rx = rx[copy(rx, r.Data):]
		return true
	})
	return m.result(r)
}

// uartWrite sends a buffer from an offset on and answers how many bytes were taken.
func (m *machine) uartWrite(a []record) record {
	p, ok := m.buffer(a[1], false)
	c := hw.Call{Op: hw.OpUARTWrite}
	from := int(a[2].number())
	switch {
	case !ok:
		return m.noBuffer()
	case !at(&c, a[0]) || from < 0 || from > len(p):
		return m.noHandle()
	}
	c.Data = p[from:min(len(p), from+limits.BusBytes)]
	return m.result(m.perform(c))
}

// uartRead fills a buffer from an offset on with what has come.
func (m *machine) uartRead(a []record) record {
	p, ok := m.buffer(a[1], true)
	c := hw.Call{Op: hw.OpUARTRead}
	from := int(a[2].number())
	switch {
	case !ok:
		return m.noBuffer()
	case !at(&c, a[0]) || from < 0 || from > len(p):
		return m.noHandle()
	}
	p = p[from:min(len(p), from+limits.BusBytes)]
	c.A = int64(len(p))
	r := m.perform(c)
	if r.Errno != 0 {
		return m.result(r)
	}
	return integer(int64(copy(p, r.Data)))
}

// count reads, sets or closes a counter. Counts have 63 bits, more than the engine's integers and floats carry across: they come and
// go as text when they must.
func (m *machine) count(a []record) record {
	c := hw.Call{Op: hw.OpCount, A: a[1].number()}
	set, err := strconv.ParseInt(string(a[2].text(m.eng.mem)), 10, 64)
	switch {
	case !at(&c, a[0]):
		return m.noHandle()
	case err != nil:
		return m.fail(errnoEINVAL, "a count has 63 bits")
	}
	c.B = set
	r := m.perform(c)
	if r.Errno != 0 || r.Value == int64(int32(r.Value)) {
		return m.result(r)
	}
	return m.str(strconv.FormatInt(r.Value, 10))
}

func (m *machine) network(a []record) record {
	r := m.perform(hw.Call{Op: hw.OpNetwork, Text: string(a[0].text(m.eng.mem))})
	switch {
	case r.Errno != 0:
		return m.result(r)
	case len(r.Data) == 0:
		return m.fail(errnoENODEV, "nothing to look at on this board")
	}
	return m.str(strings.ToValidUTF8(string(r.Data), "\uFFFD"))
}
