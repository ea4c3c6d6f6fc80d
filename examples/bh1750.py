# Light in lux from a BH1750.
from machine import I2C
import struct
import time

i2c = I2C(0)
ADDR = 0x23

i2c.writeto(ADDR, b"\x01")  # power on
i2c.writeto(ADDR, b"\x20")  # one time, high resolution
time.sleep_ms(180)
raw = struct.unpack(">H", i2c.readfrom(ADDR, 2))[0]
lux = raw / 1.2
print("%.1f lx" % lux)
event_push("light", {"lux": round(lux)})
