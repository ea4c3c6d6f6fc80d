# Keep a fan on while the temperature is above a threshold, with hysteresis.
from machine import ADC, Pin
import time

ON_ABOVE = 30.0
OFF_BELOW = 26.0

sensor = ADC(Pin("TEMP_ADC"))
fan = Pin("FAN_PWM", Pin.OUT)


def celsius():
    return sensor.read() * 3.3 / 4095 * 100


running = False
print("cold")
for _ in range(400):
    t = celsius()
    if not running and t > ON_ABOVE:
        running = True
        fan.on()
        print("hot")
    elif running and t < OFF_BELOW:
        fan.off()
        print("cold again")
        break
    time.sleep_ms(10)
