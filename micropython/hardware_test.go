//go:build unix

package micropython

import (
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pal-terminal/pal/hw"
	"github.com/pal-terminal/pal/limits"
	"github.com/pal-terminal/pal/vm/frame"
)

func TestPWM(t *testing.T) {
	r := scripts(t, []struct{ name, code, out string }{
		{"forms", "p = PWM(Pin(5)); PWM(6, 1000); PWM('LED', freq=50, duty_u16=32768); PWM(Pin(5), freq=50, duty_ns=1500000); PWM(Pin(5), freq=100, duty=512); PWM(5, 100, duty_u16=65535, invert=True)", ""},
		{"reading back", "print(p.freq(), p.duty(), p.duty_u16(), p.duty_ns(), p); p.freq(50); p.duty(1023); print(p.duty(), p.duty_u16(), p.duty_ns())", "5000 0 0 0 PWM(Pin(5), freq=5000, duty_u16=0)\n1023 65535 20000000\n"},
		{"every duty reads back", "print([d for d in range(1024) if p.duty(d) or p.duty() != d])", "[]\n"},
		{"duty_u16 and duty_ns", "p.duty_u16(16384); print(p.duty_u16(), p.duty()); p.duty_ns(1500000); print(p.duty_ns(), p.duty_u16())", "16384 256\n1500000 4915\n"},
		{"init", "p.init(freq=200, duty_u16=5); print(p.freq(), p.duty_u16()); p.init(duty=3); print(p.freq(), p.duty()); p.deinit()", "200 5\n200 3\n"},
		{"bad arguments", "for f in (lambda: PWM(5, freq=0), lambda: PWM(5, freq=-3), lambda: p.freq(0), lambda: p.freq(-1), lambda: p.freq(10**9), lambda: p.duty(1024), lambda: p.duty(-1), lambda: p.duty_u16(65536), lambda: p.duty_u16(-1), lambda: p.duty_ns(-5), lambda: p.duty_ns(10**9), lambda: PWM(5, duty=1, duty_u16=1)): err(f)\nprint()", strings.Repeat("ValueError ", 12) + "\n"},
		{"no whole numbers", "for f in (lambda: p.freq(1.5), lambda: p.duty(0.5), lambda: p.duty_u16(1e3), lambda: p.duty_ns('1'), lambda: PWM(5, freq='50'), lambda: PWM(None), lambda: PWM(2.5)): err(f)\nprint()", strings.Repeat("TypeError ", 7) + "\n"},
		{"what failed changed nothing", "print(p.freq(), p.duty())", "200 3\n"},
	})
	want := []hw.Call{
		{Op: hw.OpPWM, Pin: 5, A: 5000, C: -1}, {Op: hw.OpPWM, Pin: 6, A: 1000, C: -1}, {Op: hw.OpPWM, Pin: 2, A: 50, B: 32768, C: -1},
		{Op: hw.OpPWM, Pin: 5, A: 50, B: 4915, C: 1_500_000}, {Op: hw.OpPWM, Pin: 5, A: 100, B: 32800, C: -1}, {Op: hw.OpPWM, Pin: 5, A: 100, C: -1},
	}
	if d := cmp.Diff(want, r.pwm[:6]); d != "" {
		t.Errorf("calls (-want +got):\n%s", d)
	}
	if got := r.pwm[len(r.pwm)-1]; got.A != 0 {
		t.Errorf("deinit: got %+v, want frequency 0", got)
	}
}

func TestCounters(t *testing.T) {
	r := scripts(t, []struct{ name, code, out string }{
		{"counter", "c = Counter(0, Pin(40)); print(c.value(), c.value(100), c.value(), c)", "7 7 100 Counter(0)\n"},
		{"the same", "print(Counter(0).value()); c.init(Pin(39), edge=Counter.FALLING, direction=Counter.DOWN, filter_ns=1000); print(c.value(), c.value(5), c.value())", "100\n-7 -7 5\n"},
		{"large", "c.value(2**62 - 1); print(c.value()); c.value(-2**62); print(c.value())", "4611686018427387903\n-4611686018427387904\n"},
		{"encoder", "e = Encoder(0, Pin(4), Pin(5)); e = Encoder(1, phase_a=4, phase_b=5, phases=2, filter_ns=10); print(e.value())", "7\n"},
		{"closed", "c.deinit(); c.deinit(); err(c.value); e.deinit(); err(e.value); print()", "OSError OSError \n"},
		{"pin as direction", "try: Counter(1, 4, direction=Pin(5))\nexcept OSError as e: print(e.errno, e)", "95 [Errno 95] EOPNOTSUPP: a pin cannot give the direction here: use Encoder, or Counter.UP or Counter.DOWN\n"},
		{"bad arguments", "for f in (lambda: Counter(5), lambda: Counter('x', 4), lambda: Counter(1, 4, edge=9), lambda: Counter(1, 4, direction=0), lambda: Encoder(1, 4), lambda: Encoder(1, 4, 5, phases=3), lambda: Encoder(0, 4, 5).value(1.5), lambda: Encoder(0).value(2**70)): err(f)\nprint()", "TypeError TypeError ValueError ValueError TypeError ValueError TypeError OSError \n"},
	})
	want := []hw.Call{
		{Op: hw.OpCountOpen, Text: "40", A: 1, B: -1, C: 1}, {Op: hw.OpCountOpen, Text: "39", A: 2, B: -1, C: 1},
		{Op: hw.OpCountOpen, Text: "4", A: 3, B: 5, C: 4}, {Op: hw.OpCountOpen, Text: "4", A: 3, B: 5, C: 2},
	}
	if d := cmp.Diff(want, r.counted[:4]); d != "" {
		t.Errorf("calls (-want +got):\n%s", d)
	}
}

