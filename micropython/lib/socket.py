# A program has no network: whatever opens one is refused by the guard.
import _pal

AF_INET = 2
AF_INET6 = 10
SOCK_STREAM = 1
SOCK_DGRAM = 2
SOCK_RAW = 3
IPPROTO_TCP = 6
IPPROTO_UDP = 17
SOL_SOCKET = 1
SO_REUSEADDR = 2
SO_BROADCAST = 6
error = OSError


class socket:
    def __init__(self, *args, **kw):
        _pal.denied("socket")


def getaddrinfo(*args, **kw):
    _pal.denied("socket")


def create_connection(*args, **kw):
    _pal.denied("socket")
