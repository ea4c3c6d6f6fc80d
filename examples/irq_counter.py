# Count both edges of two inputs, in order.
from machine import Pin
import time

log = []


def on_edge(pin):
    log.append((str(pin), pin.value()))


a = Pin("BUTTON", Pin.IN, Pin.PULL_UP)
b = Pin("BUTTON_B", Pin.IN, Pin.PULL_UP)
a.irq(on_edge, Pin.IRQ_FALLING | Pin.IRQ_RISING)
b.irq(on_edge, Pin.IRQ_FALLING | Pin.IRQ_RISING)
print("go")
start = time.ticks_ms()
while len(log) < 4 and time.ticks_diff(time.ticks_ms(), start) < 10000:
    time.sleep_ms(2)
a.irq(None)
b.irq(None)
event_push("edges", [name for name, _ in log])
