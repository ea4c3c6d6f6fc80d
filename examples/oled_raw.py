# Drive the SSD1306 without any library: a driver class as a tutorial has it.
from machine import I2C, Pin


class OLED:
    def __init__(self, i2c, addr=0x3C, width=128, height=64):
        self.i2c = i2c
        self.addr = addr
        self.width = width
        self.pages = height // 8
        self.buffer = bytearray(width * self.pages)
        for c in (0xAE, 0x20, 0x00, 0x40, 0xA1, 0xA8, height - 1, 0xC8, 0xD3, 0x00, 0xDA, 0x12, 0xD5, 0x80,
                  0xD9, 0xF1, 0xDB, 0x30, 0x81, 0xFF, 0xA4, 0xA6, 0x8D, 0x14, 0xAF):
            self.cmd(c)

    def cmd(self, c):
        self.i2c.writeto(self.addr, bytes([0x80, c]))

    def pixel(self, x, y, on=1):
        i = x + (y >> 3) * self.width
        if on:
            self.buffer[i] |= 1 << (y & 7)
        else:
            self.buffer[i] &= ~(1 << (y & 7)) & 0xFF

    def show(self):
        for c in (0x21, 0, self.width - 1, 0x22, 0, self.pages - 1):
            self.cmd(c)
        self.i2c.writeto(self.addr, b"\x40" + self.buffer)


oled = OLED(I2C(0))
for i in range(64):
    oled.pixel(i, i)
    oled.pixel(127 - i, i)
oled.show()
print("shown")
