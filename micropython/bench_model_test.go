//go:build unix

package micropython

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/pal-terminal/pal/hw"
)

// rig is a guard with a small model of what hangs on it: an I2C memory of 256 bytes at 0x50, an SPI bus that answers each byte
// inverted, a UART that gives back what it is sent, counters that count what Pulse says, lines for timed protocols.
type rig struct {
	pins    func(hw.Call) hw.Reply
	opened  []string // text and settings of each bus
	memory  [256]byte
	pointer byte
	uart    []byte
	slow    bool // the UART's buffer takes 3 bytes at a time
	counts  map[uint16]int64
	counted []hw.Call
	pwm     []hw.Call
	bits    []hw.Call
	timers  map[uint16]hw.Call
	onTimer func(hw.Call)
}

func newRig(g *guard) *rig {
	r := &rig{pins: board(map[uint16]int64{}), counts: map[uint16]int64{}, timers: map[uint16]hw.Call{}}
	g.answer = r.call
	return r
}

func (r *rig) call(c hw.Call) hw.Reply {
	c.Data = slices.Clone(c.Data)
	switch c.Op {
	case hw.OpBusOpen:
		var settings map[string]any
		if err := json.Unmarshal(c.Data, &settings); err != nil {
			return hw.Reply{Errno: 22, Text: err.Error()}
		}
		keys := slices.Sorted(maps.Keys(settings))
		for k, key := range keys {
			v, _ := json.Marshal(settings[key])
			keys[k] = key + "=" + string(v)
		}
		r.opened = append(r.opened, c.Text+" "+strings.Join(keys, " "))
		return hw.Reply{Value: map[string]int64{"i": 1, "s": 2, "u": 3}[c.Text[:1]]}
	case hw.OpI2C:
		return r.i2c(c)
	case hw.OpI2CScan:
		return hw.Reply{Data: []byte{0x3C, 0x50}}
	case hw.OpSPI:
		if c.A == 0 {
			return hw.Reply{}
		}
		for k := range c.Data {
			c.Data[k] ^= 0xFF
		}
		return hw.Reply{Data: c.Data}
	case hw.OpUARTWrite, hw.OpUARTRead, hw.OpUARTAny:
		return r.serial(c)
	case hw.OpCountOpen, hw.OpCount:
		return r.count(c)
	case hw.OpPWM:
		r.pwm = append(r.pwm, c)
	case hw.OpPulse:
		return hw.Reply{Value: map[uint16]int64{5: 580, 6: -2, 7: -1}[c.Pin]}
	case hw.OpBitstream:
		r.bits = append(r.bits, c)
	case hw.OpDHT:
		return hw.Reply{Data: []byte{2, 140, 1, 95, 238}}
	case hw.OpTimer:
		r.timers[c.Pin] = c
		if r.onTimer != nil {
			r.onTimer(c)
		}
	default:
		return r.pins(c)
	}
	return hw.Reply{}
}

func (r *rig) i2c(c hw.Call) hw.Reply {
	if c.A != 0x50 {
		return hw.Reply{Errno: 19, Text: "no device answered"}
	}
	w := c.Data
	if len(w) > 0 && c.B&hw.I2CNoStart == 0 {
		r.pointer, w = w[0], w[1:]
	}
	for _, b := range w {
		r.memory[r.pointer] = b
		r.pointer++
	}
	reply := hw.Reply{Value: int64(len(c.Data)), Data: make([]byte, c.C)}
	for k := range reply.Data {
		reply.Data[k] = r.memory[r.pointer]
		r.pointer++
	}
	return reply
}

func (r *rig) serial(c hw.Call) hw.Reply {
	switch c.Op { //nolint:exhaustive // the three of a UART
	case hw.OpUARTWrite:
		n := len(c.Data)
		if r.slow {
			n = min(n, 3)
		}
		r.uart = append(r.uart, c.Data[:n]...)
		return hw.Reply{Value: int64(n)}
	case hw.OpUARTRead:
		n := min(int(c.A), len(r.uart))
		data := slices.Clone(r.uart[:n])
		r.uart = r.uart[n:]
		return hw.Reply{Data: data, Value: int64(n)}
	}
	return hw.Reply{Value: int64(len(r.uart))}
}

func (r *rig) count(c hw.Call) hw.Reply {
	if c.Op == hw.OpCountOpen {
		r.counted = append(r.counted, c)
		h := uint16(len(r.counted))
		r.counts[h] = 7
		return hw.Reply{Value: int64(h)}
	}
	was, ok := r.counts[c.Pin]
	if !ok {
		return hw.Reply{Errno: 22, Text: "no such counter"}
	}
	switch c.A {
	case 1:
		r.counts[c.Pin] = c.B
	case 2:
		delete(r.counts, c.Pin)
	}
	return hw.Reply{Value: was}
}

// scripts runs programs one after the other in one session of a rig.
func scripts(t *testing.T, rows []struct{ name, code, out string }) *rig {
	t.Helper()
	g := start(t)
	r := newRig(g)
	if e := g.exec("from machine import *\nimport machine, array, io, os, select, time\ndef err(f):\n  try: print(f())\n  except Exception as e: print(type(e).__name__, end=' ')\n"); e.Exception != nil {
		t.Fatal(e.err)
	}
	for _, tt := range rows {
		t.Run(tt.name, func(t *testing.T) {
			if got := g.exec(tt.code); got.out != tt.out || got.Exception != nil || got.err != "" {
				t.Errorf("got %q, %s, want %q", got.out, got.err, tt.out)
			}
		})
	}
	return r
}
