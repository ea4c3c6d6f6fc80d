//go:build unix

package micropython

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pal-terminal/pal/hw"
)

func TestNeoPixel(t *testing.T) {
	g := start(t)
	sent := ""
	g.answer = func(c hw.Call) hw.Reply {
		if c.Op == hw.OpBitstream {
			sent = string(c.Data)
		}
		return hw.Reply{}
	}
	fast := "\x90\x01\x00\x00\x52\x03\x00\x00\x20\x03\x00\x00\xc2\x01\x00\x00" // 400, 850, 800, 450 ns
	for _, tt := range []struct{ name, code, out, sent string }{
		{"three colours", "from neopixel import NeoPixel\nnp = NeoPixel(Pin(5), 3)\nnp[0] = (1, 2, 3)\nnp[-1] = (4, 5, 6)\nnp.write()\nprint(len(np), np[0], np[2], np.buf)", "3 (1, 2, 3) (4, 5, 6) bytearray(b'\\x02\\x01\\x03\\x00\\x00\\x00\\x05\\x04\\x06')\n", fast + "\x02\x01\x03\x00\x00\x00\x05\x04\x06"},
		{"four colours", "np = NeoPixel(Pin(5), 2, bpp=4)\nnp.fill((1, 2, 3, 4))\nnp.write()\nprint(np[1])", "(1, 2, 3, 4)\n", fast + "\x02\x01\x03\x04\x02\x01\x03\x04"},
		{"slow", "np = NeoPixel(Pin(5), 1, timing=0)\nnp.write()", "", "\x20\x03\x00\x00\xa4\x06\x00\x00\x40\x06\x00\x00\x84\x03\x00\x00\x00\x00\x00"},
		{"beyond", "for at, color in ((1, (0, 0, 0)), (-2, (0, 0, 0)), (0, (1, 2))):\n  try: np[at] = color\n  except IndexError: print('no')", "no\nno\nno\n", ""},
	} {
		sent = ""
		r := g.exec(tt.code)
		if r.out != tt.out || r.Exception != nil || sent != tt.sent {
			t.Errorf("%s: got %q, %+v, sent %q, want %q, sent %q", tt.name, r.out, r.Exception, sent, tt.out, tt.sent)
		}
	}
}

func TestDHT(t *testing.T) {
	g := start(t)
	const code = "import dht\nd = dht.%(Pin(4))\ntry:\n  d.measure()\n  print('%.1f %.1f' % (d.temperature(), d.humidity()))\nexcept OSError as e: print('OSError', e.errno)\nexcept Exception as e: print(e)"
	for _, tt := range []struct {
		name, class, data, out string
		errno                  int32
	}{
		{"DHT11", "DHT11", "\x2d\x00\x17\x00\x44", "23.0 45.0\n", 0},
		{"DHT22", "DHT22", "\x02\x8c\x01\x5f\xee", "35.1 65.2\n", 0}, // the example of the AM2302's data sheet
		{"below zero", "DHT22", "\x02\x8c\x80\x65\x73", "-10.1 65.2\n", 0},
		{"wrong sum", "DHT22", "\x02\x8c\x01\x5f\xef", "checksum error\n", 0},
		{"silent", "DHT22", "", "OSError 110\n", 110},
		{"cut short", "DHT11", "\x2d\x00", "OSError 5\n", 0},
	} {
		g.answer = func(c hw.Call) hw.Reply {
			if c.Op == hw.OpDHT {
				return hw.Reply{Errno: tt.errno, Data: []byte(tt.data)}
			}
			return hw.Reply{}
		}
		if r := g.exec(strings.Replace(code, "%", tt.class, 1)); r.out != tt.out || r.Exception != nil {
			t.Errorf("%s: got %q, %+v, want %q", tt.name, r.out, r.Exception, tt.out)
		}
	}
}

