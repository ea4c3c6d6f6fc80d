# Set the clock and act when a moment comes.
from machine import RTC, Pin
import time

rtc = RTC()
rtc.datetime((2026, 5, 1, 4, 12, 0, 0, 0))
led = Pin(5, Pin.OUT)

print(rtc.datetime()[:3])
while rtc.datetime()[6] < 1:
    time.sleep_ms(20)
led.on()
y, m, d, _, hh, mm, ss, _ = rtc.datetime()
event_push("alarm", "%04d-%02d-%02d %02d:%02d:%02d" % (y, m, d, hh, mm, ss))
