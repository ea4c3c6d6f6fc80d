# Eight outputs on a PCF8574.
from machine import I2C

i2c = I2C(0)
ADDR = 0x20
for bit in range(8):
    i2c.writeto(ADDR, bytes([0xFF & ~(1 << bit)]))
i2c.writeto(ADDR, b"\xa5")
print(hex(i2c.readfrom(ADDR, 1)[0]))
