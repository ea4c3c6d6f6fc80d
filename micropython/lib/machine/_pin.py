# Pins, signals and analogue inputs.
import _pal


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


class _Names:
    # Pin.board and Pin.cpu: pins by name.
    def __getattr__(self, name):
        return Pin(name)


Pin.board = Pin.cpu = _Names()


def handle(pin):
    """The guard's handle of a Pin, or of what makes one."""
    return (pin if isinstance(pin, Pin) else Pin(pin))._h


def label(pin):
    """A pin as the program wrote it."""
    return str(pin._id if isinstance(pin, Pin) else pin)


def integer(x):
    """x, or the engine's own TypeError for what is no integer."""
    if type(x) is not int:
        range(x)
    return int(x)


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
