# A melody on the buzzer.
from machine import Pin, PWM
import time

NOTES = {"C4": 262, "E4": 330, "G4": 392, "C5": 523}
buzzer = PWM(Pin(11))
for note in ("C4", "E4", "G4", "C5"):
    buzzer.freq(NOTES[note])
    buzzer.duty_u16(32768)
    time.sleep_ms(20)
buzzer.duty_u16(0)
time.sleep_ms(5)
buzzer.freq(880)
buzzer.duty_u16(16384)
