package sim

import (
	"context"
	"fmt"
	"time"

	"github.com/pal-terminal/pal/board"
	"github.com/pal-terminal/pal/board/sim/device"
	"github.com/pal-terminal/pal/hw"
)

const fastestPWM = 40_000_000

// PWM implements board.PWM. A device that does not know PWM sees the level that the line has most of the time.
func (b *Board) PWM(pin int, freq int64, duty int) error {
	ln, err := b.begin("pwm", pin)
	if err != nil {
		return err
	}
	defer b.leave()
	p := &b.d.Pins[pin]
	switch {
	case !p.Can.Has(board.CapPWM):
		return fmt.Errorf("pwm %s: %w", p.Label(), board.ErrUnsupported)
	case freq < 1 || freq > fastestPWM:
		return fmt.Errorf("pwm %s: %d Hz is outside 1 to %d", p.Label(), freq, fastestPWM)
	case duty < 0 || duty > fullDuty:
		return fmt.Errorf("pwm %s: duty %d is outside 0 to %d", p.Label(), duty, fullDuty)
	}
	if ln.mode != hw.ModePWM || ln.freq != freq {
		ln.since = b.now()
	}
	ln.mode, ln.freq, ln.duty = hw.ModePWM, freq, duty
	b.tellPWM(ln)
	return nil
}

// tellPWM tells a line's devices that its PWM has begun, changed or ended. Callers hold mu.
func (b *Board) tellPWM(ln *line) {
	for i := range ln.taps {
		if t := &ln.taps[i]; t.follow != nil && !t.u.gone {
			b.tellTap(ln, t)
		}
	}
	if ln.mode == hw.ModePWM && ln.stuck < 0 {
		ln.last = ln.mostly()
	}
}

// tellTap tells one device what PWM is on its line.
func (b *Board) tellTap(ln *line, t *tap) {
	on := ln.mode == hw.ModePWM && ln.stuck < 0
	f, ok := t.u.dev.(device.PWMFollower)
	switch {
	case ok && on:
		f.PWM(t.role, ln.freq, ln.duty)
	case ok:
		f.PWM(t.role, 0, 0)
	case on && ln.last != ln.mostly():
		t.follow.Drive(t.role, ln.mostly())
	}
}

// mostly is the level that a line with PWM has most of the time.
func (ln *line) mostly() int { return ln.duty / (fullDuty/2 + 1) }

// chopped is the level that a line with PWM has at this moment.
func (ln *line) chopped(b *Board) int {
	if ln.duty == 0 || ln.duty == fullDuty {
		return ln.duty / fullDuty
	}
	period := int64(time.Second) / ln.freq
	if b.now().Sub(ln.since).Nanoseconds()%period < period*int64(ln.duty)/fullDuty {
		return 1
	}
	return 0
}

// Bitstream implements board.Timed. The pulses are too short to be anybody's edges.
func (b *Board) Bitstream(pin int, ns [4]uint32, data []byte) error {
	ln, err := b.begin("bitstream", pin)
	if err != nil {
		return err
	}
	if !ln.output() {
		defer b.leave()
		return fmt.Errorf("bitstream %s: it is no output", b.d.Pins[pin].Label())
	}
	for i := range ln.taps {
		u := ln.taps[i].u
		if strip, ok := u.dev.(device.Bits); ok && !u.gone && ln.stuck < 0 {
			strip.Bitstream(ns, data)
		}
	}
	ln.out = 0
	b.settle(ln)
	var over time.Time
	if b.d.Driver.Real {
		bit := max(int64(ns[0])+int64(ns[1]), int64(ns[2])+int64(ns[3]))
		over = b.now().Add(time.Duration(bit * 8 * int64(len(data))))
	}
	b.leave()
	return b.wait(context.Background(), over)
}

// frameTime is about how long a DHT takes to answer: start pulse and 40 bits.
const frameTime = 5 * time.Millisecond

// DHT implements board.Timed.
func (b *Board) DHT(ctx context.Context, pin int) (frame [5]byte, err error) {
	if err := ctx.Err(); err != nil {
		return frame, err
	}
	ln, err := b.begin("dht", pin)
	if err != nil {
		return frame, err
	}
	ok := false
	for i := range ln.taps {
		u := ln.taps[i].u
		if sensor, is := u.dev.(device.DHT); is && !u.gone && ln.stuck < 0 && !ok {
			frame, ok = sensor.Frame()
		}
	}
	over := b.later(frameTime)
	b.leave()
	if !ok {
		return frame, fmt.Errorf("dht %s: %w", b.d.Pins[pin].Label(), board.ErrNoDevice)
	}
	return frame, b.wait(ctx, over)
}

// later returns the time in d, or none when nothing takes time. Callers hold mu.
func (b *Board) later(d time.Duration) time.Time {
	if !b.d.Driver.Real {
		return time.Time{}
	}
	return b.now().Add(d)
}

// Times of one-wire, of the slots that every master uses (DS18B20 data sheet, "1-Wire signaling").
const (
	resetTime = 960 * time.Microsecond
	slotTime  = 70 * time.Microsecond
)

