from machine import Pin
import time

led = Pin(5, Pin.OUT)
calls = 0


def broken(pin):
    global calls
    calls += 1
    raise RuntimeError("in the handler")


Pin("BUTTON", Pin.IN, Pin.PULL_UP).irq(broken, Pin.IRQ_FALLING)
print("ready")
for _ in range(2000):
    if calls:
        break
    time.sleep_ms(2)
led.value(calls == 1)
Pin("BUTTON").irq(None)
print("done")
