# An HD44780 display behind a PCF8574 as its usual adapter wires it: register select, read, enable, backlight on lines 0 to 3,
# data on 4 to 7. The start in four-bit mode: HD44780 data sheet, figure 24.
import time

from lcd_api import LcdApi

_RS = 1
_ENABLE = 4
_LIGHT = 8


class I2cLcd(LcdApi):
    def __init__(self, i2c, i2c_addr, num_lines, num_columns):
        self.i2c = i2c
        self.i2c_addr = i2c_addr
        self.backlight = True
        self.i2c.writeto(self.i2c_addr, b"\x00")
        time.sleep_ms(20)
        for nibble, ms in ((0x30, 5), (0x30, 1), (0x30, 1), (0x20, 1)):
            self._strobe(nibble)
            time.sleep_ms(ms)
        self.hal_write_command(0x28 if num_lines > 1 else 0x20)
        LcdApi.__init__(self, num_lines, num_columns)

    def _strobe(self, byte):
        self.i2c.writeto(self.i2c_addr, bytes((byte | _ENABLE,)))
        self.i2c.writeto(self.i2c_addr, bytes((byte,)))

    def _send(self, byte, flags):
        if self.backlight:
            flags |= _LIGHT
        self._strobe(byte & 0xF0 | flags)
        self._strobe(byte << 4 & 0xF0 | flags)

    def hal_backlight_on(self):
        self.i2c.writeto(self.i2c_addr, bytes((_LIGHT,)))

    def hal_backlight_off(self):
        self.i2c.writeto(self.i2c_addr, b"\x00")

    def hal_write_command(self, cmd):
        self._send(cmd, 0)
        if cmd <= 3:  # clear and home take longer
            time.sleep_ms(5)

    def hal_write_data(self, data):
        self._send(data, _RS)