// OneWire implements board.Timed.
func (b *Board) OneWire(ctx context.Context, pin int, op int64, w, r []byte, bit int) (value int, err error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	ln, err := b.begin("onewire", pin)
	if err != nil {
		return 0, err
	}
	took := time.Duration(0)
	switch op {
	case hw.OneWireReset:
		value, took = ln.presence(), resetTime
	case hw.OneWireWrite:
		for _, v := range w {
			for i := range 8 {
				ln.slot(int(v >> i & 1))
			}
		}
		took = time.Duration(8*len(w)) * slotTime
	case hw.OneWireRead:
		for j := range r {
			r[j] = 0
			for i := range 8 {
				r[j] |= byte(ln.slot(-1) << i)
			}
		}
		took = time.Duration(8*len(r)) * slotTime
	case hw.OneWireBit:
		value, took = ln.slot(bit), slotTime
	default:
		err = fmt.Errorf("onewire %s: no operation %d", b.d.Pins[pin].Label(), op)
	}
	over := b.later(took)
	b.leave()
	if err != nil {
		return 0, err
	}
	return value, b.wait(ctx, over)
}

// presence sends a reset pulse and says whether the line was pulled low after it. A line that is stuck low looks like a device.
func (ln *line) presence() int {
	value := 0
	ln.eachOneWire(func(d device.OneWire) {
		if d.ResetPulse() {
			value = 1
		}
	})
	if ln.stuck >= 0 {
		return 1 - ln.stuck
	}
	return value
}

// slot writes a bit, or with -1 reads one, and returns the bit on the line.
func (ln *line) slot(bit int) int {
	value := 1
	ln.eachOneWire(func(d device.OneWire) {
		if bit >= 0 {
			d.WriteBit(bit & 1)
			return
		}
		value &= d.ReadBit()
	})
	switch {
	case ln.stuck >= 0:
		return ln.stuck
	case bit >= 0:
		return bit & 1
	}
	return value
}

// eachOneWire visits the devices that hear the line: none when it is stuck.
func (ln *line) eachOneWire(do func(d device.OneWire)) {
	for i := range ln.taps {
		if d, ok := ln.taps[i].u.dev.(device.OneWire); ok && !ln.taps[i].u.gone && ln.stuck < 0 {
			do(d)
		}
	}
}

// What Pulse answers when there was none.
const (
	unended  time.Duration = -1
	unbegun  time.Duration = -2
	edgeRoom               = 4 // edges kept for a Pulse that looks; those of a pulse are two
)

// Pulse implements board.Timed. A device that knows its pulses answers at once; otherwise the line is watched.
func (b *Board) Pulse(ctx context.Context, pin, level int, timeout time.Duration) (time.Duration, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	ln, err := b.begin("pulse", pin)
	if err != nil {
		return 0, err
	}
	if width, ok := b.known(ln, level, timeout); ok {
		over := b.later(max(0, min(width, timeout)))
		b.leave()
		return width, b.wait(ctx, over)
	}
	edges := make(chan edgeAt, edgeRoom)
	cancel := b.watch(ln, &watch{hw.EdgeRising | hw.EdgeFalling, func(rose bool, at time.Time) {
		select {
		case edges <- edgeAt{rose, at}:
		default: // more edges than a pulse has: it is over already
		}
	}})
	defer cancel()
	now, at := b.level(ln), b.now()
	b.leave()
	return b.measure(ctx, edges, now == level, level == 1, at, timeout)
}

// known returns the pulse on a line that nobody has to wait for: that of a device which knows it, or of PWM.
func (b *Board) known(ln *line, level int, timeout time.Duration) (width time.Duration, ok bool) {
	if ln.stuck >= 0 {
		return 0, false
	}
	if ln.mode == hw.ModePWM && ln.duty > 0 && ln.duty < fullDuty {
		period := int64(time.Second) / ln.freq
		high := period * int64(ln.duty) / fullDuty
		if level == 0 {
			high = period - high
		}
		return time.Duration(high), true
	}
	for i := range ln.taps {
		t := &ln.taps[i]
		p, is := t.u.dev.(device.Pulser)
		if !is || t.u.gone {
			continue
		}
		switch width, ok := p.Pulse(t.role, level, timeout); {
		case !ok:
			return unbegun, true
		case width > timeout:
			return unended, true
		default:
			return width, true
		}
	}
	return 0, false
}

type edgeAt struct {
	rose bool
	at   time.Time
}

// measure waits for a pulse on a line that is watched. in tells that it was there at the time since.
func (b *Board) measure(ctx context.Context, edges <-chan edgeAt, in, high bool, since time.Time, timeout time.Duration) (time.Duration, error) {
	for {
		timer := time.NewTimer(since.Add(timeout).Sub(b.o.Now()))
		select {
		case <-ctx.Done():
			timer.Stop()
			return 0, ctx.Err()
		case <-timer.C:
			if in {
				return unended, nil
			}
			return unbegun, nil
		case e := <-edges:
			timer.Stop()
			switch {
			case e.rose == high && !in:
				in, since = true, e.at
			case e.rose != high && in:
				return e.at.Sub(since), nil
			}
		}
	}
}
