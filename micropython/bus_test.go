//go:build unix

package micropython

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pal-terminal/pal/hw"
)

func TestI2C(t *testing.T) {
	r := scripts(t, []struct{ name, code, out string }{
		{"forms", "i = I2C(0); I2C(0, scl=Pin(7), sda=Pin(6), freq=100000); I2C(1, Pin('LED'), 6, freq=50_000, timeout=10); I2C(scl=Pin(7), sda=Pin(6)); SoftI2C(Pin(7), Pin(6)); SoftI2C(scl=7, sda=6, freq=9600)\nprint(i, SoftI2C(7, 6))", "I2C(0, freq=400000) SoftI2C(scl=7, sda=6, freq=400000)\n"},
		{"scan", "print([hex(a) for a in i.scan()])", "['0x3c', '0x50']\n"},
		{"register", "i.writeto_mem(0x50, 0x10, b'\\x01\\x02\\x03'); print(i.readfrom_mem(0x50, 0x11, 2))", "b'\\x02\\x03'\n"},
		{"into a buffer", "b = bytearray(5); i.readfrom_mem_into(0x50, 0x10, memoryview(b)[1:4]); print(b)", "bytearray(b'\\x00\\x01\\x02\\x03\\x00')\n"},
		{"write, then read", "print(i.writeto(0x50, b'\\x10', False), i.readfrom(0x50, 3)); i.writeto(0x50, bytearray((0x12,))); i.readfrom_into(0x50, b); print(b)", "1 b'\\x01\\x02\\x03'\nbytearray(b'\\x03\\x00\\x00\\x00\\x00')\n"},
		{"vector", "print(i.writevto(0x50, (b'\\x20', bytearray(b'ab'), memoryview(b'cd'), array.array('H', [0x6665])))); print(i.readfrom_mem(0x50, 0x20, 6))", "7\nb'abcdef'\n"},
		{"array", "a = array.array('H', [0, 0]); i.readfrom_mem_into(0x50, 0x20, a); print(a)", "array('H', [25185, 25699])\n"},
		{"part of an array", "print(i.writeto(0x50, memoryview(array.array('H', [1, 0x4230, 0x4444]))[1:])); print(i.readfrom_mem(0x50, 0x30, 3))", "4\nb'BDD'\n"},
		{"wide registers", "i.writeto_mem(0x50, 0x3141, b'C', addrsize=16); print(i.readfrom_mem(0x50, 0x31, 2)); i.readfrom_mem(0x50, 0xFFFFFFFF, 1, addrsize=32)", "b'AC'\n"},
		{"frame", "buf = bytearray(1025); buf[0] = 0x40; print(i.writeto(0x50, buf))", "1025\n"},
		{"nothing to write", "print(i.writeto(0x50, b''), i.readfrom(0x50, 0))", "0 b''\n"},
		{"primitives", "s = SoftI2C(scl=Pin(7), sda=Pin(6)); s.start(); print(s.write(b'\\xa0\\x50xy'), s.write(b'z')); s.stop(); print(s.readfrom_mem(0x50, 0x50, 3)); s.start(); s.write(b'\\xa0\\x51'); s.start(); s.write(b'\\xa1'); v = bytearray(2); s.readinto(v); s.stop(); print(v)", "4 1\nb'xyz'\nbytearray(b'yz')\n"},
		{"primitives, nobody", "s.start(); print(s.write(b'\\x42\\x00')); s.stop()\nfor f in (lambda: s.write(b'1'), lambda: s.readinto(v)): err(f)\nprint()", "0\nOSError OSError \n"},
		{"nobody answers", "for f in (lambda: i.readfrom(0x21, 1), lambda: i.writeto(0x21, b'1'), lambda: i.readfrom_mem(0x21, 0, 1)):\n  try: f()\n  except OSError as e: print(e.errno, end=' ')\nprint()", "19 19 19 \n"},
		{"bad arguments", "for f in (lambda: i.readfrom(0x50, -1), lambda: i.readfrom(0x50, 1.5), lambda: i.readfrom('x', 1), lambda: i.writeto(0x50, 5), lambda: i.writeto(0x50, None), lambda: i.readfrom_into(0x50, b'abc'), lambda: i.readfrom_into(0x50, 3), lambda: i.readfrom_mem(0x50, 0, 1, addrsize=7), lambda: i.readfrom_mem(0x50, 1.5, 1), lambda: i.readfrom(0x50, 10**10), lambda: i.readfrom(0x50, 70000), lambda: I2C(0, freq=0), lambda: I2C(0, freq=1.5), lambda: I2C(scl=7), lambda: SoftI2C(7), lambda: i.writevto(0x50, 3)): err(f)\nprint()",
			"ValueError TypeError TypeError TypeError TypeError TypeError TypeError ValueError TypeError OverflowError OSError ValueError TypeError ValueError TypeError TypeError \n"},
		{"closed", "i.deinit(); i.deinit(); err(i.scan); print()", "OSError \n"},
	})
	want := []string{
		"i2c:0 freq=400000 timeout=50000", `i2c:0 freq=100000 scl="7" sda="6" timeout=50000`, `i2c:1 freq=50000 scl="LED" sda="6" timeout=10`,
		`i2c: freq=400000 scl="7" sda="6" timeout=50000`, `i2c: freq=400000 scl="7" sda="6" timeout=50000`, `i2c: freq=9600 scl="7" sda="6" timeout=50000`,
	}
	if d := cmp.Diff(want, r.opened[:6]); d != "" {
		t.Errorf("settings (-want +got):\n%s", d)
	}
}

