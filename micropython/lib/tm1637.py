# Four digits behind a TM1637, which has two wires of its own kind. Commands: data sheet, sections 5.1 to 5.3; the frame: section 7.
import time

_SEGMENTS = b"\x3f\x06\x5b\x4f\x66\x6d\x7d\x07\x7f\x6f\x77\x7c\x39\x5e\x79\x71\x3d\x76\x06\x1e\x76\x38\x55\x54\x3f\x73\x67\x50\x6d\x78\x3e\x1c\x2a\x76\x6e\x5b"


class TM1637:
    def __init__(self, clk, dio, brightness=7):
        self.clk = clk
        self.dio = dio
        self._brightness = brightness & 7
        clk.init(clk.OUT, value=1)
        dio.init(dio.OUT, value=1)
        self.write((0, 0, 0, 0))

    def _frame(self, data):
        self.dio(0)
        self.clk(0)
        for b in data:
            for k in range(8):
                self.dio(b >> k & 1)
                self.clk(1)
                time.sleep_us(5)
                self.clk(0)
            self.dio(0)  # the chip says that it has it, and has the line to itself for that
            self.clk(1)
            time.sleep_us(5)
            self.clk(0)
        self.dio(0)
        self.clk(1)
        self.dio(1)

    def brightness(self, val=None):
        """0 to 7."""
        if val is None:
            return self._brightness
        if not 0 <= val <= 7:
            raise ValueError("Brightness out of range")
        self._brightness = val
        self._frame((0x88 | val,))

    def write(self, segments, pos=0):
        """Bits 0 to 7 of each byte light the segments a to g and the colon or point."""
        if not 0 <= pos <= 5:
            raise ValueError("Position out of range")
        self._frame((0x40,))
        self._frame(bytes((0xC0 | pos,)) + bytes(segments))
        self._frame((0x88 | self._brightness,))

    def encode_digit(self, digit):
        return _SEGMENTS[digit & 15]

    def encode_char(self, char):
        if char == " ":
            return 0
        if char == "-":
            return 0x40
        if char == "*":
            return 0x63  # a degree sign
        c = char.lower()
        if "0" <= c <= "9":
            return _SEGMENTS[ord(c) - 48]
        if "a" <= c <= "z":
            return _SEGMENTS[ord(c) - 87]
        raise ValueError("Character out of range: {:d} '{:s}'".format(ord(char), char))

    def encode_string(self, string):
        return bytearray(self.encode_char(c) for c in string)

    def show(self, string, colon=False):
        segments = self.encode_string(string[:4])
        if colon and len(segments) > 1:
            segments[1] |= 128
        self.write(segments)

    def number(self, num):
        self.show("%4d" % max(-999, min(num, 9999)))

    def hex(self, val):
        self.show("%04x" % (val & 0xFFFF))

    def numbers(self, num1, num2, colon=True):
        self.show("%02d%02d" % (max(-9, min(num1, 99)), max(-9, min(num2, 99))), colon)

    def temperature(self, num):
        self.show("lo" if num < -9 else "hi" if num > 99 else "%2d" % num)
        self.write((0x63, 0x39), 2)

    def scroll(self, string, delay=250):
        segments = bytes(4) + self.encode_string(string) + bytes(4)
        for k in range(len(segments) - 3):
            self.write(segments[k:k + 4])
            time.sleep_ms(delay)
