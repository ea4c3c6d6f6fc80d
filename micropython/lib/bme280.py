# The BME280: a BMP280 that measures humidity too. Registers and formulas: data sheet, section 5 and appendix 8.1 (in floats).
import struct

import bmp280


class BME280(bmp280.BMP280):
    """temperature, pressure and humidity are texts with a unit, as the well-known driver's; numbers come from read_compensated_data."""

    _ID = (0x60,)

    def __init__(self, mode=1, address=0x76, i2c=None, addr=None):
        super().__init__(i2c, address if addr is None else addr)

    def _start(self):
        h1 = self._read(0xA1, 1)[0]
        h2, h3, a, b, c, h6 = struct.unpack("<hBbBbb", self._read(0xE1, 7))
        self._h = (h1, h2, h3, a << 4 | b & 15, c << 4 | b >> 4, h6)
        self._write(0xF2, 0x01)
        super()._start()

    def _humidity(self, raw, fine):
        h1, h2, h3, h4, h5, h6 = self._h
        t = fine - 76800
        h = (raw - (h4 * 64 + h5 / 16384 * t)) * h2 / 65536 * (1 + h6 / 67108864 * t * (1 + h3 / 67108864 * t))
        return min(100, max(0, h * (1 - h1 * h / 524288)))

    def read_compensated_data(self, result=None):
        """Degrees Celsius, pascals, per cent."""
        t, p, fine = self._measure()
        b = self._read(0xFD, 2)
        found = (t, p, self._humidity(b[0] << 8 | b[1], fine))
        if result is None:
            return found
        for k in range(3):
            result[k] = found[k]
        return result

    @property
    def values(self):
        t, p, h = self.read_compensated_data()
        return "%.2fC" % t, "%.2fhPa" % (p / 100), "%.2f%%" % h

    @property
    def temperature(self):
        return self.values[0]

    @property
    def pressure(self):
        return self.values[1]

    @property
    def humidity(self):
        return self.values[2]