// wire is a 1-Wire bus with thermometers.
type wire struct {
	codes   [][]byte
	memory  map[byte][]byte // by the code's second byte: the scratchpad
	live    [][]byte        // that still listen
	phase   int             // of a search: 0 to 2 for each bit
	command []byte
}

func (w *wire) call(c hw.Call) hw.Reply {
	if c.Op != hw.OpOneWire {
		return hw.Reply{}
	}
	switch c.A {
	case hw.OneWireReset:
		w.live, w.command, w.phase = w.codes, nil, 0
		return hw.Reply{Value: min(1, int64(len(w.codes)))}
	case hw.OneWireWrite:
		w.command = append(w.command, c.Data...)
		if len(w.command) == 9 && w.command[0] == 0x55 {
			w.keep(func(code []byte) bool { return bytes.Equal(code, w.command[1:]) })
		}
		if len(w.command) == 13 && w.command[9] == 0x4E {
			copy(w.memory[w.live[0][1]][2:], w.command[10:])
			seal(w.memory[w.live[0][1]])
		}
	case hw.OneWireRead:
		return hw.Reply{Data: w.memory[w.live[0][1]][:c.B]}
	case hw.OneWireBit:
		return hw.Reply{Value: w.search(c.B)}
	}
	return hw.Reply{}
}

func (w *wire) keep(fits func([]byte) bool) {
	var live [][]byte
	for _, code := range w.live {
		if fits(code) {
			live = append(live, code)
		}
	}
	w.live = live
}

// search answers one slot of the search: the bit, its complement, then the way the master takes.
func (w *wire) search(b int64) int64 {
	n := w.phase / 3
	bit := func(code []byte) int64 { return int64(code[n/8] >> (n % 8) & 1) }
	answer := int64(1)
	for _, code := range w.live {
		switch w.phase % 3 {
		case 0:
			answer &= bit(code)
		case 1:
			answer &= 1 - bit(code)
		}
	}
	if w.phase%3 == 2 {
		w.keep(func(code []byte) bool { return bit(code) == b })
	}
	w.phase++
	return answer
}

func seal(b []byte) []byte {
	crc := byte(0)
	for _, x := range b[:len(b)-1] {
		crc ^= x
		for range 8 {
			low := crc & 1
			crc >>= 1
			if low != 0 {
				crc ^= 0x8C
			}
		}
	}
	b[len(b)-1] = crc
	return b
}

func TestOneWireThermometers(t *testing.T) {
	g := start(t)
	code := func(family, n byte) []byte { return seal([]byte{family, n, 0xFF, 0x4B, 0x46, 0x7F, 0x2F, 0}) }
	w := &wire{memory: map[byte][]byte{
		1: seal([]byte{0x91, 0x01, 0x4B, 0x46, 0x7F, 0xFF, 0x0C, 0x10, 0}), // 25.0625
		2: seal([]byte{0x5E, 0xFF, 0x4B, 0x46, 0x7F, 0xFF, 0x02, 0x10, 0}), // -10.125
		3: seal([]byte{0x32, 0x00, 0x4B, 0x46, 0xFF, 0xFF, 0x04, 0x10, 0}), // DS18S20: 25 - 0.25 + 12/16
		4: make([]byte, 9),
	}}
	g.answer = w.call
	const prepare = "import onewire, ds18x20\now = onewire.OneWire(Pin(4))\nds = ds18x20.DS18X20(ow)\n"
	for _, tt := range []struct {
		name, code, out string
		codes           [][]byte
	}{
		{"nobody", prepare + "print(ow.reset(), ow.scan(), ds.scan())\ntry: ds.convert_temp()\nexcept onewire.OneWireError: print('nobody')", "False [] []\nnobody\n", nil},
		{"many", prepare + "ds.convert_temp()\nfor rom in sorted(ds.scan()): print(rom[1], ds.read_temp(rom))\nprint(len(ow.scan()))", "3 25.5\n1 25.0625\n2 -10.125\n4\n", [][]byte{code(0x28, 1), code(0x28, 2), code(0x10, 3), code(0x01, 9)}},
		{"resolution", prepare + "rom = ds.scan()[0]\nprint(ds.resolution(rom), ds.resolution(rom, 9), ds.resolution(rom))\ntry: ds.resolution(rom, 8)\nexcept ValueError: print('no')", "12 9 9\nno\n", [][]byte{code(0x28, 1)}},
		{"wrong sum", prepare + "try: ds.read_temp(ds.scan()[0])\nexcept Exception as e: print(e)", "CRC error\n", [][]byte{code(0x28, 4)}},
		{"crc8", prepare + "print(ow.crc8(b'\\x02\\x1c\\xb8\\x01\\x00\\x00\\x00\\xa2'), ow.crc8(b'\\x02'), type(ow.readbyte()), ow.readbit())", "0 188 <class 'int'> 0\n", [][]byte{code(0x28, 1)}},
	} {
		w.codes = tt.codes
		if tt.name == "wrong sum" {
			w.memory[4][0] = 1
		}
		if r := g.exec(tt.code); r.out != tt.out || r.Exception != nil {
			t.Errorf("%s: got %q, %+v, want %q", tt.name, r.out, r.Exception, tt.out)
		}
	}
}

