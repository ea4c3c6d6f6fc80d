# Fade an LED up and down with PWM.
from machine import Pin, PWM
import time

pwm = PWM(Pin(5), freq=1000, duty_u16=0)

for duty in range(0, 65536, 4096):
    pwm.duty_u16(duty)
    time.sleep_ms(5)
for duty in range(65535, -1, -4096):
    pwm.duty_u16(duty)
    time.sleep_ms(5)

pwm.duty_u16(32768)
print(pwm.freq(), pwm.duty_u16())
