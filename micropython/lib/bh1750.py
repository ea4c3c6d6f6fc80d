# The BH1750 light sensor. Commands and the factor 1.2: data sheet, "Instruction set architecture" and "Measurement sequence".
import time


class BH1750:
    CONT_HIRES_1 = 0x10
    CONT_HIRES_2 = 0x11
    CONT_LOWRES = 0x13
    ONCE_HIRES_1 = 0x20
    ONCE_HIRES_2 = 0x21
    ONCE_LOWRES = 0x23

    def __init__(self, i2c, addr=0x23):
        """i2c and the address in either order."""
        if isinstance(i2c, int):
            i2c, addr = addr, i2c
        self.bus = i2c
        self.addr = addr
        self.mode = None
        self.on()
        self.reset()

    def _send(self, command):
        self.bus.writeto(self.addr, bytes((command,)))

    def off(self):
        self._send(0x00)

    def on(self):
        self._send(0x01)

    def reset(self):
        self.on()
        self._send(0x07)

    def luminance(self, mode=ONCE_HIRES_1):
        """Lux. One measurement takes 24 ms in low resolution, 180 ms in the others."""
        if mode & 0x20 or mode != self.mode:
            self._send(mode)
            self.mode = mode
        time.sleep_ms(24 if mode & 3 == 3 else 180)
        raw = self.bus.readfrom(self.addr, 2)
        return (raw[0] << 8 | raw[1]) / (1.2 if mode & 3 != 1 else 2.4)

    @property
    def measurement(self):
        return self.luminance()

    def lux(self):
        return self.luminance()
