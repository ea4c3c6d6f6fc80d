# Two relays that must never be on together: the guard says so, whatever the program does.
from machine import Pin

r1 = Pin("RELAY_1", Pin.OUT)
r2 = Pin("RELAY_2", Pin.OUT)

r1.on()
try:
    r2.on()
    print("both on?!")
except OSError as e:
    print("refused:", e)
r1.off()
r2.on()
