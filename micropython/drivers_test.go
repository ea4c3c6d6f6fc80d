//go:build unix

package micropython

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pal-terminal/pal/hw"
)

// fakes are buses in Python: registers to read, and a record of what was written.
const fakes = `
import struct
class FakeI2C:
    def __init__(self, memory={}, answers=()):
        self.memory = memory
        self.answers = list(answers)
        self.log = []
    def scan(self): return [0x20]
    def writeto(self, addr, buf, stop=True):
        self.log.append(bytes(buf))
        return len(buf)
    def writevto(self, addr, vector, stop=True):
        return self.writeto(addr, b"".join(bytes(v) for v in vector))
    def readfrom(self, addr, n, stop=True):
        r = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        return r[:n]
    def readfrom_mem(self, addr, reg, n, *, addrsize=8):
        return bytes(self.memory.get(reg + k, 0) for k in range(n))
    def writeto_mem(self, addr, reg, buf, *, addrsize=8):
        self.log.append((reg, bytes(buf)))
        for k, b in enumerate(bytes(buf)): self.memory[reg + k] = b
def at(reg, data): return {reg + k: b for k, b in enumerate(data)}
class FakeSPI:
    log = b""
    def write(self, buf): FakeSPI.log += bytes(buf)
`

// Each expected value is worked out from the device's data sheet, or is its own example.
func TestDeviceDrivers(t *testing.T) {
	g := start(t)
	g.answer = board(map[uint16]int64{})
	if r := g.exec(fakes); r.Exception != nil {
		t.Fatalf("got %+v", r.Exception)
	}
	for _, tt := range []struct{ name, code, out string }{
		// BMP280 data sheet, table 17: calibration 27504 26435 -1000 36477 -10685 3024 2855 140 -7 15500 -14600 6000, temperature
		// 519888 and pressure 415148 give 25.08 degrees and 100653.27 Pa.
		{"bmp280", `
m = at(0x88, struct.pack("<HhhHhhhhhhhh", 27504, 26435, -1000, 36477, -10685, 3024, 2855, 140, -7, 15500, -14600, 6000))
m.update({0xD0: 0x58})
m.update(at(0xF7, bytes((415148 >> 12, 415148 >> 4 & 255, 415148 << 4 & 255, 519888 >> 12, 519888 >> 4 & 255, 519888 << 4 & 255))))
from bmp280 import BMP280
b = BMP280(FakeI2C(m))
print("%.2f %.1f %.0f" % (b.temperature, b.pressure, b.altitude))
try: BMP280(FakeI2C({0xD0: 0x60}))
except OSError as e: print(e.errno)`, "25.08 100653.3 56\n19\n"},
		{"bme280", `
m[0xD0] = 0x60
m[0xA1] = 75
m.update(at(0xE1, struct.pack("<hBbBbb", 362, 0, 20, 0x05, 3, 30)))
m.update(at(0xFD, struct.pack(">H", 30000)))
from bme280 import BME280
b = BME280(i2c=FakeI2C(m))
t, p, h = b.read_compensated_data()
print(b.temperature, b.pressure, "%.2f" % t, 0 < h < 100, b.values[2] == b.humidity, b.humidity == "%.2f%%" % h, m[0xF2], hex(m[0xF4]))`, "25.08C 1006.53hPa 25.08 True True True 1 0x27\n"},
		// AHT20 data sheet, section 6: humidity and temperature are parts of 2**20 of 100 per cent and of 200 degrees from -50.
		{"ahtx0", `
from ahtx0 import AHT20
frame = bytes((0x18, 0x80, 0, 0x05, 0x80, 0, 0))
i = FakeI2C({}, [b"\x18"] * 3 + [frame])
s = AHT20(i)
print(i.log[:2], s.relative_humidity, s.temperature)
try: AHT20(FakeI2C({}, [b"\x00"]))
except RuntimeError as e: print(e)`, "[b'\\xba', b'\\xbe\\x08\\x00'] 50.0 18.75\nCould not initialize\n"},
		// BH1750 data sheet, "Measurement sequence example": 0x8390 is 28067 lx.
		{"bh1750", `
from bh1750 import BH1750
i = FakeI2C({}, [b"\x83\x90"])
print(int(BH1750(i).luminance(BH1750.ONCE_LOWRES)), int(BH1750(0x23, i).luminance(BH1750.CONT_HIRES_2)), i.log[-1])`, "28066 14033 b'\\x11'\n"},
		{"mpu6050", `
m = at(0x3B, struct.pack(">hhhhhhh", 16384, -8192, 0, 340, 131, -262, 0))
m[0x6B] = 0x40
from mpu6050 import MPU6050
i = FakeI2C(m)
s = MPU6050(i)
print(m[0x6B], s.accel.xyz, "%.2f" % s.temperature, s.gyro.y, s.read_accel_data(g=True)["x"], s.get_values()["AcY"])
s.accel_range = 2
print(s.accel_range, s.accel.x, hex(m[0x1C]))
from imu import MPU6050 as same
print(same is MPU6050)`, "0 (1.0, -0.5, 0.0) 37.53 -2.0 1.0 -8192\n2 4.0 0x10\nTrue\n"},
		{"ds3231", `
from ds3231 import DS3231
i = FakeI2C({0x0F: 0x88, 0x11: 0x19, 0x12: 0x40})
c = DS3231(i)
print(c.lost_power())
c.datetime((2026, 12, 1, 1, 23, 59, 58, 0))
print(c.lost_power(), c.datetime(), c.temperature(), c.get_time()[:6], i.log[0])
i.memory.update({2: 0x72, 0x11: 0xFF, 0x12: 0xC0})
print(c.datetime()[4], c.temperature())`, "True\nFalse (2026, 12, 1, 1, 23, 59, 58, 0) 25.25 (2026, 12, 1, 23, 59, 58) (0, b'XY#\\x02\\x01\\x12&')\n12 -0.25\n"},
		{"pcf8574", `
from pcf8574 import PCF8574
i = FakeI2C({}, [b"\xa5"])
p = PCF8574(i)
print(p.check(), p.port, p.pin(0), p.pin(1))
p.pin(3, 0)
p.toggle(3)
p.toggle(0)
print(i.log)
try: p.pin(8)
except ValueError as e: print(e)`, "True 165 1 0\n[b'\\xf7', b'\\xff', b'\\xfe']\nInvalid pin 8. Use 0-7.\n"},
		{"i2c_lcd", `
from i2c_lcd import I2cLcd
i = FakeI2C()
lcd = I2cLcd(i, 0x27, 2, 16)
def text(log):
    out, half = "", None
    for k in range(1, len(log), 2):
        b = log[k][0]
        if half is None: half = b
        else:
            v = half & 0xF0 | b >> 4
            out += chr(v) if b & 1 else "<%x>" % v
            half = None
    return out
i.log = []
lcd.putstr("Hi\nthere")
lcd.move_to(3, 1)
lcd.custom_char(1, bytes(8))
print(text(i.log).replace("\0", "."), i.log[0][0] & 8)
lcd.backlight_off()
lcd.clear()
print(i.log[-1][0] & 8)`, "Hi<c0>there<c3><48>........<c3> 8\n0\n"},
		{"tm1637", `
from tm1637 import TM1637
d = TM1637(Pin(5), Pin(6), 2)
print([d.encode_digit(n) for n in range(10)], d.encode_string("-F *"), d.brightness())
d.numbers(12, 34)
try: d.brightness(8)
except ValueError as e: print(e)`, "[63, 6, 91, 79, 102, 109, 125, 7, 127, 111] bytearray(b'@q\\x00c') 2\nBrightness out of range\n"},
		{"max7219", `
from max7219 import Matrix8x8
d = Matrix8x8(FakeSPI(), Pin(5), 2)
d.fill(0); d.pixel(0, 0, 1); d.pixel(15, 7, 1)
FakeSPI.log = b""
d.show()
print(FakeSPI.log)`, "b'\\x01\\x80\\x01\\x00\\x02\\x00\\x02\\x00\\x03\\x00\\x03\\x00\\x04\\x00\\x04\\x00\\x05\\x00\\x05\\x00\\x06\\x00\\x06\\x00\\x07\\x00\\x07\\x00\\x08\\x00\\x08\\x01'\n"},
		{"pca9685", `
from pca9685 import PCA9685
p = PCA9685(FakeI2C({}))
p.freq(50)
print(p.freq(), p.i2c.memory[0xFE])
p.duty(3, 1024); print(p.pwm(3), p.duty(3))
p.duty(3, 0); print(p.pwm(3), p.duty(3))
p.duty(3, 4095); print(p.pwm(3), p.duty(3))`, "50 121\n(0, 1024) 1024\n(0, 4096) 0\n(4096, 0) 4095\n"},
		// INA219 data sheet, section 8.5: calibration 0.04096 / (LSB x ohms), LSB 2 A / 32768.
		{"ina219", `
from ina219 import INA219
class Words(FakeI2C):
    def writeto_mem(self, addr, reg, buf): self.memory[reg] = bytes(buf)
    def readfrom_mem(self, addr, reg, n): return self.memory[reg]
s = INA219(0.1, Words(), 2)
m = s.i2c.memory
print(struct.unpack(">H", m[5])[0], m[0])
m.update({1: struct.pack(">h", -2000), 2: struct.pack(">H", 3000 << 3 | 2), 4: struct.pack(">h", -3277), 3: struct.pack(">H", 1966)})
print("%.2f %.1f %.2f %.1f %.0f" % (s.voltage(), s.shunt_voltage(), s.supply_voltage(), s.current(), s.power()))`, "6710 b'9\\x9f'\n12.00 -20.0 11.98 -200.0 2400\n"},
		{"ads1x15", `
from ads1x15 import ADS1115, ADS1015
m = {}
class Ads(FakeI2C):
    def readfrom_mem(self, addr, reg, n, *, addrsize=8): return b"\x85\x83" if reg == 1 else struct.pack(">h", -16384)
i = Ads()
a = ADS1115(i, gain=1)
v = a.read(4, 2)
print(v, a.raw_to_v(v), hex(struct.unpack(">H", i.log[0][1])[0]))
b = ADS1015(i)
print(b.read(4, 0, 1), b.raw_to_v(-1024), hex(struct.unpack(">H", i.log[1][1])[0]))`, "-16384 -2.048 0xe383\n-1024 -2.048 0x8383\n"},
		{"ssd1306", `
import ssd1306
i = FakeI2C()
d = ssd1306.SSD1306_I2C(128, 32, i)
print(i.log[0], len(i.log[-1]), i.log[-1][0])
i.log = []
d.pixel(3, 9, 1)
d.show()
print([hex(b[1]) for b in i.log[:6]], i.log[6].find(b"\x02"))
d.invert(1); d.contrast(10); d.rotate(False); d.poweroff()
print([hex(b[1]) for b in i.log[7:]])
FakeSPI.log = b""
s = ssd1306.SSD1306_SPI(64, 48, FakeSPI(), Pin(5), Pin(6), Pin(7))
print(FakeSPI.log[:1], s.buffer == bytearray(64 * 6))
class Screen(ssd1306.SSD1306_I2C):
    def hello(self):
        self.text("Hello", 0, 0)
        self.show()
Screen(128, 64, i).hello()
print(len(i.log[-1]))`, "b'\\x80\\xae' 513 64\n['0x21', '0x0', '0x7f', '0x22', '0x0', '0x3'] 132\n['0xa7', '0x81', '0xa', '0xc0', '0xa0', '0xae']\nb'\\xae' True\n1025\n"},
		{"sh1106", `
from sh1106 import SH1106_I2C
i = FakeI2C()
d = SH1106_I2C(128, 64, i, rotate=180)
i.log = []
d.show()
print(len(i.log), i.log[0], i.log[1], len(i.log[3]))`, "32 b'\\x80\\xb0' b'\\x80\\x02' 129\n"},
		{"stepper", `
import stepper
m = stepper.create(Pin(5), Pin(6), Pin(7), Pin(8), delay=0)
m.step(3)
print(m.at)
m.step(-5)
print(m.at, [p() for p in m.pins])
m.angle(0)`, "3\n6 [0, 0, 0, 0]\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := g.exec(tt.code)
			if d := cmp.Diff(tt.out, r.out); d != "" || r.Exception != nil || r.err != "" {
				t.Errorf("output (-want +got):\n%s%+v", d, r.Exception)
			}
		})
	}
}

