# umqtt.simple and umqtt.robust as programs import them, but a program has no network: the guard refuses a client.
import sys, _pal

sys.modules["umqtt.simple"] = sys.modules["umqtt.robust"] = simple = robust = sys.modules[__name__]


class MQTTException(Exception):
    pass


class MQTTClient:
    def __init__(self, *args, **kw):
        _pal.denied("umqtt")
