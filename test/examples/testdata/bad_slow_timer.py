# A timer of a millisecond whose callback takes twenty: the program goes on, turns are missed, nothing piles up.
from machine import Pin, Timer
import time

led = Pin(5, Pin.OUT)
calls = 0


def slow(t):
    global calls
    calls += 1
    led.toggle()
    time.sleep_ms(20)


t = Timer(0, period=1, mode=Timer.PERIODIC, callback=slow)
time.sleep_ms(200)
t.deinit()
led.off()
assert 3 <= calls <= 12, calls
