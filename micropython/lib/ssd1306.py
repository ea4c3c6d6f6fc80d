# The SSD1306 OLED of 128 by 64 points and its smaller kin. Commands: data sheet, table 9-1; the order at start: "Software
# initialization" of the application note at its end.
import framebuf, time


class SSD1306(framebuf.FrameBuffer):
    def __init__(self, width, height, external_vcc=False):
        self.width = width
        self.height = height
        self.external_vcc = external_vcc
        self.pages = height // 8
        self.buffer = bytearray(self.pages * width)
        super().__init__(self.buffer, width, height, framebuf.MONO_VLSB)
        self.init_display()

    def init_display(self):
        for command in (
            0xAE,  # off
            0x20, 0x00,  # addresses go along a page, then to the next
            0x40,  # the first line
            0xA1,  # column 127 first
            0xA8, self.height - 1,  # lines that are driven
            0xC8,  # from the last line up
            0xD3, 0x00,  # no shift
            0xDA, 0x02 if self.width > 2 * self.height else 0x12,  # how the lines are wired
            0xD5, 0x80,  # clock
            0xD9, 0x22 if self.external_vcc else 0xF1,  # pre-charge
            0xDB, 0x30,  # 0.83 of VCC
            0x81, 0xFF,  # contrast
            0xA4,  # show what is in memory
            0xA6,  # a 1 is lit
            0x8D, 0x10 if self.external_vcc else 0x14,  # charge pump
            0xAF,  # on
        ):
            self.write_cmd(command)
        self.fill(0)
        self.show()

    def poweroff(self):
        self.write_cmd(0xAE)

    def poweron(self):
        self.write_cmd(0xAF)

    def contrast(self, contrast):
        self.write_cmd(0x81)
        self.write_cmd(contrast)

    def invert(self, invert):
        self.write_cmd(0xA6 | (invert & 1))

    def rotate(self, rotate):
        self.write_cmd(0xC0 | ((rotate & 1) << 3))
        self.write_cmd(0xA0 | (rotate & 1))

    def show(self):
        first = (128 - self.width) // 2  # narrow glass is in the middle of the columns
        for command in (0x21, first, first + self.width - 1, 0x22, 0, self.pages - 1):
            self.write_cmd(command)
        self.write_data(self.buffer)


class OverI2C:
    # How a display is reached; not a FrameBuffer itself, since a class may have one such ancestor only.
    def open_i2c(self, i2c, addr):
        self.i2c = i2c
        self.addr = addr
        self.temp = bytearray(2)
        self.write_list = [b"\x40", None]

    def write_cmd(self, cmd):
        self.temp[0] = 0x80
        self.temp[1] = cmd
        self.i2c.writeto(self.addr, self.temp)

    def write_data(self, buf):
        self.write_list[1] = buf
        self.i2c.writevto(self.addr, self.write_list)


class OverSPI:
    def open_spi(self, spi, dc, res, cs):
        for pin in (dc, res, cs):
            if pin is not None:
                pin.init(pin.OUT, value=0)
        self.spi = spi
        self.dc = dc
        self.res = res
        self.cs = cs
        if res is not None:
            res(1)
            time.sleep_ms(1)
            res(0)
            time.sleep_ms(10)
            res(1)

    def _send(self, dc, buf):
        if self.cs is not None:
            self.cs(1)
        self.dc(dc)
        if self.cs is not None:
            self.cs(0)
        self.spi.write(buf)
        if self.cs is not None:
            self.cs(1)

    def write_cmd(self, cmd):
        self._send(0, bytes((cmd,)))

    def write_data(self, buf):
        self._send(1, buf)


class SSD1306_I2C(OverI2C, SSD1306):
    def __init__(self, width, height, i2c, addr=0x3C, external_vcc=False):
        self.open_i2c(i2c, addr)
        SSD1306.__init__(self, width, height, external_vcc)


class SSD1306_SPI(OverSPI, SSD1306):
    def __init__(self, width, height, spi, dc, res, cs, external_vcc=False):
        self.open_spi(spi, dc, res, cs)
        SSD1306.__init__(self, width, height, external_vcc)
