# Write a module to /flash/lib and use it.
import os
import sys

try:
    os.mkdir("/flash/lib")
except OSError:
    pass
with open("/flash/lib/blinker.py", "w") as f:
    f.write("""
from machine import Pin

class Blinker:
    def __init__(self, pin):
        self.pin = Pin(pin, Pin.OUT)
    def blink(self, n):
        for _ in range(n):
            self.pin.on()
            self.pin.off()
        return n
""")
sys.modules.pop("blinker", None)
from blinker import Blinker

print(Blinker(5).blink(3))
