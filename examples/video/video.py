# Play the film in the flash chip on the display. FPS = 0 plays as fast as it goes.
#
# Set FPS, FIRST and COUNT before the program runs to change what is played: `pal exec 'FPS = 0'`, then `pal run video.py`.
from machine import I2C, Pin, SPI
import time

FPS = globals().get("FPS", 25)
FIRST = globals().get("FIRST", 0)
COUNT = globals().get("COUNT", 5478)

spi = SPI(1, baudrate=40_000_000)
cs = Pin(38, Pin.OUT, value=1)
i2c = I2C(0, scl=Pin(7), sda=Pin(6), freq=1_000_000)
OLED = 0x3C

# Horizontal addressing over the whole display: each frame ends where the next begins.
for c in (0xAE, 0x20, 0x00, 0x21, 0, 127, 0x22, 0, 7, 0x40, 0xA1, 0xC8, 0xA4, 0xA6, 0x8D, 0x14, 0xAF):
    i2c.writeto(OLED, bytes([0x80, c]))

packet = bytearray(1025)
packet[0] = 0x40
pixels = memoryview(packet)[1:]


def play(first, count, fps):
    late = 0
    cs(0)
    at = first * 1024
    spi.write(bytes([0x03, at >> 16, at >> 8 & 0xFF, at & 0xFF]))  # one read goes on over all frames
    period = 1_000_000 // fps if fps else 0
    start = due = time.ticks_us()
    for _ in range(count):
        spi.readinto(pixels)
        i2c.writeto(OLED, packet)
        if period:
            due = time.ticks_add(due, period)
            left = time.ticks_diff(due, time.ticks_us())
            if left > 0:
                time.sleep_us(left)
            elif left < -period:
                late += 1
    cs(1)
    return time.ticks_diff(time.ticks_us(), start) / 1_000_000, late


began = time.time_ns()
seconds, late = play(FIRST, COUNT, FPS)
seconds = (time.time_ns() - began) / 1e9  # ticks wrap after nine minutes
print("%d frames in %.3f s: %.1f frames/s, %d late" % (COUNT, seconds, COUNT / seconds, late))
event_push("video", {"frames": COUNT, "fps": round(COUNT / seconds, 2), "late": late})
