# A dusk switch with hysteresis on the light sensor.
from machine import ADC, Pin
import time

light = ADC(Pin("LIGHT_ADC"))
lamp = Pin("LED_B", Pin.OUT)
DARK, BRIGHT = 600, 900

print("watching")
changes = 0
for _ in range(1000):
    raw = light.read()
    if raw < DARK and not lamp.value():
        lamp.on()
        changes += 1
        print("dusk")
    elif raw > BRIGHT and lamp.value():
        lamp.off()
        changes += 1
        print("dawn")
    if changes == 2:
        break
    time.sleep_ms(5)
print("changes", changes)
