# Distance with the well-known module.
from hcsr04 import HCSR04

sensor = HCSR04(trigger_pin=41, echo_pin=42)
cm = sensor.distance_cm()
print("Distance:", cm, "cm")
event_push("cm", round(cm))
