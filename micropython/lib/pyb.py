# The parts of the pyboard's module that have a counterpart in machine and time.
import machine, time
from machine import Pin, ADC, I2C, SPI, UART, Timer, RTC, disable_irq, enable_irq, unique_id, freq, bootloader

delay = time.sleep_ms
udelay = time.sleep_us
millis = time.ticks_ms
micros = time.ticks_us
hard_reset = machine.reset


def elapsed_millis(start):
    return time.ticks_diff(time.ticks_ms(), start)


def elapsed_micros(start):
    return time.ticks_diff(time.ticks_us(), start)


def wfi():
    machine.idle()


def stop():
    machine.lightsleep()


def standby():
    machine.deepsleep()


def rng():
    import random

    return random.getrandbits(30)


class LED:
    """The board's LED. A pyboard has four; the pin named LED stands for the first, LED2 to LED4 for the others."""

    def __init__(self, id):
        self._pin = Pin("LED" if id == 1 else "LED%d" % id, Pin.OUT)

    def on(self):
        self._pin.on()

    def off(self):
        self._pin.off()

    def toggle(self):
        self._pin.toggle()
