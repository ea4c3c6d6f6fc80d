# Air quality from an SGP30, with its checksums.
from machine import I2C
import time

i2c = I2C(0)
ADDR = 0x58


def crc(data):
    c = 0xFF
    for b in data:
        c ^= b
        for _ in range(8):
            c = (c << 1) ^ 0x31 if c & 0x80 else c << 1
            c &= 0xFF
    return c


def words(command, wait_ms, n):
    i2c.writeto(ADDR, bytes([command >> 8, command & 0xFF]))
    time.sleep_ms(wait_ms)
    data = i2c.readfrom(ADDR, 3 * n)
    out = []
    for k in range(0, 3 * n, 3):
        if crc(data[k:k + 2]) != data[k + 2]:
            raise OSError("SGP30 checksum")
        out.append(data[k] << 8 | data[k + 1])
    return out


i2c.writeto(ADDR, b"\x20\x03")
time.sleep_ms(10)
co2, tvoc = words(0x2008, 12, 2)
print("CO2eq", co2, "ppm, TVOC", tvoc, "ppb")
event_push("air", {"co2": co2, "tvoc": tvoc})
