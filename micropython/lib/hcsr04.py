# The HC-SR04 ultrasonic range finder: 10 µs on the trigger, then an echo as long as the sound's way there and back.
import machine, time
from machine import Pin


class HCSR04:
    def __init__(self, trigger_pin, echo_pin, echo_timeout_us=30000):
        self.echo_timeout_us = echo_timeout_us
        self.trigger = Pin(trigger_pin, Pin.OUT, value=0)
        self.echo = Pin(echo_pin, Pin.IN)

    def _send_pulse_and_wait(self):
        self.trigger.value(0)
        time.sleep_us(5)
        self.trigger.value(1)
        time.sleep_us(10)
        self.trigger.value(0)
        width = machine.time_pulse_us(self.echo, 1, self.echo_timeout_us)
        if width < 0:
            raise OSError("Out of range")
        return width

    def distance_mm(self):
        return self._send_pulse_and_wait() * 100 // 582

    def distance_cm(self):
        return self._send_pulse_and_wait() / 2 / 29.1
