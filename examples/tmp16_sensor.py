# A sensor of 1/16 degree steps, with negative temperatures.
from machine import I2C

i2c = I2C(0)
raw = i2c.readfrom_mem(0x48, 0, 2)
value = raw[0] << 8 | raw[1]
if value & 0x8000:
    value -= 0x10000
celsius = (value >> 4) / 16
print(celsius)
event_push("tmp16", celsius)
