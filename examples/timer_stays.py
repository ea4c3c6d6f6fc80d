# A timer that goes on after the program has ended.
from machine import Pin, Timer

led = Pin(4, Pin.OUT)
Timer(1, period=10, mode=Timer.PERIODIC, callback=lambda t: led.toggle())
print("armed")
