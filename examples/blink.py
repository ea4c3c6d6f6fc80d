# Blink the status LED five times.
from machine import Pin
import time

led = Pin(5, Pin.OUT)

for _ in range(5):
    led.on()
    time.sleep_ms(50)
    led.off()
    time.sleep_ms(50)

print("done")
