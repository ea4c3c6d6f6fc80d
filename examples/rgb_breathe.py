# One colour light that breathes.
import math
import time
from machine import Pin
from neopixel import NeoPixel

rgb = NeoPixel(Pin(48), 1)
for i in range(20):
    level = int((math.sin(i / 20 * 2 * math.pi) + 1) / 2 * 255)
    rgb[0] = (0, level, 255 - level)
    rgb.write()
    time.sleep_ms(5)
rgb[0] = (10, 20, 30)
rgb.write()
