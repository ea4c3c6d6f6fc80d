# What PAL changes in the engine's own modules. Functions defined here have only this module's names within reach.
import _pal, builtins, json
from collections import namedtuple

from binascii import unhexlify


def generator():
    yield


def input(prompt="", *, print=print, EOFError=EOFError):
    print(prompt, end="")
    raise EOFError("no standard input")


def event_push(name, data=None, *, dumps=json.dumps, event=_pal.event, check=_pal.check):
    """Send event user:NAME with JSON data to whoever listens."""
    check(event(name, "" if data is None else dumps(data)))


def board_caller(call, check, jsonable, dumps, loads):
    known = {}
    for n in dir(builtins):
        v = getattr(builtins, n)
        if isinstance(v, type) and issubclass(v, Exception):
            known[n] = v

    def caller(name, args, kwargs):
        v = [list(args), kwargs]
        if not jsonable(v, 30):
            raise TypeError("an argument that JSON cannot hold")
        v = check(call(name, dumps(v)))
        if v[0] == "!":  # the function raised: class and message
            name, v = loads(v[1:])
            if name in known:
                raise known[name](v)
            raise RuntimeError(name + ": " + v)
        return loads(v)

    return caller


def tooler(offer, check):
    tools = {}  # by session: functions by name
    running = [None]  # session of the code that runs; None for board.py, whose functions are tools by themselves

    # The engine prints a closure with all that it holds, which would be the tools of every session. Arguments it does not print.
    def mark(f, *, offer=offer, check=check, tools=tools, running=running, callable=callable, TypeError=TypeError):
        if not callable(f):
            raise TypeError("@tool goes before a function")
        key = running[0]
        if key is not None:
            check(offer(f.__name__))
            if key:
                tools.setdefault(key, {})[f.__name__] = f
        return f

    def tool(f=None, *, mark=mark):
        """Offer a function as a tool of this session: @tool, or @tool()."""
        return mark if f is None else mark(f)

    return tool, tools, running


Uname = namedtuple("uname", ("sysname", "nodename", "release", "version", "machine"))


def uname():
    return Uname("pal", "pal", "1.27.0", "PAL " + _pal.pal_version + " on MicroPython v1.27.0", _pal.board_name)


def urandom(n, *, random_hex=_pal.random_hex):
    out = b""
    while n > 0:
        out += unhexlify(random_hex(min(n, 256)))
        n -= 256
    return out


def sync(*, file_sync=_pal.file_sync, OSError=OSError):
    n = file_sync()
    if n:
        raise OSError(n)


def _sleeper(deadline, wait, float, ValueError):
    # Each wait ends early when something wants the program's attention; the loop's jump is where it gets it.
    def until(us):
        d = deadline(float(us))  # the host's integers end at 31 bits, half an hour
        while wait(d):
            pass

    def sleep(seconds):
        us = (seconds + 0.0) * 1000000  # the sum refuses what is no number; the product would repeat a text
        if us > 0:
            until(us)
        elif us < 0:
            raise ValueError("sleep length must be non-negative")

    def sleep_ms(ms):
        if ms > 0:
            until(ms * 1000)

    def sleep_us(us):
        if us > 0:
            until(us)

    return sleep, sleep_ms, sleep_us


sleep, sleep_ms, sleep_us = _sleeper(_pal.deadline, _pal.wait, float, ValueError)


def time(*, time_ns=_pal.time_ns, int=int):
    return int(time_ns(0))


def time_ns(*, time_ns=_pal.time_ns, int=int):
    return int(time_ns(0)) * 1000000000 + time_ns(1)


def _opener(open, collect, OSError):
    def opener(*args, **kw):
        try:
            return open(*args, **kw)
        except OSError as e:
            if e.errno != 24:
                raise
        collect()  # closes the files that nobody holds any more
        return open(*args, **kw)

    return opener


def guarded(builtins, delattr=delattr, getattr=getattr, hasattr=hasattr, setattr=setattr):
    # The module builtins as programs see it, and a function that undoes what they did to names of the engine: sessions
    # share them.
    replaced = {}

    class Builtins:
        def __getattr__(self, name):
            return getattr(builtins, name)

        def __setattr__(self, name, value):
            if name not in replaced and hasattr(builtins, name):
                replaced[name] = getattr(builtins, name)
            setattr(builtins, name, value)

        def __delattr__(self, name):
            self.__setattr__(name, None)
            delattr(builtins, name)

        def __repr__(self):
            return "<module 'builtins'>"

    def put_back():
        if replaced:
            for name, value in replaced.items():
                setattr(builtins, name, value)
            replaced.clear()

    return Builtins(), put_back


def install(builtins, os, t, collect):
    builtins.input = input
    builtins.open = _opener(open, collect, OSError)
    os.uname = uname
    os.sync = sync
    os.urandom = urandom
    t.sleep = sleep
    t.sleep_ms = sleep_ms
    t.sleep_us = sleep_us
    t.ticks_us = t.ticks_cpu = _pal.ticks_us
    t.time = time
    t.time_ns = time_ns
