# A code lock: the right order of two buttons opens the relay for a moment.
from machine import Pin
import time

a = Pin("BUTTON", Pin.IN, Pin.PULL_UP)
b = Pin("BUTTON_B", Pin.IN, Pin.PULL_UP)
lock = Pin("RELAY_1", Pin.OUT)
SECRET = "ABA"
typed = ""


def on_press(pin):
    global typed
    typed += "A" if pin is a else "B"


a.irq(on_press, Pin.IRQ_FALLING)
b.irq(on_press, Pin.IRQ_FALLING)
print("enter")
start = time.ticks_ms()
while len(typed) < len(SECRET) and time.ticks_diff(time.ticks_ms(), start) < 10000:
    time.sleep_ms(2)
a.irq(None)
b.irq(None)
if typed == SECRET:
    lock.on()
    print("open")
    time.sleep_ms(20)
    lock.off()
else:
    print("wrong", typed)