// Servo pulses reach the guard as on-times.
func TestServo(t *testing.T) {
	g := start(t)
	g.answer = board(map[uint16]int64{})
	r := g.exec("from servo import Servo\ns = Servo(Pin(5))\nfor a in (0, 90, 180, 200): s.write(a)\ns.write_us(0)\ns.write_angle(radians=3.14159265 / 2)")
	var ns []int64
	for _, c := range r.calls {
		if c.Op == hw.OpPWM && c.A == 50 {
			ns = append(ns, c.C)
		}
	}
	if d := cmp.Diff([]int64{-1, 600_000, 1_500_000, 2_400_000, 2_400_000, 0, 1_500_000}, ns); d != "" || r.Exception != nil {
		t.Errorf("on-times (-want +got):\n%s%+v", d, r.Exception)
	}
}

func TestRangeFinder(t *testing.T) {
	g := start(t)
	for _, tt := range []struct {
		width int64
		out   string
	}{{1164, "200 20.0\n"}, {-1, "Out of range\n"}, {-2, "Out of range\n"}} {
		pins := board(map[uint16]int64{})
		g.answer = func(c hw.Call) hw.Reply {
			if c.Op == hw.OpPulse {
				return hw.Reply{Value: tt.width}
			}
			return pins(c)
		}
		r := g.exec("from hcsr04 import HCSR04\ns = HCSR04(trigger_pin=5, echo_pin=6)\ntry: print(s.distance_mm(), s.distance_cm())\nexcept OSError as e: print(e)")
		if r.out != tt.out || r.Exception != nil {
			t.Errorf("%d µs: got %q, %+v, want %q", tt.width, r.out, r.Exception, tt.out)
		}
	}
}

