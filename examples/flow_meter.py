# Litres a minute from the pulses of a flow meter, counted by the guard.
from machine import Counter, Pin
import time

counter = Counter(0, Pin(40))
before = counter.value()
time.sleep_ms(1000)
pulses = counter.value() - before
litres = pulses / 7.5
print(pulses, "pulses", litres, "l/min")
event_push("flow", pulses)
counter.deinit()
