# DS18S20, DS1822 and DS18B20 thermometers on a 1-Wire bus. Commands and layout: DS18B20 data sheet, "Function commands" and
# "Memory"; DS18S20 data sheet, "Operation - measuring temperature", for the older one's finer resolution.
_CONVERT = 0x44
_READ = 0xBE
_WRITE = 0x4E


class DS18X20:
    def __init__(self, onewire):
        self.ow = onewire
        self.buf = bytearray(9)
        self.config = bytearray(3)

    def powermode(self, powerpin=None):
        """Accepted, without effect: the bus feeds its devices."""
        return 1

    def scan(self):
        return [rom for rom in self.ow.scan() if rom[0] in (0x10, 0x22, 0x28)]

    def convert_temp(self):
        """All measure at once, for up to 750 ms."""
        self.ow.reset(True)
        self.ow.writebyte(self.ow.SKIP_ROM)
        self.ow.writebyte(_CONVERT)

    def read_scratch(self, rom):
        self.ow.reset(True)
        self.ow.select_rom(rom)
        self.ow.writebyte(_READ)
        self.ow.readinto(self.buf)
        if self.ow.crc8(self.buf):
            raise Exception("CRC error")
        return self.buf

    def write_scratch(self, rom, buf):
        self.ow.reset(True)
        self.ow.select_rom(rom)
        self.ow.writebyte(_WRITE)
        self.ow.write(buf)

    def resolution(self, rom, bits=None):
        """Bits of a DS18B20's answer, 9 to 12."""
        self.config[:] = self.read_scratch(rom)[2:5]
        if bits is None:
            return (self.config[2] >> 5) + 9
        if not 9 <= bits <= 12:
            raise ValueError("resolution is 9 to 12 bits")
        self.config[2] = bits - 9 << 5 | 0x1F
        self.write_scratch(rom, self.config)
        return bits

    def read_temp(self, rom):
        """Degrees Celsius."""
        b = self.read_scratch(rom)
        t = b[1] << 8 | b[0]
        if t & 0x8000:
            t -= 0x10000
        if rom[0] != 0x10:
            return t / 16
        return (t >> 1) - 0.25 + (b[7] - b[6]) / b[7] if b[7] else t / 2