// The knob's two lines are played through their detents by the program's own writes to the simulated levels.
func TestRotary(t *testing.T) {
	g := start(t)
	levels := map[uint16]int64{4: 1, 5: 1}
	g.answer = board(levels)
	r := g.exec(`
from rotary_irq_esp import RotaryIRQ
r = RotaryIRQ(4, 5, min_val=0, max_val=3, range_mode=RotaryIRQ.RANGE_BOUNDED)
told = []
r.add_listener(lambda: told.append(r.value()))
clk, dt = Pin(4, Pin.OUT, value=1), Pin(5, Pin.OUT, value=1)
def turn(up):
    for c, d in ((0, 1), (0, 0), (1, 0), (1, 1)) if up else ((1, 0), (0, 0), (0, 1), (1, 1)):
        clk(c); dt(d)
        r._changed(None)
for k in range(5): turn(True)
turn(False)
clk(0); r._changed(None); clk(1); r._changed(None)  # a contact that bounced
print(r.value(), told)
r.set(value=0, range_mode=RotaryIRQ.RANGE_WRAP)
turn(False)
print(r.value())
r.close()`)
	if want := "2 [1, 2, 3, 2]\n3\n"; r.out != want || r.Exception != nil {
		t.Errorf("got %q, %+v, want %q", r.out, r.Exception, want)
	}
}
