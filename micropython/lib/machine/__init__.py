# Hardware as MicroPython programs know it. Every use becomes one call to the guard, which owns the pins.
import _bus, _pal, time

from ._pin import ADC, Pin, Signal, handle as _handle, integer as _integer
from ._pwm import PWM
from ._i2c import I2C, SoftI2C
from ._spi import SPI, SoftSPI
from ._timer import RTC, Timer
from ._uart import UART
from ._counter import Counter, Encoder


def time_pulse_us(pin, pulse_level, timeout_us=1000000):
    """Width of the pulse in microseconds; -2 when it did not begin in time, -1 when it did not end."""
    if not isinstance(pin, Pin):
        raise TypeError("pin must be a Pin")
    timeout_us = _integer(timeout_us)
    if timeout_us < 0:
        raise ValueError("negative timeout")
    return _pal.check(_bus.pulse(pin._h, 1 if pulse_level else 0, timeout_us))


def bitstream(pin, encoding, timing, data):
    if encoding != 0:
        raise ValueError("encoding must be 0")
    if len(timing) != 4:
        raise ValueError("timing must have 4 values")
    for t in timing:
        if not 0 <= _integer(t) <= 1000000:
            raise ValueError("timing must be 0 to 1000000 ns")
    _bus.bitstream(_handle(pin), timing, data)


def dht_readinto(pin, buf):
    """Fill buf with the 5 bytes of a DHT sensor."""
    if len(buf) < 5:
        raise ValueError("buffer too small")
    _bus.dht(_handle(pin), buf)


def _absent(name):
    class Absent:
        def __init__(self, *args, **kw):
            raise OSError(19, "machine." + name + ": the terminal has no such hardware")

    return Absent


I2CTarget = _absent("I2CTarget")
I2S = _absent("I2S")
CAN = _absent("CAN")
SDCard = _absent("SDCard")
SPITarget = _absent("SPITarget")


class WDT:
    def __init__(self, id=0, timeout=5000):
        _pal.denied("machine.WDT")


class _Memory:
    def __init__(self, name):
        self._name = name

    def __getitem__(self, address):
        _pal.denied("machine." + self._name)

    def __setitem__(self, address, value):
        _pal.denied("machine." + self._name)


mem8 = _Memory("mem8")
mem16 = _Memory("mem16")
mem32 = _Memory("mem32")

PWRON_RESET = 1
HARD_RESET = 2
WDT_RESET = 3
DEEPSLEEP_RESET = 4
SOFT_RESET = 5
WLAN_WAKE = 2
PIN_WAKE = 2
RTC_WAKE = 4


def reset():
    """End the program; the host itself is never reset by one."""
    raise SystemExit


def soft_reset():
    raise SystemExit


def reset_cause():
    return SOFT_RESET


def wake_reason():
    return 0


def unique_id():
    import hashlib

    return hashlib.sha256(_pal.board_name.encode()).digest()[:8]


def freq(hz=None):
    if hz is not None:
        _pal.denied("machine.freq")
    return 240000000


def idle():
    time.sleep_ms(1)


def lightsleep(ms=None):
    if ms is None:
        while True:
            time.sleep_ms(1000)
    time.sleep_ms(ms)


def deepsleep(ms=None):
    _pal.denied("machine.deepsleep")


def bootloader(timeout=0):
    _pal.denied("machine.bootloader")


def disable_irq():
    """Hold interrupt handlers back; answers the state to hand to enable_irq."""
    return not _pal.irq_mask(1)


def enable_irq(state=True):
    _pal.irq_mask(0 if state else 1)
