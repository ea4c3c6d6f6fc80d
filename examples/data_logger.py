# Log temperatures to /flash as CSV, then read them back.
from machine import ADC, Pin
import os
import time

adc = ADC(Pin(1))
try:
    os.remove("/flash/log.csv")
except OSError:
    pass

with open("/flash/log.csv", "w") as f:
    f.write("n,celsius\n")
for n in range(5):
    with open("/flash/log.csv", "a") as f:
        f.write("%d,%.1f\n" % (n, adc.read() * 3.3 / 4095 * 100))
    time.sleep_ms(2)

with open("/flash/log.csv") as f:
    lines = f.readlines()
print(len(lines), lines[1].strip(), os.stat("/flash/log.csv")[6])
