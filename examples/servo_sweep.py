# Sweep a servo from 0 to 180 degrees, then to the middle.
from machine import Pin, PWM
import time

servo = PWM(Pin(15), freq=50)


def angle(deg):
    us = 500 + deg * 2000 // 180
    servo.duty_ns(us * 1000)


for deg in range(0, 181, 30):
    angle(deg)
    time.sleep_ms(20)
angle(90)
