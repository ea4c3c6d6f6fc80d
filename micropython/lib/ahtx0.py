# The AHT10 and AHT20 humidity sensors. Commands, waits and formulas: AHT20 data sheet, sections 5.3, 5.4 and 6.
import time


class AHT10:
    _INIT = b"\xe1\x08\x00"

    def __init__(self, i2c, address=0x38):
        self._i2c = i2c
        self._address = address
        time.sleep_ms(20)
        self.reset()
        if not self.initialize():
            raise RuntimeError("Could not initialize")

    def reset(self):
        self._i2c.writeto(self._address, b"\xba")
        time.sleep_ms(20)

    @property
    def status(self):
        return self._i2c.readfrom(self._address, 1)[0]

    def initialize(self):
        self._i2c.writeto(self._address, self._INIT)
        self._settle()
        return bool(self.status & 0x08)

    def _settle(self):
        for _ in range(100):
            if not self.status & 0x80:
                return
            time.sleep_ms(5)
        raise OSError(110)

    def _measure(self):
        self._i2c.writeto(self._address, b"\xac\x33\x00")
        time.sleep_ms(80)
        self._settle()
        return self._i2c.readfrom(self._address, 6)

    @property
    def relative_humidity(self):
        """Per cent."""
        b = self._measure()
        return (b[1] << 12 | b[2] << 4 | b[3] >> 4) * 100 / 0x100000

    @property
    def temperature(self):
        """Degrees Celsius."""
        b = self._measure()
        return ((b[3] & 0x0F) << 16 | b[4] << 8 | b[5]) * 200 / 0x100000 - 50


class AHT20(AHT10):
    _INIT = b"\xbe\x08\x00"
