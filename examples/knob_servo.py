# A knob turns a servo.
from machine import ADC, PWM, Pin
import time

pot = ADC(Pin(2))
servo = PWM(Pin(15), freq=50)


def map_range(x, in_min, in_max, out_min, out_max):
    return (x - in_min) * (out_max - out_min) // (in_max - in_min) + out_min


for _ in range(10):
    duty = map_range(pot.read_u16(), 0, 65535, 1638, 8192)
    servo.duty_u16(duty)
    time.sleep_ms(5)
