# A rainbow on the strip of 16, then one pixel by hand.
from machine import Pin
from neopixel import NeoPixel
import time

N = 16
np = NeoPixel(Pin(10), N)


def wheel(pos):
    if pos < 85:
        return 255 - pos * 3, pos * 3, 0
    if pos < 170:
        pos -= 85
        return 0, 255 - pos * 3, pos * 3
    pos -= 170
    return pos * 3, 0, 255 - pos * 3


for step in range(8):
    for i in range(N):
        np[i] = wheel((i * 256 // N + step * 32) & 255)
    np.write()
    time.sleep_ms(10)

np.fill((0, 0, 0))
np[3] = (255, 128, 1)
np.write()
print(np[3], len(np))