func TestNetworkIsForLooking(t *testing.T) {
	g := start(t)
	plain := board(map[uint16]int64{})
	radio := func(c hw.Call) hw.Reply {
		switch {
		case c.Op != hw.OpNetwork:
			return plain(c)
		case c.Text == "scan":
			return hw.Reply{Data: []byte(`[["caf\u00e9","0a0b0c0d0e0f",6,-61,3,false],["",  "112233445566",11,-80,0,true]]`)}
		}
		return hw.Reply{Data: []byte(`{"active":true,"connected":true,"ifconfig":["10.0.0.7","255.255.255.0","10.0.0.1","10.0.0.2"],"mac":"aabbccddeeff","ssid":"lab","rssi":-55,"channel":6}`)}
	}
	absent := func(c hw.Call) hw.Reply {
		if c.Op == hw.OpNetwork {
			return hw.Reply{Errno: 95, Text: "not on this board"}
		}
		return plain(c)
	}
	const look = "import network\nw = network.WLAN(network.STA_IF)\nprint(w.active(), w.isconnected(), w.status(), w.ifconfig()[0], w.config('ssid'), w.config('mac'), w.status('rssi'), w.scan())"
	for _, tt := range []struct {
		name, code, out string
		answer          func(hw.Call) hw.Reply
	}{
		{"with a radio", look, "True True 1010 10.0.0.7 lab b'\\xaa\\xbb\\xcc\\xdd\\xee\\xff' -55 [(b'caf\\xc3\\xa9', b'\\n\\x0b\\x0c\\r\\x0e\\x0f', 6, -61, 3, False), (b'', b'\\x11\"3DUf', 11, -80, 0, True)]\n", radio},
		{"without", look, "False False 1000 0.0.0.0  b'\\x00\\x00\\x00\\x00\\x00\\x00' 0 []\n", absent},
		{"what tutorials do", "w = network.WLAN(network.STA_IF)\nw.active(True)\nif not w.isconnected():\n  w.connect('a', 'b')\nprint(w.ipconfig('addr4'), network.ipconfig('gw4'), w.config('channel'))", "('10.0.0.7', '255.255.255.0') 10.0.0.1 6\n", radio},
		{"access point", "print(network.WLAN(network.AP_IF).active(), network.WLAN(network.AP_IF).ifconfig()[0])", "False 0.0.0.0\n", radio},
		{"setters", "n = 0\nfor f in (lambda: w.active(False), lambda: w.connect('a'), lambda: w.disconnect(), lambda: w.ifconfig(('1', '2', '3', '4')), lambda: w.ipconfig(dhcp4=True), lambda: w.config(pm=0), lambda: network.hostname('x'), lambda: network.country('DE'), lambda: network.LAN(), lambda: network.WLAN(network.AP_IF).active(True)):\n  try: f()\n  except OSError as e: n += e.errno == 13\nprint(n)", "10\n", radio},
		{"unknown", "for f in (lambda: w.config('x'), lambda: w.status('x'), lambda: network.WLAN(7)):\n  try: f()\n  except ValueError: print('no')", "no\nno\nno\n", radio},
	} {
		g.answer = tt.answer
		if r := g.exec(tt.code); r.out != tt.out || r.Exception != nil {
			t.Errorf("%s: got %q, %+v, want %q", tt.name, r.out, r.Exception, tt.out)
		}
	}
}