func TestSPI(t *testing.T) {
	r := scripts(t, []struct{ name, code, out string }{
		{"forms", "s = SPI(1); SPI(1, 20_000_000, polarity=1, phase=1, sck=Pin(36), mosi=Pin(35), miso=Pin(37)); SPI(1, baudrate=500000, bits=8, firstbit=SPI.LSB); SoftSPI(baudrate=100000, sck=36, mosi=35, miso=37)\nprint(s)", "SPI(1, baudrate=1000000, polarity=0, phase=0, bits=8)\n"},
		{"init", "s.init(baudrate=2000000); s.init(polarity=1); print(s)", "SPI(1, baudrate=2000000, polarity=1, phase=0, bits=8)\n"},
		{"read", "print(s.read(2), s.read(2, 0x0F), s.read(0))", "b'\\xff\\xff' b'\\xf0\\xf0' b''\n"},
		{"readinto", "b = bytearray(3); s.readinto(b, 1); print(b); s.readinto(memoryview(b)[1:2], 2); print(b)", "bytearray(b'\\xfe\\xfe\\xfe')\nbytearray(b'\\xfe\\xfd\\xfe')\n"},
		{"write", "print(s.write(b'abc'), s.write(bytearray(2)), s.write('text'))", "None None None\n"},
		{"both", "w = b'\\x01\\x02'; r = bytearray(2); s.write_readinto(w, r); print(r); s.write_readinto(r, r); print(r)", "bytearray(b'\\xfe\\xfd')\nbytearray(b'\\x01\\x02')\n"},
		{"large", "b = bytearray(65536); s.readinto(b, 7); print(b[0], b[-1]); print(len(s.read(70000)))", "248 248\n70000\n"},
		{"bad arguments", "for f in (lambda: s.read(-1), lambda: s.read(1.5), lambda: s.write(3), lambda: s.write(None), lambda: s.readinto(b'abc'), lambda: s.write_readinto(b'a', bytearray(2)), lambda: SPI(1, 0), lambda: SPI(1, 1.5), lambda: SPI(1, bits=16), lambda: SPI(1, polarity=2), lambda: SPI(1, phase=-1), lambda: SoftSPI(), lambda: s.read(1, 'x')): err(f)\nprint()",
			"ValueError TypeError TypeError TypeError TypeError ValueError ValueError TypeError ValueError ValueError ValueError ValueError TypeError \n"},
		{"closed", "s.deinit(); err(lambda: s.write(b'1')); print()", "OSError \n"},
	})
	want := []string{"spi:1 baudrate=1000000 bits=8 firstbit=0 phase=0 polarity=0",
		`spi:1 baudrate=20000000 bits=8 firstbit=0 miso="37" mosi="35" phase=1 polarity=1 sck="36"`,
		"spi:1 baudrate=500000 bits=8 firstbit=1 phase=0 polarity=0", `spi: baudrate=100000 bits=8 firstbit=0 miso="37" mosi="35" phase=0 polarity=0 sck="36"`}
	if d := cmp.Diff(want, r.opened[:4]); d != "" {
		t.Errorf("settings (-want +got):\n%s", d)
	}
}

