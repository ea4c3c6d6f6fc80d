# The INA219 current monitor. Registers and formulas: data sheet, sections 8.5 and 8.6.
import struct


class INA219:
    def __init__(self, shunt_ohms, i2c, max_expected_amps=None, address=0x40):
        self.shunt_ohms = shunt_ohms
        self.i2c = i2c
        self.address = address
        self.max_expected_amps = max_expected_amps
        self.configure()

    def _write(self, register, value):
        self.i2c.writeto_mem(self.address, register, struct.pack(">H", value))

    def _read(self, register, form=">h"):
        return struct.unpack(form, self.i2c.readfrom_mem(self.address, register, 2))[0]

    def configure(self):
        """32 V, 320 mV at the shunt, 12 bits, again and again."""
        self._lsb = (self.max_expected_amps or 0.32 / self.shunt_ohms) / 32768
        self._write(0x05, int(0.04096 / (self._lsb * self.shunt_ohms)) & 0xFFFE)
        self._write(0x00, 0x399F)

    def voltage(self):
        """Volts of the bus."""
        return (self._read(0x02, ">H") >> 3) * 0.004

    def shunt_voltage(self):
        """Millivolts."""
        return self._read(0x01) * 0.01

    def supply_voltage(self):
        return self.voltage() + self.shunt_voltage() / 1000

    def current(self):
        """Milliamperes."""
        return self._read(0x04) * self._lsb * 1000

    def power(self):
        """Milliwatts."""
        return self._read(0x03, ">H") * self._lsb * 20000
