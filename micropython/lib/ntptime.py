# The host keeps the clock, from which time and RTC read: it is set already, and no program needs the network for it.
import time as _time

host = "the host's clock"
timeout = 1


def time():
    return _time.time()


def settime():
    """Nothing is left to do: the clock shows UTC."""
