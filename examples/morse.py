# SOS in Morse code.
from machine import Pin
import time

CODE = {"S": "...", "O": "---"}
led = Pin(5, Pin.OUT)
UNIT = 5

for letter in "SOS":
    for symbol in CODE[letter]:
        led.value(1)
        time.sleep_ms(UNIT if symbol == "." else 3 * UNIT)
        led.value(0)
        time.sleep_ms(UNIT)
    time.sleep_ms(2 * UNIT)
