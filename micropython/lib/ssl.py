# A program has no network, hence nothing to encrypt: the guard refuses.
import _pal

CERT_NONE = 0
CERT_OPTIONAL = 1
CERT_REQUIRED = 2
PROTOCOL_TLS_CLIENT = 0
PROTOCOL_TLS_SERVER = 1


class SSLContext:
    def __init__(self, *args):
        _pal.denied("ssl")


def wrap_socket(*args, **kw):
    _pal.denied("ssl")
