# On and off again, 20,000 times, on one output.
from machine import Pin

p = Pin(5, Pin.OUT)
for _ in range(20000):
    p.on()
    p.off()
print(p.value())