func TestTimedProtocols(t *testing.T) {
	r := scripts(t, []struct{ name, code, out string }{
		{"pulse", "print(time_pulse_us(Pin(5), 1), time_pulse_us(Pin(6), 0, 5000), time_pulse_us(Pin(7), 1))", "580 -2 -1\n"},
		{"bitstream", "bitstream(Pin(8), 0, (400, 850, 800, 450), b'\\x01\\x02')", ""},
		{"dht", "b = bytearray(5); machine.dht_readinto(Pin(8), b); print(list(b))", "[2, 140, 1, 95, 238]\n"},
		{"names", "print(Pin.board.LED, Pin.cpu.LED.value())", "Pin('LED') 0\n"},
		{"bad arguments", "for f in (lambda: time_pulse_us(5, 1), lambda: time_pulse_us(Pin(5), 1, -1), lambda: time_pulse_us(Pin(5), 1, 1.5), lambda: bitstream(Pin(8), 1, (1, 1, 1, 1), b''), lambda: bitstream(Pin(8), 0, (1, 1), b''), lambda: bitstream(Pin(8), 0, (1, 1, 1, -1), b''), lambda: bitstream(Pin(8), 0, (1, 1, 1, 1), 5), lambda: machine.dht_readinto(Pin(8), bytearray(3))): err(f)\nprint()", "TypeError ValueError TypeError ValueError ValueError ValueError TypeError ValueError \n"},
		{"no such hardware", "for n in ('I2S', 'CAN', 'SDCard', 'I2CTarget'):\n  try: getattr(machine, n)(0)\n  except OSError as e: print(e.errno, end=' ')\nprint()", "19 19 19 19 \n"},
	})
	want := []hw.Call{{Op: hw.OpBitstream, Pin: 8, Data: []byte{144, 1, 0, 0, 82, 3, 0, 0, 32, 3, 0, 0, 194, 1, 0, 0, 1, 2}}}
	if d := cmp.Diff(want, r.bits); d != "" {
		t.Errorf("calls (-want +got):\n%s", d)
	}
}

func TestClock(t *testing.T) {
	scripts(t, []struct{ name, code, out string }{
		{"set and read", "r = RTC(); r.datetime((2026, 5, 1, 4, 12, 34, 56, 789)); d = r.datetime(); print(d[:7], d[7] < 999999, d[3])", "(2026, 5, 1, 4, 12, 34, 56) True 4\n"},
		{"time follows", "print(time.localtime()[:6], time.time() == time.mktime((2026, 5, 1, 12, 34, 56, 0, 0)), time.gmtime()[:5], time.gmtime(0)[:3])", "(2026, 5, 1, 12, 34, 56) True (2026, 5, 1, 12, 34) (1970, 1, 1)\n"},
		{"init and now", "r.init((2025, 1, 2)); print(r.now()[:6]); r.init((2025, 1, 2, 3, 4, 5, 6, None)); print(r.now()[:6]); r.deinit(); print(r.datetime()[:3])", "(2025, 1, 2, 0, 0, 0)\n(2025, 1, 2, 3, 4, 5)\n(2015, 1, 1)\n"},
		{"memory", "print(r.memory()); r.memory(b'abc'); RTC().memory(); print(RTC().memory()); err(lambda: r.memory(bytes(3000))); print()", "b''\nb'abc'\nValueError \n"},
		{"ticks", "print(time.ticks_diff(5, time.ticks_add(0, -5)), time.ticks_add(2**30 - 1, 1))", "10 0\n"},
		{"alarm", "r.alarm(0, 5000); print(4000 < r.alarm_left() <= 5000); r.cancel(); print(r.alarm_left())", "True\n0\n"},
		{"bad arguments", "for f in (lambda: r.datetime((2026, 13, 1, 0, 0, 0, 0, 0)), lambda: r.datetime((2026, 1)), lambda: r.datetime(5), lambda: r.datetime((2026, 1, 1, 0, 25, 0, 0, 0)), lambda: r.datetime((2026.5, 1, 1, 0, 1, 0, 0, 0)), lambda: RTC(3), lambda: r.alarm(0, -5), lambda: r.irq(trigger=9)): err(f)\nprint()", "ValueError TypeError TypeError ValueError TypeError ValueError ValueError ValueError \n"},
	})
}

