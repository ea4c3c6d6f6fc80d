# The BMP280 barometer. Registers and formulas: data sheet, sections 4 and 3.11.3 with appendix 8.1 (in floats).
import struct, time


class BMP280:
    _ID = (0x56, 0x57, 0x58)

    def __init__(self, i2c, addr=0x76, address=None):
        self._i2c = i2c
        self._addr = addr if address is None else address
        chip = self._read(0xD0, 1)[0]
        if chip not in self._ID:
            raise OSError(19, "chip 0x%02x at 0x%02x is another one" % (chip, self._addr))
        self._t = struct.unpack("<Hhh", self._read(0x88, 6))
        self._p = struct.unpack("<Hhhhhhhhh", self._read(0x8E, 18))
        self._start()

    def _read(self, register, n):
        return self._i2c.readfrom_mem(self._addr, register, n)

    def _write(self, register, value):
        self._i2c.writeto_mem(self._addr, register, bytes((value,)))

    def _start(self):
        self._write(0xF5, 0x00)
        self._write(0xF4, 0x27)  # both once over, again and again
        self._settle()

    def _settle(self):
        time.sleep_ms(10)
        for _ in range(100):
            if not self._read(0xF3, 1)[0] & 0x08:
                return
            time.sleep_ms(2)

    def _fine(self, raw):
        t1, t2, t3 = self._t
        a = (raw / 16384 - t1 / 1024) * t2
        b = raw / 131072 - t1 / 8192
        return a + b * b * t3

    def _pressure(self, raw, fine):
        p1, p2, p3, p4, p5, p6, p7, p8, p9 = self._p
        a = fine / 2 - 64000
        b = a * a * p6 / 32768 + a * p5 * 2
        b = b / 4 + p4 * 65536
        a = (1 + (p3 * a * a / 524288 + p2 * a) / 524288 / 32768) * p1
        if a == 0:
            return 0
        p = (1048576 - raw - b / 4096) * 6250 / a
        return p + (p9 * p * p / 2147483648 + p * p8 / 32768 + p7) / 16

    def _measure(self):
        # Degrees Celsius, pascals and the fine temperature.
        b = self._read(0xF7, 6)
        fine = self._fine(b[3] << 12 | b[4] << 4 | b[5] >> 4)
        return fine / 5120, self._pressure(b[0] << 12 | b[1] << 4 | b[2] >> 4, fine), fine

    @property
    def temperature(self):
        """Degrees Celsius."""
        return self._measure()[0]

    @property
    def pressure(self):
        """Pascals."""
        return self._measure()[1]

    @property
    def altitude(self):
        """Metres above where the pressure is 1013.25 hPa."""
        return 44330 * (1 - (self.pressure / 101325) ** 0.1903)
