# The DHT11 and DHT22 (AM2302) humidity sensors. The guard does the timing and answers the sensor's five bytes.
import _pal


class DHTBase:
    def __init__(self, pin):
        self.pin = pin
        self.buf = bytearray(5)

    def measure(self):
        """OSError 110 (ETIMEDOUT) when nothing answers; Exception when the checksum is wrong."""
        self.buf[:] = _pal.dht(self.pin._h)
        if sum(self.buf[:4]) & 255 != self.buf[4]:
            raise Exception("checksum error")


class DHT11(DHTBase):
    def humidity(self):
        return self.buf[0]

    def temperature(self):
        return self.buf[2]


class DHT22(DHTBase):
    def humidity(self):
        return (self.buf[0] << 8 | self.buf[1]) * 0.1

    def temperature(self):
        t = ((self.buf[2] & 127) << 8 | self.buf[3]) * 0.1
        return -t if self.buf[2] & 128 else t
