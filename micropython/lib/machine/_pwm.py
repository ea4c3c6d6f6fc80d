# Outputs that switch on and off by themselves.
import _bus, _pal

from ._pin import Pin, integer

_check = _pal.check


class PWM:
    """freq in Hz. Without one it is 5000, and without a duty 0: the output stays low until it is given one."""

    def __init__(self, dest, freq=-1, *, duty=None, duty_u16=None, duty_ns=None, invert=False):
        self._pin = dest if isinstance(dest, Pin) else Pin(dest)
        self._freq = 5000
        self._u16 = 0  # of 65535
        self._ns = -1  # time that the output is high, when that was given
        self._invert = bool(invert)
        self._init(freq, duty, duty_u16, duty_ns)

    def init(self, freq=-1, *, duty=None, duty_u16=None, duty_ns=None, invert=None):
        if invert is not None:
            self._invert = bool(invert)
        self._init(freq, duty, duty_u16, duty_ns)

    def _init(self, freq, duty, duty_u16, duty_ns):
        # Everything is checked before anything changes.
        given = [d for d in (duty, duty_u16, duty_ns) if d is not None]
        if len(given) > 1:
            raise ValueError("only one of duty, duty_u16 and duty_ns")
        freq = self._freq if freq == -1 or freq is None else self._hz(freq)
        u16, ns = self._u16, self._ns
        if duty is not None:
            u16, ns = self._from_duty(duty), -1
        elif duty_u16 is not None:
            u16, ns = self._from_u16(duty_u16), -1
        elif duty_ns is not None:
            ns = integer(duty_ns)
        self._set(freq, u16, ns)

    def _hz(self, freq):
        freq = integer(freq)
        if not 1 <= freq <= 40000000:
            raise ValueError("frequency must be from 1Hz to 40MHz")
        return freq

    def _from_duty(self, duty):
        duty = integer(duty)
        if not 0 <= duty <= 1023:
            raise ValueError("duty must be between 0 and 1023")
        return (duty * 65535 + 511) // 1023

    def _from_u16(self, duty):
        duty = integer(duty)
        if not 0 <= duty <= 65535:
            raise ValueError("duty_u16 must be from 0 to 65535")
        return duty

    def _set(self, freq, u16, ns):
        if ns >= 0:
            if ns * freq > 1000000000:
                raise ValueError("duty_ns is longer than a period of %d ns" % (1000000000 // freq))
            u16 = ns * freq * 65535 // 1000000000
        elif ns != -1:
            raise ValueError("duty_ns must not be negative")
        if self._invert:
            _check(_bus.pwm(self._pin._h, freq, 65535 - u16, -1))
        else:
            _check(_bus.pwm(self._pin._h, freq, u16, ns))
        self._freq, self._u16, self._ns = freq, u16, ns

    def freq(self, freq=None):
        if freq is None:
            return self._freq
        self._set(self._hz(freq), self._u16, self._ns)

    def duty(self, duty=None):
        if duty is None:
            return (self._u16 * 1023 + 32767) // 65535
        self._set(self._freq, self._from_duty(duty), -1)

    def duty_u16(self, duty=None):
        if duty is None:
            return self._u16
        self._set(self._freq, self._from_u16(duty), -1)

    def duty_ns(self, ns=None):
        if ns is None:
            return self._ns if self._ns >= 0 else self._u16 * 1000000000 // (65535 * self._freq)
        ns = integer(ns)
        if ns < 0:
            raise ValueError("duty_ns must not be negative")
        self._set(self._freq, self._u16, ns)

    def deinit(self):
        """End it: the output goes to its safe level."""
        _check(_bus.pwm(self._pin._h, 0, 0, -1))

    def __repr__(self):
        return "PWM(%r, freq=%d, duty_u16=%d)" % (self._pin, self._freq, self._u16)
