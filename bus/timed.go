package bus

import (
	"context"
	"encoding/binary"
	"errors"
	"time"

	"github.com/pal-terminal/pal/board"
	"github.com/pal-terminal/pal/hw"
	"github.com/pal-terminal/pal/limits"
	"github.com/pal-terminal/pal/pin"
)

// Widths of pulses that were none, in the driver's contract and in replies.
const (
	notEnded = -1
	notBegun = -2
)

// protocol performs what drives one line by the hardware's clock.
func (g *Gate) protocol(ctx context.Context, c pin.Caller, h pin.Handle, call hw.Call) (hw.Reply, *pin.Effect, error) {
	var reply hw.Reply
	var within time.Duration
	var want board.Caps
	var do func(ctx context.Context) answer
	var err error
	switch call.Op {
	case hw.OpBitstream:
		want = board.CapBitstream
		do, within, err = g.bitstream(h, call.Data)
	case hw.OpDHT:
		want, within = board.CapOneWire, 2*limits.BusSlack
		do = func(ctx context.Context) answer {
			frame, err := g.timed.DHT(ctx, int(h))
			if errors.Is(err, board.ErrNoDevice) {
				err = errLate // as MicroPython tells it
			}
			return answer{data: frame[:], err: err}
		}
	default:
		want = board.CapOneWire
		do, within, err = g.oneWire(h, call)
	}
	if err != nil {
		return reply, nil, err
	}
	if g.timed == nil {
		if err := g.t.CheckCan(h, want, "a line of that protocol"); err != nil {
			return reply, nil, err
		}
		return hw.Reply{Errno: eopnotsupp, Text: "this board's driver has no timed protocols"}, nil, nil
	}
	// An answer that comes too late goes into a channel that nobody looks at any more.
	got := make(chan answer, 1)
	e, err := g.t.Lend(ctx, c, h, want, within, func(ctx context.Context) error {
		a := do(ctx)
		got <- a
		return a.err
	})
	if errors.Is(err, context.Canceled) {
		if refused := g.t.CheckUse(c, []pin.Handle{h}, true); refused != nil {
			err = refused
		}
	}
	if err != nil {
		return reply, effectOf(e), err
	}
	a := <-got
	return hw.Reply{Value: a.n, Data: a.data}, effectOf(e), nil
}

// effectOf returns what became of a line, nil when nothing did.
func effectOf(e pin.Effect) *pin.Effect {
	if e.Pin == "" {
		return nil
	}
	return &e
}

// bitstream reads times and bytes of a bit stream.
func (g *Gate) bitstream(h pin.Handle, data []byte) (func(context.Context) answer, time.Duration, error) {
	const header = 16
	if len(data) < header || len(data) > header+limits.BitstreamBytes {
		return nil, 0, bad("", "a bit stream has four times and at most %d bytes", limits.BitstreamBytes)
	}
	var ns [4]uint32
	for i := range ns {
		ns[i] = binary.LittleEndian.Uint32(data[4*i:])
	}
	bits := g.own(data[header:])
	slowest := max(uint64(ns[0])+uint64(ns[1]), uint64(ns[2])+uint64(ns[3])) // at most 2^33, times 2^15 bits
	need := time.Duration(slowest * 8 * uint64(len(bits)))
	if need > limits.BitstreamTime {
		return nil, 0, bad("", "this bit stream takes %s, longer than %s: send it in parts", need, limits.BitstreamTime)
	}
	return func(context.Context) answer { return answer{err: g.timed.Bitstream(int(h), ns, bits)} }, need + limits.BusGrace, nil
}

// oneWire reads what is to be done on a one-wire line.
func (g *Gate) oneWire(h pin.Handle, call hw.Call) (func(context.Context) answer, time.Duration, error) {
	var w, r []byte
	bit := 0
	switch call.A {
	case hw.OneWireReset:
	case hw.OneWireWrite:
		if w = g.own(call.Data); len(w) > limits.OneWireBytes {
			return nil, 0, bad("", "at most %d bytes at a time", limits.OneWireBytes)
		}
	case hw.OneWireRead:
		if call.B < 0 || call.B > limits.OneWireBytes {
			return nil, 0, bad("", "at most %d bytes at a time", limits.OneWireBytes)
		}
		r = make([]byte, call.B)
	case hw.OneWireBit:
		if call.B < -1 || call.B > 1 {
			return nil, 0, bad("", "%d is no bit", call.B)
		}
		bit = int(call.B)
	default:
		return nil, 0, bad("", "%d is nothing that a one-wire line can do", call.A)
	}
	do := func(ctx context.Context) answer {
		v, err := g.timed.OneWire(ctx, int(h), call.A, w, r, bit)
		return answer{data: r, n: int64(v), err: err}
	}
	// A byte takes about 0.6 ms.
	return do, time.Duration(len(w)+len(r))*time.Millisecond + limits.BusSlack, nil
}

// pulse measures a pulse on a line. It drives nothing.
func (g *Gate) pulse(ctx context.Context, c pin.Caller, h pin.Handle, level, us int64) (hw.Reply, error) {
	timeout := time.Duration(us) * time.Microsecond
	if level < 0 || level > 1 || us < 0 || us > limits.BusTransferTime.Microseconds() {
		return hw.Reply{}, bad("", "a pulse has a level of 0 or 1 and is waited for at most %s", limits.BusTransferTime)
	}
	if _, err := g.t.Read(c, h); err != nil { // may this pin be looked at?
		return hw.Reply{}, err
	}
	if g.timed == nil {
		return g.watchPulse(ctx, c, h, int(level), timeout)
	}
	g.mu.Lock()
	b := g.lines[h]
	if b == nil {
		b = newBus(g, -1, g.d.Pins[h].Label())
		g.lines[h] = b
	}
	g.mu.Unlock()
	a, err := b.transfer(ctx, c, job{closed: true, within: 2*timeout + limits.BusSlack, do: func(ctx context.Context) answer {
		width, err := g.timed.Pulse(ctx, int(h), int(level), timeout)
		if width < 0 {
			return answer{n: int64(width), err: err}
		}
		return answer{n: width.Microseconds(), err: err}
	}})
	return hw.Reply{Value: a.n}, err
}

// watchPulse measures a pulse by the times of edges. One that had begun before is counted from now.
func (g *Gate) watchPulse(ctx context.Context, c pin.Caller, h pin.Handle, level int, timeout time.Duration) (hw.Reply, error) {
	edges := make(chan hw.Edge, limits.EdgeQueue)
	cancel, err := g.t.Watch(c, h, hw.EdgeRising|hw.EdgeFalling, func(e hw.Edge) {
		select {
		case edges <- e:
		default: // more edges than that are no pulse to be measured
		}
	})
	if err != nil {
		return hw.Reply{}, err
	}
	defer cancel()
	now, err := g.t.Read(c, h)
	if err != nil {
		return hw.Reply{}, err
	}
	begun, from, began := now == level, int64(-1), time.Now()
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	for {
		select {
		case e := <-edges:
			switch {
			case e.Rose == (level == 1):
				begun, from = true, e.AtUS
				timer.Reset(timeout)
			case begun && from >= 0:
				return hw.Reply{Value: e.AtUS - from}, nil
			case begun:
				return hw.Reply{Value: time.Since(began).Microseconds()}, nil
			}
		case <-timer.C:
			if begun {
				return hw.Reply{Value: notEnded}, nil
			}
			return hw.Reply{Value: notBegun}, nil
		case <-g.done:
			return hw.Reply{}, shutting("")
		case <-ctx.Done():
			return hw.Reply{}, ctx.Err()
		}
	}
}
