# A four-bit counter on four outputs.
from machine import Pin

bits = [Pin(n, Pin.OUT, value=0) for n in range(43, 47)]
for n in range(12):
    for i, pin in enumerate(bits):
        pin.value(n >> i & 1)
print("".join(str(p.value()) for p in reversed(bits)))
