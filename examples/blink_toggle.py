# Two LEDs that take turns.
import machine
import time

a = machine.Pin("LED", machine.Pin.OUT, value=1)
b = machine.Pin("LED_B", machine.Pin.OUT, value=0)

for i in range(6):
    a.toggle()
    b.toggle()
    time.sleep(0.02)

print(a.value(), b.value())
