# I2C: the guard runs the bus, whole transactions at a time.
import _bus, _pal, json

from ._pin import integer, label

_NO_STOP = 1
_NO_START = 2


def _size(addrsize):
    if addrsize not in (8, 16, 24, 32):
        raise ValueError("invalid addrsize")
    return addrsize >> 3


def _register(memaddr):
    memaddr = integer(memaddr)
    return memaddr if memaddr < 0x20000000 else float(memaddr & 0xFFFFFFFF)  # whole numbers end at 31 bits on the way


def _room(nbytes):
    nbytes = integer(nbytes)
    if nbytes < 0:
        raise ValueError("negative number of bytes")
    return bytearray(nbytes)


class I2C:
    MASTER = CONTROLLER = 0

    def __init__(self, id=-1, scl=None, sda=None, *, freq=400000, timeout=50000, **_):
        self._id = "" if id == -1 else str(id)
        self._lines = {}
        self._h = -1
        self._started = None  # address and direction of the primitives' transaction
        self._open(scl, sda, freq, timeout)

    def init(self, scl=None, sda=None, *, freq=400000, timeout=50000, **_):
        self._open(scl, sda, freq, timeout)

    def _open(self, scl, sda, freq, timeout):
        freq = integer(freq)
        timeout = integer(timeout)
        if freq <= 0:
            raise ValueError("freq must be positive")
        if timeout < 0:
            raise ValueError("negative timeout")
        if scl is not None:
            self._lines["scl"] = label(scl)
        if sda is not None:
            self._lines["sda"] = label(sda)
        if not self._id and len(self._lines) < 2:
            raise ValueError("scl and sda must be given")
        settings = {"freq": freq, "timeout": timeout}
        settings.update(self._lines)
        self._h = _pal.check(_bus.open("i2c:" + self._id, json.dumps(settings)))
        self._freq = freq

    def deinit(self):
        if self._h >= 0:
            _pal.check(_bus.close(self._h))
            self._h = -1

    def scan(self):
        return _bus.i2c_scan(self._h)

    def readfrom(self, addr, nbytes, stop=True):
        buf = _room(nbytes)
        _bus.i2c(self._h, integer(addr), 0 if stop else _NO_STOP, 0, 0, ..., buf)
        return bytes(buf)

    def readfrom_into(self, addr, buf, stop=True):
        _bus.i2c(self._h, integer(addr), 0 if stop else _NO_STOP, 0, 0, ..., buf)

    def writeto(self, addr, buf, stop=True):
        return _bus.i2c(self._h, integer(addr), 0 if stop else _NO_STOP, 0, 0, buf, ...)

    def writevto(self, addr, vector, stop=True):
        whole = bytearray()
        for buf in vector:
            whole += memoryview(buf)
        return _bus.i2c(self._h, integer(addr), 0 if stop else _NO_STOP, 0, 0, whole, ...)

    def readfrom_mem(self, addr, memaddr, nbytes, *, addrsize=8):
        buf = _room(nbytes)
        _bus.i2c(self._h, integer(addr), 0, _register(memaddr), _size(addrsize), ..., buf)
        return bytes(buf)

    def readfrom_mem_into(self, addr, memaddr, buf, *, addrsize=8):
        _bus.i2c(self._h, integer(addr), 0, _register(memaddr), _size(addrsize), ..., buf)

    def writeto_mem(self, addr, memaddr, buf, *, addrsize=8):
        if _bus.i2c(self._h, integer(addr), 0, _register(memaddr), _size(addrsize), buf, ...) < len(buf):
            raise OSError(5, "the device did not acknowledge every byte")

    def __repr__(self):
        return "%s(%s, freq=%d)" % (type(self).__name__, self._id or ", ".join(["%s=%s" % x for x in sorted(self._lines.items())]), self._freq)


class SoftI2C(I2C):
    """The same on lines that the program names, with the primitives. The guard sends whole transactions, so the first byte
    after start() is known to be acknowledged only when more follows."""

    def __init__(self, scl, sda, *, freq=400000, timeout=50000):
        I2C.__init__(self, -1, scl, sda, freq=freq, timeout=timeout)

    def start(self):
        self._started = ()

    def stop(self):
        at, self._started = self._started, None
        if at:
            _bus.i2c(self._h, at[0], _NO_START if at[1] else 0, 0, 0, ..., ...)

    def write(self, buf):
        buf = memoryview(buf)
        if self._started is None:
            raise OSError(22, "write before start")
        if not len(buf):
            return 0
        n = 0
        if not self._started:
            first = buf[0]
            self._started = (first >> 1, False, first & 1)
            buf = buf[1:]
            n = 1
            if first & 1 or not len(buf):
                return n
        addr, sent, reading = self._started
        if reading:
            raise OSError(22, "write in a read")
        try:
            n += _bus.i2c(self._h, addr, _NO_STOP | (_NO_START if sent else 0), 0, 0, buf, ...)
        except OSError as e:
            if e.errno != 19:
                raise
            self._started = ()  # nobody acknowledged the address: there is nothing to stop
            return 0
        self._started = (addr, True, 0)
        return n

    def readinto(self, buf, nack=True):
        if not self._started or not self._started[2]:
            raise OSError(22, "readinto before a read address")
        addr, sent, _ = self._started
        _bus.i2c(self._h, addr, _NO_STOP | (_NO_START if sent else 0), 0, 0, ..., buf)
        self._started = (addr, True, 1)
