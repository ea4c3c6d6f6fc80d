# Motion switches a light on; without motion it goes off again.
from machine import Pin
import time

pir = Pin(47, Pin.IN, Pin.PULL_DOWN)
light = Pin(4, Pin.OUT)
print("armed")
last = None
start = time.ticks_ms()
while time.ticks_diff(time.ticks_ms(), start) < 10000:
    if pir.value():
        if not light.value():
            light.on()
            print("motion")
        last = time.ticks_ms()
    elif last is not None and time.ticks_diff(time.ticks_ms(), last) > 50:
        light.off()
        print("quiet")
        break
    time.sleep_ms(5)
