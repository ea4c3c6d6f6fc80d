# Switch a light off by itself, once.
from machine import Pin, Timer
import time

light = Pin(4, Pin.OUT)
light.on()
Timer(-1).init(mode=Timer.ONE_SHOT, period=50, callback=lambda t: light.off())
for _ in range(200):
    if light.value() == 0:
        break
    time.sleep_ms(5)
print("off" if light.value() == 0 else "still on")
