# Data on its way between programs and the guard. A buffer goes by its object's address; that is why these functions are closures
# and the host's own are out of a program's reach: with any address at all they would read and write the machine's memory.
import js, _pal

pwm = js.pwm
pulse = js.pulse
open = js.bus_open
close = js.bus_close
uart_any = js.uart_any
count_open = js.count_open
count = js.count
offer_tool = js.offer_tool


def _make(js, fail, OSError, bytes, bytearray, id, memoryview, str, type, TypeError):
    errno = js.errno
    host_i2c = js.i2c
    host_scan = js.i2c_scan
    host_spi = js.spi
    host_uart_write = js.uart_write
    host_uart_read = js.uart_read
    host_bitstream = js.bitstream
    host_dht = js.dht
    host_onewire_reset = js.onewire_reset
    host_onewire_bit = js.onewire_bit
    host_onewire_write = js.onewire_write
    host_onewire_read = js.onewire_read
    js.buffers(id(bytes), id(bytearray), id(memoryview))

    def plain(b):
        # What the host can look into; it is for the caller to hold on to it.
        t = type(b)
        if t is bytearray or t is bytes or t is memoryview:
            return b
        if t is str:
            return b.encode()
        return memoryview(b)

    def done(r):
        if r is not None:
            return r
        if errno() == 14:
            raise TypeError("object with buffer protocol required")
        fail()

    def i2c(h, addr, flags, register, size, w, r):
        # register goes first in size bytes. w and r may be ..., nothing.
        if w is not ...:
            w = plain(w)
        if r is not ...:
            r = plain(r)
        return done(host_i2c(h, addr, flags, register, size, 0 if w is ... else id(w), 0 if r is ... else id(r)))

    def i2c_scan(h):
        found = bytearray(112)
        return list(found[:done(host_scan(h, id(found)))])

    def spi(h, w, r, fill):
        # w or r may be ..., nothing.
        if w is not ...:
            w = plain(w)
        if r is not ...:
            r = plain(r)
        return done(host_spi(h, 0 if w is ... else id(w), 0 if r is ... else id(r), fill))

    def uart_write(h, b, start):
        b = plain(b)
        return done(host_uart_write(h, id(b), start))

    def uart_read(h, b, start):
        b = plain(b)
        return done(host_uart_read(h, id(b), start))

    def bitstream(h, timing, b):
        b = plain(b)
        return done(host_bitstream(h, timing[0], timing[1], timing[2], timing[3], id(b)))

    def dht(h, b):
        b = plain(b)
        return done(host_dht(h, id(b)))

    def onewire(h, op, b=0, data=b""):
        # Reset (0): whether a device answered. Write (1) data. Read (2) b bytes. Bit (3): write b, or read one when it is -1.
        if op == 1:
            data = plain(data)
            return done(host_onewire_write(h, id(data)))
        if op == 2:
            data = bytearray(b)
            done(host_onewire_read(h, id(data)))
            return data
        return done(host_onewire_reset(h) if op == 0 else host_onewire_bit(h, b))

    def dht_frame(h):
        b = bytearray(5)
        if dht(h, b) != 5:
            raise OSError(5, "the sensor sent too little")
        return b

    return i2c, i2c_scan, spi, uart_write, uart_read, bitstream, dht, dht_frame, onewire


i2c, i2c_scan, spi, uart_write, uart_read, bitstream, dht, _pal.dht, _pal.onewire = _make(
    js, _pal.fail, OSError, bytes, bytearray, id, memoryview, str, type, TypeError)
del js, _make