// What programs import and cannot have says so when it is used, by the guard's rule or by what is missing.
func TestModulesThatRefuse(t *testing.T) {
	g := start(t)
	g.answer = board(map[uint16]int64{})
	for _, tt := range []struct {
		code    string
		errno   string
		refused bool
	}{
		{"import socket\nsocket.socket(socket.AF_INET, socket.SOCK_STREAM)", "13", true},
		{"import usocket\nusocket.getaddrinfo('h', 80)", "13", true},
		{"import ssl\nssl.wrap_socket(None)", "13", true},
		{"import urequests\nurequests.get('http://h/')", "13", true},
		{"import requests\nrequests.post('http://h/', json={})", "13", true},
		{"from umqtt.simple import MQTTClient\nMQTTClient('a', 'b')", "13", true},
		{"from umqtt.robust import MQTTClient\nMQTTClient('a', 'b')", "13", true},
		{"import bluetooth\nbluetooth.FLAG_READ\nbluetooth.BLE()", "13", true},
		{"import ubluetooth\nubluetooth.BLE()", "13", true},
		{"import espnow\nespnow.ESPNow()", "13", true},
		{"import esp\nesp.osdebug(None)\nesp.flash_erase(1)", "13", true},
		{"import esp32\nesp32.wake_on_ext0(None, 1)", "13", true},
		{"import rp2\nrp2.Flash()", "13", true},
		{"import pyb\npyb.standby()", "13", true},
		{"import esp32\nesp32.hall_sensor()", "19", false},
		{"import rp2\n@rp2.asm_pio(set_init=rp2.PIO.OUT_LOW)\ndef blink():\n  wrap_target()\n  set(pins, 1)\n  wrap()\nrp2.StateMachine(0, blink, freq=2000)", "19", false},
		{"import _thread\n_thread.start_new_thread(print, ())", "95", false},
	} {
		r := g.exec("try:\n  " + strings.ReplaceAll(tt.code, "\n", "\n  ") + "\nexcept OSError as e: print(e.errno)")
		refused := false
		for _, c := range r.calls {
			refused = refused || c.Op == hw.OpRefuse
		}
		if r.out != tt.errno+"\n" || r.Exception != nil || refused != tt.refused {
			t.Errorf("%q: got %q, %+v, refused %v, want %s, %v", tt.code, r.out, r.Exception, refused, tt.errno, tt.refused)
		}
	}
	r := g.exec("import ntptime, _thread, esp, pyb\nntptime.settime()\nlock = _thread.allocate_lock()\nwith lock: print(lock.locked(), lock.acquire(False))\n" +
		"print(lock.locked(), _thread.get_ident(), esp.flash_size() > 0, abs(ntptime.time() - time.time()) < 5)\npyb.LED(1).on()\npyb.delay(1)\nprint(pyb.elapsed_millis(pyb.millis()) < 1000)")
	if d := cmp.Diff("True False\nFalse 1 True True\nTrue\n", r.out); d != "" || r.Exception != nil {
		t.Errorf("%s%+v", d, r.Exception)
	}
}
