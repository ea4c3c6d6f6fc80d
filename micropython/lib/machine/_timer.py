# Timers of the guard, and the clock. Callbacks run between two bytecodes of the program, also between programs.
import _pal, time

from ._pin import integer


class Timer:
    ONE_SHOT = 0
    PERIODIC = 1

    def __init__(self, id=-1, **kw):
        id = integer(id)
        if not -1 <= id <= 255:
            raise ValueError("invalid Timer number")
        self._id = id
        self._n = id  # the guard's number; that of a virtual timer is free again when it has ended
        self._period = 0
        self._mode = 1
        if kw:
            self.init(**kw)

    def init(self, *, mode=1, freq=-1, period=-1, tick_hz=1000, callback=None, hard=False):
        if mode not in (0, 1):
            raise ValueError("mode must be Timer.ONE_SHOT or Timer.PERIODIC")
        if callback is not None and not callable(callback):
            raise ValueError("callback must be callable or None")
        if freq is not None and freq != -1:
            if not freq > 0:
                raise ValueError("freq must be positive")
            us = int(1000000 / freq)
        else:
            period, tick_hz = integer(period), integer(tick_hz)
            if period <= 0 or tick_hz <= 0:
                raise ValueError("period must be positive")
            us = period * 1000000 // tick_hz
        if us < 1:
            raise ValueError("period must be at least 1 us")
        self.deinit()
        self._period, self._mode = us, mode
        if callback is not None:
            if self._id < 0:
                self._n = _pal.free_timer()
            _pal.arm_timer(self._n, us, mode, callback, self)

    def deinit(self):
        if self._n >= 0 and (self._id >= 0 or _pal.armed_timer(self._n) is self):
            _pal.disarm_timer(self._n)
        self._n = self._id

    def lost(self):
        """Turns before the one being handled that its callback was too slow for. PAL's own."""
        return _pal.edge_lost()

    def __repr__(self):
        return "Timer(%d, mode=%s, period=%d)" % (self._id, "PERIODIC" if self._mode else "ONE_SHOT", self._period // 1000)


def _moment(t, at):
    # Seconds and microseconds of a tuple whose hours stand at index at.
    t = tuple(t)
    if len(t) != 8 and not (at == 3 and 3 <= len(t) <= 8):
        raise TypeError("a date has 8 values")
    t = t + (0,) * (8 - len(t))
    for x in t[:7]:
        integer(x)
    month, day, hour, minute, second, us = t[1], t[2], t[at], t[at + 1], t[at + 2], t[at + 3]
    if not (1970 <= t[0] <= 2199 and 1 <= month <= 12 and 1 <= day <= 31 and 0 <= hour <= 23 and 0 <= minute <= 59
            and 0 <= second <= 59 and 0 <= (us or 0) <= 999999):
        raise ValueError("invalid date")
    return time.mktime((t[0], month, day, hour, minute, second, 0, 0)), us or 0


_memory = [b""]
_alarms = {}  # id: (timer, end in milliseconds since 1970, RTC)


class RTC:
    """The machine's own clock: the terminal's until a program sets it, and again in the next machine. time.time() follows it."""

    ALARM0 = 0

    def __init__(self, id=0, datetime=None):
        if id != 0:
            raise ValueError("RTC(%s) doesn't exist" % id)
        self._handler = None
        if datetime is not None:
            self.init(datetime)

    def datetime(self, datetime=None):
        """(year, month, day, weekday, hour, minute, second, microsecond)"""
        if datetime is not None:
            _pal.set_clock(*_moment(datetime, 4))
            return
        now = time.time_ns()
        t = time.gmtime(now // 1000000000)
        return t[:3] + (t[6],) + t[3:6] + (now // 1000 % 1000000,)

    def init(self, datetime=None):
        """(year, month, day[, hour[, minute[, second[, microsecond[, tzinfo]]]]])"""
        if datetime is not None:
            _pal.set_clock(*_moment(datetime, 3))

    def now(self):
        now = time.time_ns()
        return time.gmtime(now // 1000000000)[:6] + (now // 1000 % 1000000, None)

    def deinit(self):
        self.init((2015, 1, 1))

    def memory(self, data=None):
        """Up to 2048 bytes that stay from program to program."""
        if data is None:
            return _memory[0]
        data = bytes(memoryview(data)) if not isinstance(data, str) else data.encode()
        if len(data) > 2048:
            raise ValueError("buffer too long")
        _memory[0] = data

    def alarm(self, id=0, time=0, *, repeat=False):
        """After time milliseconds, or at the moment time as in init()."""
        self.cancel(id)
        now = _now_ms()
        if isinstance(time, tuple):
            if repeat:
                raise ValueError("only a time in milliseconds repeats")
            s, us = _moment(time, 3)
            ms = max(1, s * 1000 + us // 1000 - now)
        else:
            ms = integer(time)
            if ms <= 0:
                raise ValueError("the alarm is not in the future")
        timer = Timer(-1)
        _alarms[id] = (timer, now + ms, self)
        timer.init(mode=1 if repeat else 0, period=ms, callback=self._ring)

    def _ring(self, timer):
        if timer._mode == 0:
            for id in [k for k, v in _alarms.items() if v[0] is timer]:
                del _alarms[id]
        if self._handler is not None:
            self._handler(self)

    def alarm_left(self, alarm_id=0):
        entry = _alarms.get(alarm_id)
        if entry is None:
            return 0
        left = entry[1] - _now_ms()
        return left % (entry[0]._period // 1000) if entry[0]._mode else max(0, left)

    def cancel(self, alarm_id=0):
        entry = _alarms.pop(alarm_id, None)
        if entry is not None:
            entry[0].deinit()

    alarm_cancel = cancel

    def irq(self, *, trigger=0, handler=None, wake=None):
        if trigger != 0:
            raise ValueError("trigger must be RTC.ALARM0")
        if handler is not None and not callable(handler):
            raise TypeError("handler must be callable")
        self._handler = handler
        return self


def _now_ms():
    return time.time_ns() // 1000000
