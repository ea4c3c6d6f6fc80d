# A character LCD behind a PCF8574, as a tutorial's driver class does it.
from machine import I2C, Pin
from time import sleep_ms, sleep_us


class LcdApi:
    BACKLIGHT = 0x08
    ENABLE = 0x04
    RS = 0x01

    def __init__(self, i2c, addr):
        self.i2c = i2c
        self.addr = addr
        self.sent = 0
        for nibble in (0x30, 0x30, 0x30, 0x20):
            self.nibble(nibble, 0)
            sleep_ms(1)
        for c in (0x28, 0x0C, 0x06, 0x01):
            self.byte(c, 0)
        sleep_ms(2)

    def nibble(self, value, rs):
        data = value & 0xF0 | self.BACKLIGHT | rs
        self.i2c.writeto(self.addr, bytes([data | self.ENABLE]))
        sleep_us(1)
        self.i2c.writeto(self.addr, bytes([data]))
        self.sent += 1

    def byte(self, value, rs):
        self.nibble(value, rs)
        self.nibble(value << 4, rs)

    def text(self, s):
        for ch in s:
            self.byte(ord(ch), self.RS)


lcd = LcdApi(I2C(0, scl=Pin(7), sda=Pin(6), freq=100000), 0x20)
lcd.text("Hi")
print(lcd.sent)
