# The PCF8574 port expander: one byte written sets its eight lines, one byte read is what they are. A line that is 1 may be an input.
class PCF8574:
    def __init__(self, i2c, address=0x20):
        self._i2c = i2c
        self._address = address
        self._out = 0xFF

    def check(self):
        if self._address not in self._i2c.scan():
            raise OSError("PCF8574 not found at I2C address 0x%02x" % self._address)
        return True

    @property
    def port(self):
        return self._i2c.readfrom(self._address, 1)[0]

    @port.setter
    def port(self, value):
        self._out = value & 0xFF
        self._i2c.writeto(self._address, bytes((self._out,)))

    def pin(self, pin, value=None):
        if not 0 <= pin <= 7:
            raise ValueError("Invalid pin %d. Use 0-7." % pin)
        if value is None:
            return self.port >> pin & 1
        self.port = self._out | 1 << pin if value else self._out & ~(1 << pin)

    def toggle(self, pin):
        self.pin(pin, not self._out >> pin & 1)
