# A tool that this program offers to whoever talks to the terminal.
from machine import Pin


@tool
def flash_led(times: int, pin: str = "LED") -> int:
    """Flash a light so often and answer how often it was."""
    led = Pin(pin, Pin.OUT)
    for _ in range(times):
        led.on()
        led.off()
    return times


print(flash_led(1))
