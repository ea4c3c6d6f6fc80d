# A light that is on when its line is low, by Signal.
from machine import Pin, Signal

lamp = Signal(Pin(5, Pin.OUT), invert=True)
lamp.on()
print(lamp.value(), Pin(5).value())
lamp.off()
print(lamp.value(), Pin(5).value())
