# Average sixteen samples of the potentiometer and show them three ways.
from machine import ADC, Pin

pot = ADC(Pin(2))

total = 0
for _ in range(16):
    total += pot.read()
average = total // 16
volts = pot.read_uv() / 1_000_000

event_push("pot", {"raw": average, "u16": pot.read_u16(), "volts": round(volts, 2)})
print(average)
