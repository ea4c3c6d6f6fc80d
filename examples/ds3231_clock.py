# Set and read a DS3231 on I2C 1.
from machine import I2C

i2c = I2C(1)
ADDR = 0x68


def bcd(n):
    return n // 10 << 4 | n % 10


def dec(b):
    return (b >> 4) * 10 + (b & 15)


i2c.writeto_mem(ADDR, 0, bytes([bcd(30), bcd(59), bcd(23), 4, bcd(31), bcd(12), bcd(26)]))
s, m, h, wd, d, mo, y = i2c.readfrom_mem(ADDR, 0, 7)
print("20%02d-%02d-%02d %02d:%02d" % (dec(y), dec(mo & 0x1F), dec(d), dec(h & 0x3F), dec(m)))
event_push("clock", [dec(y), dec(mo & 0x1F), dec(d), dec(h & 0x3F), dec(m)])
