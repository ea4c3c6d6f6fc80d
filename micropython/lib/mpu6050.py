# The MPU-6050 accelerometer and gyroscope. Registers: register map, sections 4.4, 4.5, 4.17 to 4.19, 4.28 and 4.32.
import struct


class Vector3d:
    def __init__(self, read, factor):
        self._read = read
        self._factor = factor

    @property
    def xyz(self):
        return tuple(v * self._factor() for v in self._read())

    @property
    def x(self):
        return self.xyz[0]

    @property
    def y(self):
        return self.xyz[1]

    @property
    def z(self):
        return self.xyz[2]


class MPU6050:
    """accel in g, gyro in degrees a second, temperature in degrees Celsius."""

    def __init__(self, i2c, addr=0x68, address=None):
        self._i2c = i2c
        self._addr = addr if address is None else address
        self._write(0x6B, 0x00)  # awake
        self.accel = Vector3d(lambda: self._words(0x3B, 3), lambda: (1 << self.accel_range) / 16384)
        self.gyro = Vector3d(lambda: self._words(0x43, 3), lambda: (1 << self.gyro_range) / 131)

    def _write(self, register, value):
        self._i2c.writeto_mem(self._addr, register, bytes((value,)))

    def _words(self, register, n):
        return struct.unpack(">" + n * "h", self._i2c.readfrom_mem(self._addr, register, 2 * n))

    def _range(self, register):
        return self._i2c.readfrom_mem(self._addr, register, 1)[0] >> 3 & 3

    @property
    def accel_range(self):
        """0 to 3 for 2, 4, 8 and 16 g."""
        return self._range(0x1C)

    @accel_range.setter
    def accel_range(self, n):
        self._write(0x1C, (n & 3) << 3)

    @property
    def gyro_range(self):
        """0 to 3 for 250, 500, 1000 and 2000 degrees a second."""
        return self._range(0x1B)

    @gyro_range.setter
    def gyro_range(self, n):
        self._write(0x1B, (n & 3) << 3)

    @property
    def temperature(self):
        return self._words(0x41, 1)[0] / 340 + 36.53

    def read_accel_data(self, g=False):
        """By axis, in metres a second squared or in g."""
        k = 1 if g else 9.80665
        x, y, z = self.accel.xyz
        return {"x": x * k, "y": y * k, "z": z * k}

    def read_gyro_data(self):
        x, y, z = self.gyro.xyz
        return {"x": x, "y": y, "z": z}

    def read_temperature(self):
        return self.temperature

    def get_values(self):
        """As the registers have them; the temperature in degrees Celsius."""
        v = self._words(0x3B, 7)
        return {"AcX": v[0], "AcY": v[1], "AcZ": v[2], "Tmp": v[3] / 340 + 36.53, "GyX": v[4], "GyY": v[5], "GyZ": v[6]}


accel = MPU6050
