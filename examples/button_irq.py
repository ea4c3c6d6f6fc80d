# Count presses of the button in an interrupt handler.
from machine import Pin
import time

presses = 0
led = Pin("LED", Pin.OUT)


def on_press(pin):
    global presses
    presses += 1
    led.value(presses & 1)


button = Pin("BUTTON", Pin.IN, Pin.PULL_UP)
button.irq(handler=on_press, trigger=Pin.IRQ_FALLING)

print("ready")
start = time.ticks_ms()
while presses < 3 and time.ticks_diff(time.ticks_ms(), start) < 10000:
    time.sleep_ms(5)
button.irq(handler=None)
print("presses:", presses)
