# Wait for a debounced press of the button, then light the LED.
from machine import Pin
import time

button = Pin(21, Pin.IN, Pin.PULL_UP)
led = Pin(5, Pin.OUT, value=0)


def wait_press(pin, stable_ms=20, timeout_ms=10000):
    start = time.ticks_ms()
    since = None
    while time.ticks_diff(time.ticks_ms(), start) < timeout_ms:
        if pin.value() == 0:
            if since is None:
                since = time.ticks_ms()
            elif time.ticks_diff(time.ticks_ms(), since) >= stable_ms:
                return True
        else:
            since = None
        time.sleep_ms(1)
    return False


print("waiting")
if wait_press(button):
    led.on()
    print("pressed")
else:
    print("timeout")
