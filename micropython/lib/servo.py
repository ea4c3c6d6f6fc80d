# A hobby servo: 50 pulses a second, whose width is the angle.
import math
from machine import Pin, PWM


class Servo:
    def __init__(self, pin, freq=50, min_us=600, max_us=2400, angle=180):
        self.min_us = min_us
        self.max_us = max_us
        self.us = 0
        self.freq = freq
        self.angle = angle
        self.pwm = PWM(pin if isinstance(pin, Pin) else Pin(pin), freq=freq, duty_u16=0)

    def write_us(self, us):
        """A pulse of us microseconds; 0 lets the servo go."""
        self.us = us = min(self.max_us, max(self.min_us, us)) if us else 0
        self.pwm.duty_ns(round(us * 1000))

    def write_angle(self, degrees=None, radians=None):
        if degrees is None:
            degrees = math.degrees(radians)
        degrees %= 360
        self.write_us(self.min_us + (self.max_us - self.min_us) * degrees / self.angle)

    def write(self, degrees):
        self.write_angle(min(self.angle, max(0, degrees)))

    move = write

    def deinit(self):
        self.pwm.deinit()
