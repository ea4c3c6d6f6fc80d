# A rotary encoder with detents, read by interrupts. Each change of the two lines is a quarter; four in a row make a step, so that
# contacts that bounce take back what they gave.
from machine import Pin


class Rotary:
    RANGE_UNBOUNDED = 1
    RANGE_WRAP = 2
    RANGE_BOUNDED = 3


_QUARTER = (0, -1, 1, 0, 1, 0, 0, -1, -1, 0, 0, 1, 0, 1, -1, 0)  # by the lines before and after, of two bits each


class RotaryIRQ(Rotary):
    def __init__(self, pin_num_clk, pin_num_dt, min_val=0, max_val=10, incr=1, reverse=False, range_mode=1, pull_up=False,
                 half_step=False, invert=False):
        pull = Pin.PULL_UP if pull_up else None
        self._clk = Pin(pin_num_clk, Pin.IN, pull)
        self._dt = Pin(pin_num_dt, Pin.IN, pull)
        self._invert = 3 if invert else 0
        self._steps = 2 if half_step else 4
        self._quarters = 0
        self._value = min_val
        self._listeners = []
        self.set(None, min_val, incr, max_val, reverse, range_mode)
        self._lines = self._read()
        for p in (self._clk, self._dt):
            p.irq(self._changed, Pin.IRQ_RISING | Pin.IRQ_FALLING)

    def _read(self):
        return (self._clk() << 1 | self._dt()) ^ self._invert

    def _changed(self, pin):
        lines = self._read()
        self._quarters += _QUARTER[self._lines << 2 | lines]
        self._lines = lines
        if abs(self._quarters) < self._steps:
            return
        up = self._quarters > 0
        self._quarters = 0
        value = self._value + (self._incr if up != self._reverse else -self._incr)
        if self._mode == self.RANGE_WRAP:
            value = self._min + (value - self._min) % (self._max - self._min + 1)
        elif self._mode == self.RANGE_BOUNDED:
            value = min(self._max, max(self._min, value))
        if value != self._value:
            self._value = value
            for listener in self._listeners:
                listener()

    def value(self):
        return self._value

    def set(self, value=None, min_val=None, incr=None, max_val=None, reverse=None, range_mode=None):
        if value is not None:
            self._value = value
        if min_val is not None:
            self._min = min_val
        if incr is not None:
            self._incr = incr
        if max_val is not None:
            self._max = max_val
        if reverse is not None:
            self._reverse = bool(reverse)
        if range_mode is not None:
            self._mode = range_mode

    def reset(self):
        self._value = 0

    def add_listener(self, listener):
        self._listeners.append(listener)

    def remove_listener(self, listener):
        if listener not in self._listeners:
            raise ValueError("{} is not an installed listener".format(listener))
        self._listeners.remove(listener)

    def close(self):
        self._clk.irq(None)
        self._dt.irq(None)