// turns answers the arming of a timer with n of its turns.
func turns(g *guard, r *rig, n int) {
	r.onTimer = func(c hw.Call) {
		if c.A == 0 {
			return
		}
		for range n {
			g.send(frame.Edge{Edge: hw.Edge{Source: hw.SourceTimer, Pin: c.Pin}})
		}
	}
}

func TestTimer(t *testing.T) {
	g := start(t)
	r := newRig(g)
	g.exec("from machine import *\nimport time, micropython\nn = []\ngo = Pin(9, Pin.OUT)\ndef wait(k):\n  while len(n) < k: time.sleep_ms(1)\n")
	// Every write of 1 to pin 9 is a turn of timer 3.
	pins := r.pins
	number := uint16(3)
	r.pins = func(c hw.Call) hw.Reply {
		if c.Op == hw.OpPinWrite && c.Pin == 9 && c.A == 1 {
			g.send(frame.Edge{Edge: hw.Edge{Source: hw.SourceTimer, Pin: number}})
		}
		return pins(c)
	}
	for _, tt := range []struct{ name, code, out string }{
		{"periodic", "t = Timer(3, period=100, mode=Timer.PERIODIC, callback=lambda t: n.append(t))\nfor k in range(3): go.on(); wait(k + 1)\nprint(len(n), n[0] is t, t)", "3 True Timer(3, mode=PERIODIC, period=100)\n"},
		{"stays armed between jobs", "del n[:]\ngo.on(); wait(1); print(len(n))", "1\n"},
		{"deinit", "del n[:]\nt.deinit()\ngo.on(); time.sleep_ms(3); print(n)", "[]\n"},
		{"once", "t.init(mode=Timer.ONE_SHOT, period=5, callback=lambda t: n.append(1))\ngo.on(); wait(1); go.on(); time.sleep_ms(3); print(n)", "[1]\n"},
		{"arms itself", "del n[:]\ndef again(t):\n  n.append(1)\n  if len(n) < 3: t.init(mode=Timer.ONE_SHOT, period=5, callback=again)\nt.init(mode=Timer.ONE_SHOT, period=5, callback=again)\nfor k in range(4): go.on(); time.sleep_ms(2)\nprint(n)", "[1, 1, 1]\n"},
		{"raises", "del n[:]\ndef bad(t):\n  n.append(1)\n  1/0\nt.init(freq=10, callback=bad)\ngo.on(); wait(1); go.on(); wait(2)\nt.deinit()\nprint(n)", "[1, 1]\n"},
		{"bad arguments", "for f in (lambda: Timer(-2), lambda: Timer(3.5), lambda: Timer(3, period=0), lambda: Timer(3, period=-5), lambda: Timer(3, freq=0), lambda: Timer(3, freq=-1), lambda: Timer(3, period=1.5), lambda: Timer(3, mode=5, period=1), lambda: Timer(3, period=1, callback=5), lambda: Timer(3, 'x')):\n  try: f()\n  except (ValueError, TypeError) as e: print(type(e).__name__, end=' ')\nprint()", "ValueError TypeError ValueError ValueError ValueError ValueError TypeError ValueError ValueError TypeError \n"},
	} {
		got := g.exec(tt.code)
		if got.out != tt.out || got.Exception != nil || (got.err != "") != (tt.name == "raises") {
			t.Errorf("%s: got %q, %s, want %q", tt.name, got.out, got.err, tt.out)
		}
	}
	if c := r.timers[3]; c.A != 0 {
		t.Errorf("timer 3 at the end: got %+v, want it ended", c)
	}
	r.timers = map[uint16]hw.Call{}
	g.exec("a = Timer(-1); a.init(period=10, callback=print)\nb = Timer(-1); b.init(freq=1000, callback=print)\nc = Timer(period=250, tick_hz=1000, mode=Timer.ONE_SHOT, callback=print)\na.deinit()\nd = Timer(); d.init(freq=0.5, callback=print)")
	want := map[uint16]hw.Call{256: {Op: hw.OpTimer, Pin: 256, A: 2_000_000, B: 1}, 257: {Op: hw.OpTimer, Pin: 257, A: 1000, B: 1}, 258: {Op: hw.OpTimer, Pin: 258, A: 250_000}}
	if d := cmp.Diff(want, r.timers); d != "" {
		t.Errorf("virtual timers (-want +got):\n%s", d)
	}
	// One that comes while no program runs.
	number = 257
	g.exec("seen = []\nb.init(freq=1000, callback=lambda t: seen.append(t.lost()))")
	if got := g.run(hw.Job{Kind: hw.JobHandler, Edge: hw.Edge{Source: hw.SourceTimer, Pin: 257, Lost: 4}}); got.Exception != nil {
		t.Errorf("got %+v", got.Exception)
	}
	if got := g.exec("print(seen)"); got.out != "[4]\n" {
		t.Errorf("got %q, want the turn and 4 lost", got.out)
	}
}

