# The 1-Wire bus. The guard does the slots of each bit.
import _pal

_RESET = 0
_WRITE = 1
_READ = 2
_BIT = 3


class OneWireError(Exception):
    pass


class OneWire:
    SEARCH_ROM = 0xF0
    MATCH_ROM = 0x55
    SKIP_ROM = 0xCC

    def __init__(self, pin):
        self.pin = pin
        self.pin.init(pin.OPEN_DRAIN, pin.PULL_UP)

    def _do(self, op, b=0, data=b""):
        return _pal.onewire(self.pin._h, op, b, data)

    def reset(self, required=False):
        """Whether a device answered."""
        found = bool(self._do(_RESET))
        if required and not found:
            raise OneWireError
        return found

    def readbit(self):
        return self._do(_BIT, -1)

    def readbyte(self):
        return self._do(_READ, 1)[0]

    def readinto(self, buf):
        buf[:] = self._do(_READ, len(buf))

    def writebit(self, value):
        self._do(_BIT, 1 if value else 0)

    def writebyte(self, value):
        self._do(_WRITE, 0, bytes((value & 255,)))

    def write(self, buf):
        self._do(_WRITE, 0, buf)

    def select_rom(self, rom):
        self.reset()
        self.writebyte(self.MATCH_ROM)
        self.write(rom)

    def scan(self):
        """The eight-byte codes of all devices, found bit by bit: at each place where they differ both ways are taken in turn."""
        found = []
        path, fork = bytearray(8), 64  # 64: no fork is left to take
        while fork >= 0 and len(found) < 255:
            path, fork = self._search(path, fork)
            if path is not None:
                found.append(path)
        return found

    def _search(self, last, fork):
        # One device: as last up to bit fork, there 1, and 0 at every later difference. Answers it and the next fork, -1 for none.
        if not self.reset():
            return None, -1
        self.writebyte(self.SEARCH_ROM)
        rom = bytearray(8)
        left = -1
        for k in range(64):
            one, zero = self.readbit(), self.readbit()
            if one and zero:  # nobody is there any more
                return None, -1
            if one != zero:
                bit = one
            else:
                bit = 1 if k == fork else 0 if k > fork or fork == 64 else last[k >> 3] >> (k & 7) & 1
                if not bit:
                    left = k
            rom[k >> 3] |= bit << (k & 7)
            self.writebit(bit)
        return rom, left

    def crc8(self, data):
        """0 when the last byte is the check of the others (polynomial x8 + x5 + x4 + 1, reflected)."""
        crc = 0
        for b in data:
            crc ^= b
            for _ in range(8):
                crc = crc >> 1 ^ 0x8C if crc & 1 else crc >> 1
        return crc
