# A traffic light as a state machine on three outputs.
from machine import Pin
import time

RED, YELLOW, GREEN = Pin(43, Pin.OUT), Pin(44, Pin.OUT), Pin(45, Pin.OUT)

STATES = {
    "stop": ((1, 0, 0), 20, "ready"),
    "ready": ((1, 1, 0), 10, "go"),
    "go": ((0, 0, 1), 20, "slow"),
    "slow": ((0, 1, 0), 10, "stop"),
}

state = "stop"
seen = []
for _ in range(6):
    lamps, ms, following = STATES[state]
    for lamp, level in zip((RED, YELLOW, GREEN), lamps):
        lamp.value(level)
    seen.append(state)
    time.sleep_ms(ms)
    state = following
print(seen)
