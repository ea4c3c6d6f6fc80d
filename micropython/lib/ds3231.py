# The DS3231 clock. Registers: data sheet, figure 1 (timekeeping registers); temperature: section "Temperature registers".
import time


def _bcd(n):
    return n // 10 << 4 | n % 10


def _number(b):
    return (b >> 4) * 10 + (b & 15)


class DS3231:
    def __init__(self, i2c, addr=0x68):
        self.i2c = i2c
        self.addr = addr

    def datetime(self, datetime=None):
        """(year, month, day, weekday, hour, minute, second, 0), as RTC's; weekday 0 is Monday. With an argument sets the clock."""
        if datetime is not None:
            year, month, day, weekday, hour, minute, second = datetime[:7]
            self.i2c.writeto_mem(self.addr, 0, bytes((
                _bcd(second), _bcd(minute), _bcd(hour), weekday + 1, _bcd(day), _bcd(month) | (0x80 if year >= 2100 else 0), _bcd(year % 100))))
            status = self.i2c.readfrom_mem(self.addr, 0x0F, 1)[0]
            self.i2c.writeto_mem(self.addr, 0x0F, bytes((status & 0x7F,)))  # the clock is right again
            return None
        b = self.i2c.readfrom_mem(self.addr, 0, 7)
        hour = _number(b[2] & 0x3F)
        if b[2] & 0x40:  # of twelve
            hour = _number(b[2] & 0x1F) % 12 + (12 if b[2] & 0x20 else 0)
        year = 2000 + _number(b[6]) + (100 if b[5] & 0x80 else 0)
        return year, _number(b[5] & 0x1F), _number(b[4]), (b[3] & 7) - 1, hour, _number(b[1]), _number(b[0]), 0

    def get_time(self):
        """As time.localtime() has it."""
        year, month, day, _, hour, minute, second, _ = self.datetime()
        return time.localtime(time.mktime((year, month, day, hour, minute, second, 0, 0)))

    def set_time(self, tm):
        self.datetime((tm[0], tm[1], tm[2], tm[6], tm[3], tm[4], tm[5], 0))

    def lost_power(self):
        return bool(self.i2c.readfrom_mem(self.addr, 0x0F, 1)[0] & 0x80)

    def temperature(self):
        """Degrees Celsius, in quarters."""
        b = self.i2c.readfrom_mem(self.addr, 0x11, 2)
        t = b[0] << 2 | b[1] >> 6
        return (t - 1024 if t & 0x200 else t) / 4

    get_temperature = temperature
