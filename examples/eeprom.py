# Store a text in a 24C32 EEPROM, across a page, and read it back.
from machine import I2C
import time

i2c = I2C(0)
ADDR = 0x50
PAGE = 32


def write(at, data):
    while data:
        n = min(len(data), PAGE - at % PAGE)
        i2c.writeto_mem(ADDR, at, data[:n], addrsize=16)
        for _ in range(20):  # it does not answer while it writes
            try:
                i2c.writeto(ADDR, b"")
                break
            except OSError:
                time.sleep_ms(1)
        at, data = at + n, data[n:]


text = b"The quick brown fox jumps over the lazy dog"
write(20, text)
back = i2c.readfrom_mem(ADDR, 20, len(text), addrsize=16)
print(back)
event_push("eeprom", back.decode())