func TestUART(t *testing.T) {
	r := scripts(t, []struct{ name, code, out string }{
		{"forms", "u = UART(1, 115200, tx=Pin(17), rx=Pin(18)); UART(1, baudrate=9600, bits=7, parity=0, stop=2, timeout=5, timeout_char=2, rxbuf=256, txbuf=64); u.init(115200, bits=8, parity=None, stop=1)\nprint(u)", "UART(1, baudrate=115200, bits=8, parity=None, stop=1, timeout=0, timeout_char=0)\n"},
		{"nothing there", "print(u.any(), u.read(), u.read(5), u.readline(), u.readinto(bytearray(2)), u.read(0))", "0 None None None None b''\n"},
		{"there and back", "print(u.write('héllo\\nrest'), u.any(), u.readline(), u.read(2), u.read())", "11 11 b'h\\xc3\\xa9llo\\n' b're' b'st'\n"},
		{"into a buffer", "u.write(bytearray(b'abcdef')); b = bytearray(4); print(u.readinto(b), b); print(u.readinto(b, 1), b, u.read())", "4 bytearray(b'abcd')\n1 bytearray(b'ebcd') b'f'\n"},
		{"kinds of buffer", "print(u.write(memoryview(b'12')), u.write(array.array('H', [0x3433])), u.read())", "2 2 b'1234'\n"},
		{"a stream", "print('x', 1, file=u); print(u.read())\nu.write('a\\nb\\n'); print([u.readline(), u.readline()])", "b'x 1\\n'\n[b'a\\n', b'b\\n']\n"},
		{"poll", "p = select.poll(); p.register(u, select.POLLIN); print(p.poll(5)); u.write('1'); print(p.poll(1000)[0][1] == select.POLLIN, u.read())", "[]\nTrue b'1'\n"},
		{"timeout", "u.init(timeout=30); t = time.ticks_ms(); print(u.read(3), time.ticks_diff(time.ticks_ms(), t) >= 29)", "None True\n"},
		{"a part in time", "u.write('ab'); t = time.ticks_ms(); print(u.read(3), time.ticks_diff(time.ticks_ms(), t) < 2000)", "b'ab' True\n"},
		{"flush", "print(u.write(b'12345678'), u.txdone()); u.flush(); print(u.txdone(), u.read()); u.sendbreak(); print(u.read(), u)", "8 False\nTrue b'12345678'\nb'\\x00' UART(1, baudrate=115200, bits=8, parity=None, stop=1, timeout=30, timeout_char=0)\n"},
		{"bad arguments", "for f in (lambda: UART('x'), lambda: UART(1, 0), lambda: UART(1, 9600.5), lambda: UART(1, bits=9), lambda: UART(1, parity=3), lambda: UART(1, stop=0), lambda: UART(1, timeout=-1), lambda: u.write(5), lambda: u.write(None), lambda: u.readinto(b'ab'), lambda: u.read('x'), lambda: u.irq(5), lambda: u.irq(print, 64)): err(f)\nprint()",
			"TypeError ValueError TypeError ValueError ValueError ValueError ValueError TypeError TypeError TypeError TypeError TypeError ValueError \n"},
		{"closed", "u.deinit(); err(u.any); print()", "OSError \n"},
	})
	want := []string{`uart:1 baudrate=115200 bits=8 parity=null rx="18" stop=1 tx="17"`, "uart:1 baudrate=9600 bits=7 parity=0 rxbuf=256 stop=2 txbuf=64"}
	if d := cmp.Diff(want, r.opened[:2]); d != "" {
		t.Errorf("settings (-want +got):\n%s", d)
	}
}

// A line that takes a few bytes at a time is waited for; an interrupt ends the wait.
func TestSlowUART(t *testing.T) {
	g := start(t)
	r := newRig(g)
	r.slow = true
	if got := g.exec("from machine import UART\nu = UART(1, 1000)\nprint(u.write(bytes(range(20))))\nprint(u.read() == bytes(range(20)))"); got.out != "20\nTrue\n" {
		t.Errorf("got %q, %s", got.out, got.err)
	}
	g.begin(hw.Job{Kind: hw.JobExec, Session: "s", Code: "u.init(timeout=60000)\nu.read(1)", MaxOutput: 100})
	g.interruptAfter(30e6)
	if got := g.finish(); got.Exception == nil || got.Exception.Class != "KeyboardInterrupt" {
		t.Errorf("got %+v, want KeyboardInterrupt", got.Exception)
	}
}

// Whatever a guard answers, nothing is written past a buffer.
func TestBusAnswersAreBounded(t *testing.T) {
	g := start(t)
	g.answer = func(hw.Call) hw.Reply { return hw.Reply{Data: make([]byte, 5000), Value: 1 << 40} }
	r := g.exec("from machine import *\nfrom machine import dht_readinto\nb = bytearray(8); after = bytearray(b'\\xaa' * 8)\ni = I2C(0); s = SPI(1); u = UART(1)\n" +
		"for f in (lambda: i.readfrom_into(0x50, b), lambda: s.readinto(b), lambda: u.readinto(b), lambda: dht_readinto(5, b), i.scan):\n  try: f()\n  except (OSError, ValueError): pass\nprint(after, len(b))")
	if want := "bytearray(b'\\xaa\\xaa\\xaa\\xaa\\xaa\\xaa\\xaa\\xaa') 8\n"; r.out != want || r.Exception != nil {
		t.Errorf("got %q, %s, want %q", r.out, r.err, want)
	}
}

// Only what holds bytes is taken for a buffer, whatever number a program would like to be an address.
func TestBufferChecks(t *testing.T) {
	g := start(t)
	g.exec("import _bus")
	for _, name := range []string{"host_i2c", "host_spi", "host_uart_read", "js", "_make"} {
		if r := g.exec("print(hasattr(_bus, '" + name + "'))"); r.out != "False\n" {
			t.Errorf("%s is within reach", name)
		}
	}
	m := g.machine
	for _, tt := range []struct {
		at    int64
		write bool
	}{{4, false}, {1 << 30, false}, {-5, false}, {int64(m.buffers.bytes), true}} {
		if p, ok := m.buffer(integer(tt.at), tt.write); ok {
			t.Errorf("address %#x: got a buffer of %d bytes", tt.at, len(p))
		}
	}
}
