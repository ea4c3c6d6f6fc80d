# Distance with an HC-SR04, by hand.
from machine import Pin, time_pulse_us
import time

trig = Pin(41, Pin.OUT, value=0)
echo = Pin(42, Pin.IN)


def distance_cm():
    trig.off()
    time.sleep_us(5)
    trig.on()
    time.sleep_us(10)
    trig.off()
    us = time_pulse_us(echo, 1, 30000)
    if us < 0:
        return None
    return us / 2 / 29.1


d = distance_cm()
print("distance:", d)
event_push("distance", round(d))
