# Identify, erase, program and read a W25Q64 flash chip.
from machine import Pin, SPI
import time

spi = SPI(1, baudrate=20_000_000, polarity=0, phase=0)
cs = Pin(38, Pin.OUT, value=1)


def command(data, read=0):
    cs(0)
    try:
        spi.write(data)
        return spi.read(read) if read else b""
    finally:
        cs(1)


def address(cmd, a):
    return bytes([cmd, a >> 16 & 0xFF, a >> 8 & 0xFF, a & 0xFF])


def wait():
    while command(b"\x05", 1)[0] & 1:
        time.sleep_ms(1)


print("id:", command(b"\x9f", 3))
command(b"\x06")
command(address(0x20, 0x1000))
wait()
blank = command(address(0x03, 0x1000), 16)
command(b"\x06")
command(address(0x02, 0x1000) + b"PAL was here")
wait()
back = command(address(0x03, 0x1000), 16)
print(blank, back)
assert blank == b"\xff" * 16
event_push("flash", back[:12].decode())
