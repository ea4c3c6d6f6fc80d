# The ADS1115 and ADS1015 converters. Registers: ADS1115 data sheet, section 9.6 (register map).
import struct, time

_RANGE = (6.144, 4.096, 2.048, 1.024, 0.512, 0.256)


class ADS1115:
    _WAIT = (125, 63, 32, 16, 8, 4, 3, 2)  # ms by rate

    def __init__(self, i2c, address=0x48, gain=1):
        """gain 0 to 5: 6.144, 4.096, 2.048, 1.024, 0.512 or 0.256 V full scale."""
        self.i2c = i2c
        self.address = address
        self.gain = gain

    def _config(self, rate, channel1, channel2):
        if channel2 is None:
            mux = 4 + channel1
        else:
            mux = {(0, 1): 0, (0, 3): 1, (1, 3): 2, (2, 3): 3}[(channel1, channel2)]
        return 0x8103 | mux << 12 | self.gain << 9 | rate << 5

    def read(self, rate=4, channel1=0, channel2=None):
        """One conversion of an input, or of the difference of two."""
        self.i2c.writeto_mem(self.address, 1, struct.pack(">H", self._config(rate, channel1, channel2)))
        for _ in range(10):
            time.sleep_ms(self._WAIT[rate])
            if self.i2c.readfrom_mem(self.address, 1, 2)[0] & 0x80:
                return self._value(struct.unpack(">h", self.i2c.readfrom_mem(self.address, 0, 2))[0])
        raise OSError(110)

    def _value(self, raw):
        return raw

    def raw_to_v(self, raw):
        return raw * _RANGE[self.gain] / 32768


class ADS1015(ADS1115):
    _WAIT = (8, 4, 3, 2, 1, 1, 1, 1)

    def _value(self, raw):
        return raw >> 4

    def raw_to_v(self, raw):
        return raw * _RANGE[self.gain] / 2048
