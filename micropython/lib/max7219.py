# Blocks of 8 by 8 lights behind MAX7219s in a chain. Registers: data sheet, tables 2 to 10.
import framebuf


class Matrix8x8(framebuf.FrameBuffer):
    def __init__(self, spi, cs, num):
        self.spi = spi
        self.cs = cs
        self.num = num
        self.buffer = bytearray(8 * num)
        cs.init(cs.OUT, value=1)
        super().__init__(self.buffer, 8 * num, 8, framebuf.MONO_HLSB)
        for register, value in ((0xC, 0), (0xF, 0), (0xB, 7), (0x9, 0), (0xA, 7), (0xC, 1)):
            self._all(register, value)

    def _all(self, register, value):
        self.cs(0)
        self.spi.write(bytes((register, value)) * self.num)
        self.cs(1)

    def brightness(self, value):
        if not 0 <= value <= 15:
            raise ValueError("Brightness out of range")
        self._all(0xA, value)

    def show(self):
        for y in range(8):
            row = bytearray(2 * self.num)
            for k in range(self.num):
                row[2 * k] = y + 1
                row[2 * k + 1] = self.buffer[y * self.num + k]
            self.cs(0)
            self.spi.write(row)
            self.cs(1)
