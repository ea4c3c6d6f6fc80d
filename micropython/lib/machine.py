# Hardware as MicroPython programs know it. Every use becomes one call to the guard, which owns the pins.
import _pal, time
from micropython import const

_OUT = const(2)


class _IRQ:
    """What Pin.irq answers: the handler's switch."""

    def __init__(self, pin, handler, edges):
        self._pin = pin
        self._handler = handler
        self._edges = edges
        self._flags = 0

    def __call__(self):
        if self._handler is not None:
            self._handler(self._pin)

    def trigger(self, edges=None):
        old = self._edges
        if edges is not None:
            if edges not in (0, 1, 2, 3):
                raise ValueError("invalid trigger")
            if self._handler is not None:
                _pal.arm(self._pin._h, self._handler, self._pin, self, edges)
            self._edges = edges
        return old

    def flags(self):
        # What the edge being handled did.
        return 1 if _pal.edge_rose() else 2

    def lost(self):
        # Edges before the one being handled that could not be delivered. PAL's own.
        return _pal.edge_lost()


class Pin:
    IN = 1
    OUT = 2
    OPEN_DRAIN = 3
    ANALOG = 4
    PULL_UP = 1
    PULL_DOWN = 2
    IRQ_RISING = 1
    IRQ_FALLING = 2
    DRIVE_0 = 0
    DRIVE_1 = 1
    DRIVE_2 = 2
    DRIVE_3 = 3

    def __init__(self, id, mode=-1, pull=-1, *, value=None, drive=None, alt=None, hold=None):
        if isinstance(id, Pin):
            self._id = id._id
            self._h = id._h
            self._mode = id._mode
            self._pull = id._pull
        else:
            if isinstance(id, str):
                self._id = id
            elif isinstance(id, int):
                self._id = int(id)
            else:
                raise TypeError("pin must be a number, a name or a Pin")
            h = _pal.pin_open(str(self._id))
            self._h = _pal.fail() if h is None else h
            self._mode = -1
            self._pull = None
        self._configure(mode, pull, value)

    def _configure(self, mode, pull, value):
        if mode == -1 or mode is None:
            if pull == -1:
                if value is not None:
                    self.value(value)
                return
            if self._mode < 0:
                raise ValueError("a pull needs a mode")
            mode = self._mode
        elif mode not in (1, 2, 3, 4):
            raise ValueError("invalid pin mode")
        if pull == -1:
            pull = None
        if pull not in (None, 0, 1, 2):
            raise ValueError("invalid pin pull")
        level = -1 if value is None else 1 if value else 0
        if _pal.pin_mode(self._h, mode, pull or 0, level) is None:
            _pal.fail()
        self._mode = mode
        self._pull = pull

    def init(self, mode=-1, pull=-1, *, value=None, drive=None, alt=None, hold=None):
        self._configure(mode, pull, value)

    # None is a level, low, as everything is that is not true; no argument at all means reading.
    def value(self, x=..., *, _read=_pal.pin_read, _write=_pal.pin_write, _fail=_pal.fail):
        if x is ...:
            r = _read(self._h)
            return _fail() if r is None else r
        if _write(self._h, 1 if x else 0) is None:
            _fail()

    def __call__(self, x=..., *, _read=_pal.pin_read, _write=_pal.pin_write, _fail=_pal.fail):
        if x is ...:
            r = _read(self._h)
            return _fail() if r is None else r
        if _write(self._h, 1 if x else 0) is None:
            _fail()

    def on(self, *, _write=_pal.pin_write, _fail=_pal.fail):
        if _write(self._h, 1) is None:
            _fail()

    def off(self, *, _write=_pal.pin_write, _fail=_pal.fail):
        if _write(self._h, 0) is None:
            _fail()

    high = on
    low = off

    def toggle(self):
        if _pal.pin_toggle(self._h) is None:
            _pal.fail()

    def mode(self, mode=None):
        if mode is None:
            return self._mode
        self._configure(mode, -1 if self._pull is None else self._pull, None)

    def pull(self, *pull):
        if not pull:
            return self._pull
        self._configure(self._mode, pull[0], None)
        self._pull = pull[0]

    def drive(self, *drive):
        if drive:
            raise OSError(95, "drive strength is fixed")
        return None

    def irq(self, handler=..., trigger=3, *, priority=1, wake=None, hard=False):
        if handler is ...:  # asks, changes nothing
            return _pal.armed(self._h) or _IRQ(self, None, 0)
        if handler is not None and not callable(handler):
            raise TypeError("handler must be callable")
        if trigger not in (0, 1, 2, 3):
            raise ValueError("invalid trigger")
        edges = 0 if handler is None else trigger
        irq = _IRQ(self, handler, edges)
        _pal.arm(self._h, handler, self, irq, edges)
        return irq

    def __repr__(self):
        if isinstance(self._id, int):
            return "Pin(%d)" % self._id
        return "Pin(%r)" % self._id


