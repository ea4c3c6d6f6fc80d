# Sixteen PWM outputs behind a PCA9685. Registers: data sheet, section 7.3.
import struct, time


class PCA9685:
    def __init__(self, i2c, address=0x40):
        self.i2c = i2c
        self.address = address
        self.reset()

    def _write(self, register, value):
        self.i2c.writeto_mem(self.address, register, bytes((value,)))

    def _read(self, register):
        return self.i2c.readfrom_mem(self.address, register, 1)[0]

    def reset(self):
        self._write(0x00, 0x00)

    def freq(self, freq=None):
        """24 to 1526 Hz."""
        if freq is None:
            return int(25000000 / 4096 / (self._read(0xFE) + 1) + 0.5)
        mode = self._read(0x00)
        self._write(0x00, mode & 0x7F | 0x10)  # asleep: only then it may change
        self._write(0xFE, min(255, max(3, int(25000000 / 4096 / freq + 0.5) - 1)))
        self._write(0x00, mode)
        time.sleep_us(500)
        self._write(0x00, mode | 0xA0)

    def pwm(self, index, on=None, off=None):
        """When within 4096 parts of a turn output index goes on and off; part 4096 means always."""
        if on is None or off is None:
            return struct.unpack("<HH", self.i2c.readfrom_mem(self.address, 0x06 + 4 * index, 4))
        self.i2c.writeto_mem(self.address, 0x06 + 4 * index, struct.pack("<HH", on, off))

    def duty(self, index, value=None, invert=False):
        """0 to 4095."""
        if value is None:
            on, off = self.pwm(index)
            value = 0 if off & 4096 else 4095 if on & 4096 else off - on
            return 4095 - value if invert else value
        if not 0 <= value <= 4095:
            raise ValueError("Out of range")
        if invert:
            value = 4095 - value
        if value == 0:
            self.pwm(index, 0, 4096)
        elif value == 4095:
            self.pwm(index, 4096, 0)
        else:
            self.pwm(index, 0, value)
