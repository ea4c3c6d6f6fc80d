# The SH1106 OLED: as the SSD1306, but it takes one page at a time and its 132 columns stand two to the left.
import ssd1306


class SH1106(ssd1306.SSD1306):
    def init_display(self):
        for command in (0xAE, 0x40, 0xA1, 0xA8, self.height - 1, 0xC8, 0xD3, 0x00, 0xDA, 0x12, 0xD5, 0x80, 0xD9, 0xF1,
                        0xDB, 0x40, 0x81, 0xFF, 0xA4, 0xA6, 0xAD, 0x8B, 0xAF):
            self.write_cmd(command)
        self.fill(0)
        self.show()

    def show(self):
        view = memoryview(self.buffer)
        for page in range(self.pages):
            self.write_cmd(0xB0 | page)
            self.write_cmd(0x02)  # the low half of column 2
            self.write_cmd(0x10)
            self.write_data(view[page * self.width:(page + 1) * self.width])

    def flip(self):
        self.rotate(0)

    def sleep(self, off):
        self.write_cmd(0xAE if off else 0xAF)


class SH1106_I2C(ssd1306.OverI2C, SH1106):
    def __init__(self, width, height, i2c, res=None, addr=0x3C, rotate=0, external_vcc=False):
        self.open_i2c(i2c, addr)
        SH1106.__init__(self, width, height, external_vcc)
        if rotate == 180:
            self.flip()


class SH1106_SPI(ssd1306.OverSPI, SH1106):
    def __init__(self, width, height, spi, dc, res=None, cs=None, rotate=0, external_vcc=False):
        self.open_spi(spi, dc, res, cs)
        SH1106.__init__(self, width, height, external_vcc)
        if rotate == 180:
            self.flip()
