package bus

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/pal-terminal/pal/board"
	"github.com/pal-terminal/pal/hw"
	"github.com/pal-terminal/pal/limits"
	"github.com/pal-terminal/pal/pin"
)

// Addresses of I2C devices; those outside are reserved by its specification.
const (
	firstAddress = 0x08
	lastAddress  = 0x77
)

// allow gives bits at a clock their time: twice what they need, and the slack. A caller whose transfer needs longer than
// limits.BusTransferTime is refused.
func (b *bus) allow(bits int64) (time.Duration, error) {
	b.mu.Lock()
	set := b.set
	b.mu.Unlock()
	if set.Hz <= 0 {
		return 0, b.notOpen()
	}
	need := time.Duration(float64(bits) / float64(set.Hz) * float64(time.Second))
	if need > limits.BusTransferTime {
		return 0, bad(b.name, "this takes %s at %d Hz, longer than %s: use a faster clock or send less at a time",
			need.Round(time.Second), set.Hz, limits.BusTransferTime)
	}
	return 2*need + limits.BusSlack + set.timeout, nil
}

// own returns data for a driver that may come back after the caller has gone on.
func (g *Gate) own(data []byte) []byte {
	if g.direct {
		return data
	}
	return slices.Clone(data)
}

func (g *Gate) i2c(ctx context.Context, c pin.Caller, call hw.Call) (hw.Reply, error) {
	b, err := g.at(call.Pin, "i2c")
	if err != nil {
		return hw.Reply{}, err
	}
	switch {
	case call.A < firstAddress || call.A > lastAddress:
		return hw.Reply{}, bad(b.name, "an I2C address is 0x%02x to 0x%02x, not %d", firstAddress, lastAddress, call.A)
	case call.B < 0 || call.B > hw.I2CNoStop|hw.I2CNoStart:
		return hw.Reply{}, bad(b.name, "%d are no flags", call.B)
	case call.C < 0 || call.C > limits.BusBytes || len(call.Data) > limits.BusBytes:
		return hw.Reply{}, bad(b.name, "a transfer has at most %d bytes each way", limits.BusBytes)
	}
	within, err := b.allow(9 * (int64(len(call.Data)) + call.C + 2))
	if err != nil {
		return hw.Reply{}, err
	}
	w, read := g.own(call.Data), int(call.C)
	j := job{drive: len(w) > 0, within: within, ready: func() error { return b.mayGoOn(c, call.B) }}
	j.do = func(ctx context.Context) answer {
		r := make([]byte, read)
		n, err := g.wires.I2C(ctx, b.index, uint16(call.A), call.B, w, r)
		b.keep(c, err == nil && call.B&hw.I2CNoStop != 0)
		return answer{data: r, n: int64(n), err: err}
	}
	a, err := b.transfer(ctx, c, j)
	return hw.Reply{Value: a.n, Data: a.data}, err
}

// keep notes whether a transaction leaves the bus taken.
func (b *bus) keep(c pin.Caller, taken bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.kept, b.keeper = taken, c
}

// mayGoOn lets only who left the bus taken go on without a START.
func (b *bus) mayGoOn(c pin.Caller, flags int64) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if flags&hw.I2CNoStart != 0 && (!b.kept || b.keeper.Machine != c.Machine || b.keeper.Name != c.Name) {
		return refuse(einval, codeConflict, pin.RuleArgument, b.name, "%s: there is no transaction of this program to go on with", b.name)
	}
	return nil
}

func (g *Gate) scan(ctx context.Context, c pin.Caller, handle uint16) (hw.Reply, error) {
	b, err := g.at(handle, "i2c")
	if err != nil {
		return hw.Reply{}, err
	}
	within, err := b.allow(11 * (lastAddress - firstAddress + 1))
	if err != nil {
		return hw.Reply{}, err
	}
	j := job{within: within, do: func(ctx context.Context) answer {
		b.keep(c, false)
		var found []byte
		for addr := uint16(firstAddress); addr <= lastAddress; addr++ {
			_, err := g.wires.I2C(ctx, b.index, addr, 0, nil, nil)
			switch {
			case err == nil:
				found = append(found, byte(addr))
			case !errors.Is(err, board.ErrNoDevice):
				return answer{err: err}
			}
		}
		return answer{data: found}
	}}
	a, err := b.transfer(ctx, c, j)
	return hw.Reply{Data: a.data}, err
}

func (g *Gate) spi(ctx context.Context, c pin.Caller, call hw.Call) (hw.Reply, error) {
	b, err := g.at(call.Pin, "spi")
	if err != nil {
		return hw.Reply{}, err
	}
	if len(call.Data) > limits.BusBytes || call.A < 0 || call.A > 1 {
		return hw.Reply{}, bad(b.name, "a transfer has at most %d bytes, and what comes in is wanted (1) or not (0)", limits.BusBytes)
	}
	within, err := b.allow(8 * int64(len(call.Data)))
	if err != nil {
		return hw.Reply{}, err
	}
	tx := g.own(call.Data)
	a, err := b.transfer(ctx, c, job{drive: true, within: within, do: func(ctx context.Context) answer {
		var rx []byte
		if call.A == 1 {
			rx = make([]byte, len(tx))
		}
		return answer{data: rx, err: g.wires.SPI(ctx, b.index, tx, rx)}
	}})
	return hw.Reply{Data: a.data}, err
}

func (g *Gate) uart(ctx context.Context, c pin.Caller, call hw.Call) (hw.Reply, error) {
	b, err := g.at(call.Pin, "uart")
	if err != nil {
		return hw.Reply{}, err
	}
	if call.A < 0 || call.A > limits.BusBytes || len(call.Data) > limits.BusBytes {
		return hw.Reply{}, bad(b.name, "at most %d bytes at a time", limits.BusBytes)
	}
	j := job{within: limits.DriveTimeout}
	switch call.Op {
	case hw.OpUARTWrite:
		p := g.own(call.Data)
		j.drive = true
		j.do = func(context.Context) answer {
			n, err := g.wires.UARTWrite(b.index, p)
			return answer{n: int64(n), err: err}
		}
	case hw.OpUARTRead:
		j.do = func(context.Context) answer {
			p := make([]byte, call.A)
			n, err := g.wires.UARTRead(b.index, p)
			if n < 0 || n > len(p) {
				return answer{err: errors.New("the driver read more than it was asked for")}
			}
			return answer{data: p[:n], n: int64(n), err: err}
		}
	default:
		j.do = func(context.Context) answer {
			n, err := g.wires.UARTAny(b.index)
			return answer{n: int64(n), err: err}
		}
	}
	a, err := b.transfer(ctx, c, j)
	return hw.Reply{Value: a.n, Data: a.data}, err
}

// network asks the board's radio. Nothing can be set by it, so it needs no right.
func (g *Gate) network(ctx context.Context, what string) (hw.Reply, error) {
	if what != "scan" && what != "status" {
		return hw.Reply{}, bad("network", "%.64q: the network can be asked for scan or status", what)
	}
	n, ok := g.drv.(board.Networker)
	if !ok {
		return hw.Reply{Errno: enodev, Text: "this board has no network that programs may look at"}, nil
	}
	a, err := g.net.transfer(ctx, pin.Caller{}, job{closed: true, within: limits.BusTransferTime, do: func(context.Context) answer {
		data, err := n.Network(what)
		if len(data) > limits.BusBytes {
			return answer{err: errors.New("the board's answer is too long")}
		}
		return answer{data: data, err: err}
	}})
	return hw.Reply{Data: a.data}, err
}
