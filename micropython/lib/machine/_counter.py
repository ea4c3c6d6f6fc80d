# Pulses and quadrature, counted by the guard: no edge is lost while the program does something else.
import _bus, _pal

from ._pin import Pin, handle, integer, label

_open = {}  # (class, id): counter handle and direction


class _Counting:
    def __init__(self, id, *args, **kw):
        self._key = (type(self).__name__, integer(id))
        if args or kw:
            self.init(*args, **kw)
        elif self._key not in _open:
            raise TypeError("a pin must be given")

    def _start(self, pin, edges, other, phases, sign):
        self.deinit()
        h = _pal.check(_bus.count_open(label(pin), edges, other, phases))
        _open[self._key] = (h, sign)

    def value(self, value=None):
        """The count; with an argument it is set, and what it was is answered."""
        entry = _open.get(self._key)
        if entry is None:
            raise OSError(19, "the counter is off")
        h, sign = entry
        if value is None:
            n = _bus.count(h, 0, "0")
        else:
            n = _bus.count(h, 1, str(sign * integer(value)))
        return sign * int(_pal.check(n))

    def deinit(self):
        entry = _open.pop(self._key, None)
        if entry is not None:
            _pal.check(_bus.count(entry[0], 2, "0"))

    def __repr__(self):
        return "%s(%d)" % self._key


class Counter(_Counting):
    RISING = 1
    FALLING = 2
    UP = 1
    DOWN = -1

    def init(self, src, *, edge=1, direction=1, filter_ns=0):
        if edge not in (1, 2, 3):
            raise ValueError("invalid edge")
        if isinstance(direction, Pin):
            raise OSError(95, "a pin cannot give the direction here: use Encoder, or Counter.UP or Counter.DOWN")
        if direction not in (1, -1):
            raise ValueError("direction must be Counter.UP or Counter.DOWN")
        integer(filter_ns)  # edges come as the board reports them: there is nothing to filter with
        self._start(src, edge, -1, 1, direction)


class Encoder(_Counting):
    def init(self, phase_a, phase_b, *, filter_ns=0, phases=4):
        if phases not in (1, 2, 4):
            raise ValueError("phases must be 1, 2 or 4")
        integer(filter_ns)
        self._start(phase_a, 3, handle(phase_b), phases, 1)
