# The network belongs to the host. Programs may look; every change goes to the guard, which refuses it.
import _pal

STA_IF = 0
AP_IF = 1
STAT_IDLE = 1000
STAT_CONNECTING = 1001
STAT_GOT_IP = 1010


class WLAN:
    IF_STA = 0
    IF_AP = 1
    PM_NONE = 0
    PM_PERFORMANCE = 1
    PM_POWERSAVE = 2

    def __init__(self, interface=STA_IF):
        self._interface = interface

    def active(self, state=None):
        if state is not None:
            _pal.denied("network.WLAN.active")
        return False

    def isconnected(self):
        return False

    def status(self, what=None):
        return STAT_IDLE if what is None else 0

    def ifconfig(self, config=None):
        if config is not None:
            _pal.denied("network.WLAN.ifconfig")
        return ("0.0.0.0", "0.0.0.0", "0.0.0.0", "0.0.0.0")

    def scan(self):
        return []

    def config(self, *names, **values):
        if values:
            _pal.denied("network.WLAN.config")
        if len(names) != 1:
            raise TypeError("can query only one param")
        if names[0] == "mac":
            return bytes(6)
        if names[0] in ("ssid", "essid", "hostname", "dhcp_hostname"):
            return ""
        raise ValueError("unknown config param")

    def connect(self, *args, **kw):
        _pal.denied("network.WLAN.connect")

    def disconnect(self):
        _pal.denied("network.WLAN.disconnect")


class LAN:
    def __init__(self, *args, **kw):
        _pal.denied("network.LAN")


def hostname(name=None):
    if name is not None:
        _pal.denied("network.hostname")
    return "pal"


def country(code=None):
    if code is not None:
        _pal.denied("network.country")
    return "XX"
