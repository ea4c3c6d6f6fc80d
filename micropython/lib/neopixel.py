# Chains of WS2812 and SK6812 lights. The guard makes the signal: machine.bitstream.
from machine import bitstream


class NeoPixel:
    ORDER = (1, 0, 2, 3)  # where red, green, blue and white stand on the wire

    def __init__(self, pin, n, bpp=3, timing=1):
        """n lights of bpp bytes each, 3 or 4; timing is 1 for 800 kHz, 0 for 400 kHz, or four times in ns."""
        self.pin = pin
        self.n = n
        self.bpp = bpp
        self.buf = bytearray(n * bpp)
        self.pin.init(pin.OUT)
        if isinstance(timing, int):
            timing = (400, 850, 800, 450) if timing else (800, 1700, 1600, 900)
        self.timing = timing

    def __len__(self):
        return self.n

    def _at(self, i):
        if i < 0:
            i += self.n
        if not 0 <= i < self.n:
            raise IndexError("no light " + str(i))
        return i * self.bpp

    def __setitem__(self, i, color):
        at = self._at(i)
        for k in range(self.bpp):
            self.buf[at + self.ORDER[k]] = color[k]

    def __getitem__(self, i):
        at = self._at(i)
        return tuple(self.buf[at + self.ORDER[k]] for k in range(self.bpp))

    def fill(self, color):
        one = bytearray(self.bpp)
        for k in range(self.bpp):
            one[self.ORDER[k]] = color[k]
        self.buf[:] = bytes(one) * self.n

    def write(self):
        bitstream(self.pin, 0, self.timing, self.buf)
