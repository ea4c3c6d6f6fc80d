# Smooth a noisy input and switch on what is left.
from machine import ADC, Pin

adc = ADC(Pin(3))
led = Pin(5, Pin.OUT)


class Ema:
    def __init__(self, alpha):
        self.alpha = alpha
        self.value = None

    def add(self, x):
        self.value = x if self.value is None else self.value + self.alpha * (x - self.value)
        return self.value


ema = Ema(0.05)
window = []
for _ in range(300):
    window.append(adc.read())
    if len(window) > 9:
        window.pop(0)
    median = sorted(window)[len(window) // 2]
    ema.add(median)

led.value(ema.value > 1500)
print(round(ema.value))
event_push("filtered", round(ema.value))
