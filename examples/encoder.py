# A rotary encoder through machine.Encoder.
from machine import Encoder, Pin
import time

enc = Encoder(0, Pin(49), Pin(50))
print("turn")
start = time.ticks_ms()
while abs(enc.value()) < 4 and time.ticks_diff(time.ticks_ms(), start) < 10000:
    time.sleep_ms(5)
event_push("encoder", enc.value())
enc.deinit()
