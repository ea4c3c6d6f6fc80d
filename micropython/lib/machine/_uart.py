# UARTs as streams: reads wait as their timeouts say, without work and with interrupt handlers running.
import _bus, _pal, io, json

from ._pin import integer, label

_deadline = _pal.deadline
_wait = _pal.wait
_POLL = 3  # requests of a stream's ioctl
_FLUSH = 1


class _IRQ:
    def __init__(self, uart, handler, trigger):
        self._uart = uart
        self._handler = handler
        self._trigger = trigger
        self._timer = None
        self._flags = 0

    def _arrived(self, uart):
        # Idle is told when nothing came for a little while after the last arrival.
        if self._trigger & 1:
            self._flags = 1
            self._handler(uart)
        if self._trigger & 2:
            from ._timer import Timer
            if self._timer is None:
                self._timer = Timer(-1)
            self._timer.init(mode=0, period=max(1, uart._gap // 1000), callback=self._idle)

    def _idle(self, timer):
        self._flags = 2
        self._handler(self._uart)

    def _end(self):
        if self._timer is not None:
            self._timer.deinit()

    def __call__(self):
        if self._handler is not None:
            self._handler(self._uart)

    def trigger(self, trigger=None):
        old = self._trigger
        if trigger is not None:
            self._uart.irq(self._handler, trigger)
        return old

    def flags(self):
        return self._flags


class UART(io.IOBase):
    INV_TX = 1
    INV_RX = 2
    INV_RTS = 4
    INV_CTS = 8
    RTS = 1
    CTS = 2
    IRQ_RX = 1
    IRQ_RXIDLE = 2
    EVEN = 0
    ODD = 1

    def __init__(self, id, baudrate=9600, bits=8, parity=None, stop=1, **kw):
        self._id = integer(id)
        self._settings = {}
        self._h = -1
        self._timeout = self._timeout_char = 0
        self._sent = 0.0  # when the last byte written will have left
        self._irq = None
        self._open(baudrate, bits, parity, stop, **kw)

    def init(self, baudrate=None, bits=None, parity=..., stop=None, **kw):
        s = self._settings
        self._open(baudrate or s["baudrate"], bits or s["bits"], s["parity"] if parity is ... else parity, stop or s["stop"], **kw)

    def _open(self, baudrate, bits, parity, stop, *, tx=None, rx=None, rts=None, cts=None, txbuf=None, rxbuf=None,
              timeout=None, timeout_char=None, invert=0, flow=0, **_):
        s = self._settings.copy()
        s["baudrate"], s["bits"], s["parity"], s["stop"] = integer(baudrate), integer(bits), parity, integer(stop)
        if s["baudrate"] <= 0:
            raise ValueError("baudrate must be positive")
        if s["bits"] not in (7, 8):
            raise ValueError("bits must be 7 or 8")
        if parity not in (None, 0, 1):
            raise ValueError("parity must be None, 0 or 1")
        if s["stop"] not in (1, 2):
            raise ValueError("stop must be 1 or 2")
        if not 0 <= invert <= 15 or not 0 <= flow <= 3:
            raise ValueError("invalid invert or flow")
        for name, pin in (("tx", tx), ("rx", rx), ("rts", rts), ("cts", cts)):
            if pin is not None:
                s[name] = label(pin)
        for name, value in (("txbuf", txbuf), ("rxbuf", rxbuf), ("invert", invert), ("flow", flow)):
            if value:
                s[name] = integer(value)
        if timeout is not None:
            self._timeout = _time(timeout)
        if timeout_char is not None:
            self._timeout_char = _time(timeout_char)
        self._h = _pal.check(_bus.open("uart:%d" % self._id, json.dumps(s)))
        self._settings = s
        # A character on its way must not end a read: 13 bits, as on boards.
        self._gap = max(self._timeout_char, 13000 // s["baudrate"] + 1) * 1000

    def deinit(self):
        if self._h >= 0:
            self.irq(None)
            _pal.check(_bus.close(self._h))
            self._h = -1

    def any(self):
        return _pal.check(_bus.uart_any(self._h))

    def _fill(self, buf, room):
        # Read until buf, of room bytes, is full or nothing comes in time.
        got = 0
        end = _deadline(self._timeout * 1000.0)
        while got < room:
            n = _bus.uart_read(self._h, buf, got)
            if n:
                got += n
                end = _deadline(float(self._gap))
                continue
            now = _deadline(0.0)
            if now >= end or not got and not self._timeout:
                break
            _wait(min(end, now + 1000.0))
        return got

    def read(self, nbytes=-1):
        if nbytes is None or nbytes < 0:
            data = bytearray()
            piece = bytearray(256)
            while True:
                n = self._fill(piece, 256)
                data += memoryview(piece)[:n]
                if n < 256:
                    return bytes(data) if data else None
        buf = bytearray(nbytes)
        n = self._fill(buf, nbytes)
        return bytes(memoryview(buf)[:n]) if n or not nbytes else None

    def readinto(self, buf, nbytes=-1):
        room = memoryview(buf)
        if 0 <= nbytes < len(room):
            room = room[:nbytes]
        n = self._fill(room, len(room))
        return n if n or not len(room) else None

    def readline(self, nbytes=-1):
        line = bytearray()
        one = bytearray(1)
        while nbytes < 0 or len(line) < nbytes:
            if not self._fill(one, 1):
                break
            line += one
            if one[0] == 10:
                break
        return bytes(line) if line else None

    def write(self, buf):
        if isinstance(buf, str):
            buf = buf.encode()
        size = len(memoryview(buf)) if not isinstance(buf, (bytes, bytearray)) else len(buf)
        sent = 0
        s = self._settings
        bit = 1000000.0 / s["baudrate"]
        end = None
        while True:
            n = _bus.uart_write(self._h, buf, sent)
            sent += n
            now = _deadline(0.0)
            self._sent = max(self._sent, now) + n * 11 * bit
            if sent >= size:
                return sent
            # The buffer is full: wait for the line, no longer than all of it takes and the timeout.
            end = now + size * 11 * bit + self._timeout * 1000.0 if end is None else end
            if now >= end:
                return sent or None
            _wait(now + 1000.0)

    def txdone(self):
        return _deadline(0.0) >= self._sent

    def flush(self):
        while _wait(self._sent):
            pass

    def sendbreak(self):
        """A zero at a third of the rate: the line is low for longer than any character."""
        s = self._settings
        self.flush()
        rate = s["baudrate"]
        self.init(max(1, rate // 3))
        self.write(b"\0")
        self.flush()
        self.init(rate)

    def irq(self, handler=None, trigger=1, hard=False):
        if handler is not None and not callable(handler):
            raise TypeError("handler must be callable")
        if not 0 <= trigger <= 3:
            raise ValueError("trigger must be UART.IRQ_RX, UART.IRQ_RXIDLE or both")
        if self._irq is not None:
            self._irq._end()
        irq = _IRQ(self, handler, 0 if handler is None else trigger)
        if irq._trigger or self._irq is not None:
            _pal.arm_uart(self._h, irq._arrived, self, irq, 1 if irq._trigger else 0)
        self._irq = irq if irq._trigger else None
        return irq

    def ioctl(self, request, arg):
        if request == _POLL:
            return arg & (5 if arg & 1 and self.any() else 4)
        if request == _FLUSH:
            self.flush()
        return 0

    def __repr__(self):
        s = self._settings
        return "UART(%d, baudrate=%d, bits=%d, parity=%s, stop=%d, timeout=%d, timeout_char=%d)" % (
            self._id, s["baudrate"], s["bits"], s["parity"], s["stop"], self._timeout, self._timeout_char)


def _time(ms):
    ms = integer(ms)
    if ms < 0:
        raise ValueError("negative timeout")
    return ms
