# HTTP as programs know it, but a program has no network: the guard refuses each request.
import _pal


def request(*args, **kw):
    _pal.denied("requests")


get = post = put = patch = head = delete = request
