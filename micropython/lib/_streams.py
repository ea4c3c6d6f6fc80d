# asyncio's streams over whatever select can wait for, a UART for example.
import asyncio as _core
import _pal


class Stream:
    def __init__(self, s, e={}):
        self.s = s
        self.e = e
        self.out_buf = b""

    def get_extra_info(self, name):
        return self.e[name]

    async def __aenter__(self):
        return self

    async def __aexit__(self, *exc):
        await self.close()

    def close(self):
        return self.wait_closed()

    async def wait_closed(self):
        if hasattr(self.s, "close"):
            self.s.close()

    async def _take(self, what, *args):
        # Call a method of the stream when it can be read, again until it has something to say.
        while True:
            await _Ready(self.s, 1)
            got = what(*args)
            if got is not None:
                return got

    async def read(self, n=-1):
        if n >= 0:
            return await self._take(self.s.read, n)
        found = b""
        while True:
            part = await self._take(self.s.read)
            if not part:
                return found
            found += part

    def readinto(self, buf):
        return self._take(self.s.readinto, buf)

    async def readexactly(self, n):
        found = b""
        while len(found) < n:
            part = await self._take(self.s.read, n - len(found))
            if not part:
                raise EOFError
            found += part
        return found

    async def readline(self):
        found = b""
        while True:
            part = await self._take(self.s.readline)
            found += part
            if not part or part[-1] == 10:
                return found

    def write(self, buf):
        # At once when nothing waits; drain() writes the rest.
        if isinstance(buf, str):
            buf = buf.encode()
        if not self.out_buf:
            n = self.s.write(buf)
            if n == len(buf):
                return
            if n is not None:
                buf = memoryview(buf)[n:]
        self.out_buf += buf

    async def drain(self):
        if not self.out_buf:
            return await _core.sleep_ms(0)
        while self.out_buf:
            await _Ready(self.s, 2)
            n = self.s.write(self.out_buf)
            if n:
                self.out_buf = self.out_buf[n:]


class _Ready:
    # Awaited: until the stream can be read (1) or written (2).
    def __init__(self, s, way):
        self.s = s
        self.way = way

    def __iter__(self):
        _core._io_queue._enqueue(self.s, self.way)
        yield

    __await__ = __iter__


StreamReader = StreamWriter = Stream


async def open_connection(*args, **kw):
    _pal.denied("socket")


async def start_server(*args, **kw):
    _pal.denied("socket")