class Signal:
    """A pin whose meaning may be inverted."""

    def __init__(self, pin, *args, invert=False, **kw):
        if not isinstance(pin, Pin):
            if invert and kw.get("value") is not None:  # it is the signal's, not the pin's
                kw["value"] = not kw["value"]
            pin = Pin(pin, *args, **kw)
        elif args or kw:
            raise TypeError("a Pin is set up already: only invert may follow")
        self._pin = pin
        self._invert = bool(invert)

    def value(self, x=...):
        if x is ...:
            return self._pin.value() ^ self._invert
        self._pin.value(bool(x) ^ self._invert)

    __call__ = value

    def on(self):
        self.value(1)

    def off(self):
        self.value(0)


class ADC:
    ATTN_0DB = 0
    ATTN_2_5DB = 1
    ATTN_6DB = 2
    ATTN_11DB = 3
    WIDTH_9BIT = 9
    WIDTH_10BIT = 10
    WIDTH_11BIT = 11
    WIDTH_12BIT = 12

    def __init__(self, id, *, atten=None, sample_ns=None):
        if isinstance(id, Pin):
            id = id._id
        elif not isinstance(id, (int, str)):
            raise TypeError("input must be a number, a name or a Pin")
        self._id = id
        self._width = 12
        h = _pal.adc_open(str(id))
        self._h = _pal.fail() if h is None else h
        if atten is not None:
            self.atten(atten)

    def init(self, *, atten=None, sample_ns=None):
        if atten is not None:
            self.atten(atten)

    def read(self):
        r = _pal.adc_read(self._h)
        return (_pal.fail() if r is None else r) >> (12 - self._width)

    def read_u16(self):
        r = _pal.adc_read(self._h)
        if r is None:
            _pal.fail()
        return r << 4 | r >> 8

    def read_uv(self):
        r = _pal.adc_uv(self._h)
        return int(_pal.fail() if r is None else r)

    def atten(self, atten):
        # The input's range is the board's; a program's choice is accepted so that programs for boards run.
        if atten not in (0, 1, 2, 3):
            raise ValueError("invalid attenuation")

    def width(self, width):
        if width not in (9, 10, 11, 12):
            raise ValueError("invalid width")
        self._width = width

    def deinit(self):
        pass

    def __repr__(self):
        return "ADC(%r)" % (self._id,)


def _later(name):
    class Later:
        def __init__(self, *args, **kw):
            _pal.later(name)

    return Later


I2C = _later("I2C")
SoftI2C = _later("SoftI2C")
SPI = _later("SPI")
SoftSPI = _later("SoftSPI")
UART = _later("UART")
PWM = _later("PWM")
Timer = _later("Timer")
RTC = _later("RTC")
Counter = _later("Counter")
Encoder = _later("Encoder")
I2C.MASTER = SPI.MASTER = 0
SPI.MSB = 0
SPI.LSB = 1
Timer.ONE_SHOT = 0
Timer.PERIODIC = 1


def time_pulse_us(pin, pulse_level, timeout_us=1000000):
    _pal.later("time_pulse_us")


def bitstream(pin, encoding, timing, data):
    _pal.later("bitstream")


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
