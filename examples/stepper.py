# Turn a stepper by half steps, one way and a little back.
from machine import Pin
import time

coils = [Pin(n, Pin.OUT) for n in (43, 44, 45, 46)]
SEQ = ((1, 0, 0, 0), (1, 1, 0, 0), (0, 1, 0, 0), (0, 1, 1, 0), (0, 0, 1, 0), (0, 0, 1, 1), (0, 0, 0, 1), (1, 0, 0, 1))
phase = 0


def step(n):
    global phase
    for _ in range(abs(n)):
        phase = (phase + (1 if n > 0 else -1)) % 8
        for coil, level in zip(coils, SEQ[phase]):
            coil.value(level)
        time.sleep_us(200)


step(64)
step(-16)
