# SPI: the program drives the chip select itself, as a pin.
import _bus, _pal, json

from ._pin import integer, label


class SPI:
    MASTER = CONTROLLER = 0
    MSB = 0
    LSB = 1

    def __init__(self, id=-1, baudrate=1000000, *, polarity=0, phase=0, bits=8, firstbit=0, sck=None, mosi=None, miso=None, **_):
        self._id = "" if id == -1 else str(id)
        self._settings = {"baudrate": 1000000, "polarity": 0, "phase": 0, "bits": 8, "firstbit": 0}
        self._h = -1
        self._open(baudrate, polarity, phase, bits, firstbit, sck, mosi, miso)

    def init(self, baudrate=None, *, polarity=None, phase=None, bits=None, firstbit=None, sck=None, mosi=None, miso=None, **_):
        self._open(baudrate, polarity, phase, bits, firstbit, sck, mosi, miso)

    def _open(self, baudrate, polarity, phase, bits, firstbit, sck, mosi, miso):
        s = self._settings.copy()
        for name, value in (("baudrate", baudrate), ("polarity", polarity), ("phase", phase), ("bits", bits), ("firstbit", firstbit)):
            if value is not None:
                s[name] = integer(value)
        if s["baudrate"] <= 0:
            raise ValueError("baudrate must be positive")
        if s["bits"] != 8:
            raise ValueError("bits must be 8")
        for name in ("polarity", "phase", "firstbit"):
            if s[name] not in (0, 1):
                raise ValueError("invalid " + name)
        for name, pin in (("sck", sck), ("mosi", mosi), ("miso", miso)):
            if pin is not None:
                s[name] = label(pin)
        if not self._id and "sck" not in s:
            raise ValueError("sck, mosi and miso must be given")
        self._h = _pal.check(_bus.open("spi:" + self._id, json.dumps(s)))
        self._settings = s

    def deinit(self):
        if self._h >= 0:
            _pal.check(_bus.close(self._h))
            self._h = -1

    def read(self, nbytes, write=0):
        nbytes = integer(nbytes)
        if nbytes < 0:
            raise ValueError("negative number of bytes")
        buf = bytearray(nbytes)
        _bus.spi(self._h, ..., buf, integer(write))
        return bytes(buf)

    def readinto(self, buf, write=0):
        _bus.spi(self._h, ..., buf, integer(write))

    def write(self, buf):
        _bus.spi(self._h, buf, ..., 0)

    def write_readinto(self, write_buf, read_buf):
        if len(write_buf) != len(read_buf):
            raise ValueError("buffers must be the same length")
        _bus.spi(self._h, write_buf, read_buf, 0)

    def __repr__(self):
        s = self._settings
        return "%s(%s, baudrate=%d, polarity=%d, phase=%d, bits=8)" % (
            type(self).__name__, self._id or s["sck"], s["baudrate"], s["polarity"], s["phase"])


class SoftSPI(SPI):
    def __init__(self, baudrate=500000, *, polarity=0, phase=0, bits=8, firstbit=0, sck=None, mosi=None, miso=None):
        SPI.__init__(self, -1, baudrate, polarity=polarity, phase=phase, bits=bits, firstbit=firstbit, sck=sck, mosi=mosi, miso=miso)
