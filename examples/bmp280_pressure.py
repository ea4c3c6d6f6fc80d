# Pressure and temperature from a BMP280, compensated as its data sheet says.
from machine import I2C
import struct
import time

i2c = I2C(0)
ADDR = 0x76

assert i2c.readfrom_mem(ADDR, 0xD0, 1) == b"\x58"
T1, T2, T3, P1, P2, P3, P4, P5, P6, P7, P8, P9 = struct.unpack("<HhhHhhhhhhhh", i2c.readfrom_mem(ADDR, 0x88, 24))
i2c.writeto_mem(ADDR, 0xF4, b"\x25")  # forced, oversampling 1
while i2c.readfrom_mem(ADDR, 0xF3, 1)[0] & 8:
    time.sleep_ms(1)
time.sleep_ms(10)
d = i2c.readfrom_mem(ADDR, 0xF7, 6)
raw_p = d[0] << 12 | d[1] << 4 | d[2] >> 4
raw_t = d[3] << 12 | d[4] << 4 | d[5] >> 4

v1 = (raw_t / 16384 - T1 / 1024) * T2
v2 = (raw_t / 131072 - T1 / 8192) ** 2 * T3
fine = v1 + v2
temperature = fine / 5120
v1 = fine / 2 - 64000
v2 = v1 * v1 * P6 / 32768 + v1 * P5 * 2
v2 = v2 / 4 + P4 * 65536
v1 = (P3 * v1 * v1 / 524288 + P2 * v1) / 524288
v1 = (1 + v1 / 32768) * P1
p = 1048576 - raw_p
p = (p - v2 / 4096) * 6250 / v1
v1 = P9 * p * p / 2147483648
v2 = p * P8 / 32768
pressure = p + (v1 + v2 + P7) / 16

print("%.1f C %.0f Pa" % (temperature, pressure))
event_push("bmp280", {"t": round(temperature, 1), "hpa": round(pressure / 100)})