// A callback that is slower than its timer runs once for the turns that it missed, and the program goes on in between.
func TestSlowTimerCallback(t *testing.T) {
	g := start(t)
	turns(g, newRig(g), 200)
	r := g.exec("from machine import Timer\nimport time\nn = []\ndef slow(t):\n  n.append(t.lost())\n  time.sleep_ms(20)\nTimer(1, period=1, callback=slow)\nk = 0\nwhile not n: k += 1\nfor k in range(100): pass\nprint(k, len(n) < 5, sum(n) <= 200)")
	if r.out != "99 True True\n" || r.err != "" {
		t.Errorf("got %q, %s", r.out, r.err)
	}
}

func TestUARTInterrupt(t *testing.T) {
	g := start(t)
	r := newRig(g)
	var armed []hw.Call
	r.pins = func(c hw.Call) hw.Reply {
		switch c.Op {
		case hw.OpUARTIRQ:
			armed = append(armed, c)
		case hw.OpEvent:
			g.send(frame.Edge{Edge: hw.Edge{Source: hw.SourceUART, Pin: 3}})
		default: // what has no answer here succeeds
		}
		return hw.Reply{}
	}
	got := g.exec("from machine import UART\nimport time\nu = UART(1)\nn = []\ni = u.irq(lambda u: n.append((i.flags(), u.read())), UART.IRQ_RX)\nu.write('hello')\nevent_push('x')\nwhile not n: time.sleep_ms(1)\nprint(n)\nu.irq(None)")
	if got.out != "[(1, b'hello')]\n" || got.err != "" || got.Exception != nil {
		t.Errorf("got %q, %s", got.out, got.err)
	}
	if d := cmp.Diff([]hw.Call{{Op: hw.OpUARTIRQ, Pin: 3, A: 1}, {Op: hw.OpUARTIRQ, Pin: 3}}, armed); d != "" {
		t.Errorf("calls (-want +got):\n%s", d)
	}
	r.onTimer = func(c hw.Call) {
		if c.A > 0 {
			g.send(frame.Edge{Edge: hw.Edge{Source: hw.SourceTimer, Pin: c.Pin}})
		}
	}
	got = g.exec("del n[:]\ni = u.irq(lambda u: n.append((i.flags(), u.read())), UART.IRQ_RXIDLE)\nu.write('idle')\nevent_push('x')\nwhile not n: time.sleep_ms(1)\nprint(n)\nu.deinit()")
	if got.out != "[(2, b'idle')]\n" || got.err != "" || got.Exception != nil {
		t.Errorf("idle: got %q, %s", got.out, got.err)
	}
}

// A storm of edges does not keep the program from going on, and what could not be handled is counted.
func TestEdgeStorm(t *testing.T) {
	g := start(t)
	const edges = 100_000
	edgesOn(g, 4, edges)
	r := g.exec(armed + "n = lost = 0\ndef h(p):\n  global n, lost\n  n += 1\n  lost += i.lost()\ni = button.irq(h, 3)\ngo.on()\nt = time.ticks_ms()\nk = 0\nwhile time.ticks_diff(time.ticks_ms(), t) < 20: k += 1\nprint(k > 0)")
	if r.out != "True\n" || r.Exception != nil || r.err != "" {
		t.Fatalf("got %q, %+v, %s", r.out, r.Exception, r.err)
	}
	edgesOn(g, 4, 1) // one more, which tells the last of what was lost
	r = g.exec("m = n\ngo.on()\nwhile n == m: time.sleep_ms(1)\nprint(n + lost, n >= " + strconv.Itoa(limits.EdgeQueue) + ")")
	if want := strconv.Itoa(edges+1) + " True\n"; r.out != want {
		t.Errorf("handled and lost: got %q, want %q", r.out, want)
	}
}
