# A heartbeat on the LED by a timer, while the program does something else.
from machine import Pin, Timer
import time

led = Pin(5, Pin.OUT)
beats = 0


def beat(t):
    global beats
    beats += 1
    led.toggle()


timer = Timer(0)
timer.init(period=20, mode=Timer.PERIODIC, callback=beat)
time.sleep_ms(500)
timer.deinit()
led.off()
print("beats:", beats)
