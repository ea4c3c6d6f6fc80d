# Waiting for streams, as MicroPython documents it, without work while nothing comes and with interrupt handlers running. A
# stream is what has ioctl(request, argument), as UART has; files, which are always ready; and the standard streams, of
# which the input never is.
import _pal, sys

POLLIN = 1
POLLOUT = 4
POLLERR = 8
POLLHUP = 16
_POLL = 3  # ioctl's request


def check(obj):
    if not hasattr(obj, "ioctl") and not (hasattr(obj, "read") and hasattr(obj, "close")):
        raise OSError(22, "stream operation not supported")


def state(obj, flags):
    """Which of flags, POLLIN and POLLOUT, obj is ready for; POLLERR and POLLHUP come unasked."""
    if hasattr(obj, "ioctl"):
        return obj.ioctl(_POLL, flags)
    return flags & ~POLLIN if obj is sys.stdin or obj is sys.stdin.buffer else flags


def _wait(look, ms):
    # Call look, which answers what is ready, until it is not empty or ms milliseconds have passed (negative: for ever).
    end = None if ms < 0 else _pal.deadline(ms * 1000.0)
    pause = 1000.0
    while True:
        found = look()
        if found or ms == 0:
            return found
        now = _pal.deadline(0.0)
        if end is not None and now >= end:
            return found
        _pal.wait(now + pause if end is None else min(end, now + pause))
        pause = min(2 * pause, 8000.0)


class poll:
    def __init__(self):
        self._map = {}  # id of an object: the object and what is asked
        self._ready = iter(())

    def register(self, obj, eventmask=POLLIN | POLLOUT):
        check(obj)
        self._map[id(obj)] = (obj, eventmask)

    def unregister(self, obj):
        self._map.pop(id(obj), None)

    def modify(self, obj, eventmask):
        if id(obj) not in self._map:
            raise OSError(2)
        self._map[id(obj)] = (obj, eventmask)

    def poll(self, timeout=-1):
        def look():
            found = []
            for obj, mask in self._map.values():
                got = state(obj, mask)
                if got:
                    found.append((obj, got))
            return found

        return _wait(look, -1 if timeout is None else timeout)

    def ipoll(self, timeout=-1, flags=0):
        found = self.poll(timeout)
        if flags & 1:  # one shot
            for obj, _ in found:
                self.modify(obj, 0)
        return iter(found)


def select(rlist, wlist, xlist, timeout=-1):
    for obj in list(rlist) + list(wlist) + list(xlist):
        check(obj)

    def look():
        r = [o for o in rlist if state(o, POLLIN) & ~POLLOUT]
        w = [o for o in wlist if state(o, POLLOUT) & ~POLLIN]
        x = [o for o in xlist if state(o, 0)]
        return (r, w, x) if r or w or x else None

    return _wait(look, -1 if timeout is None or timeout < 0 else timeout * 1000) or ([], [], [])
