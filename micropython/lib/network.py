# The network belongs to the host. Programs may look at it; every change goes to the guard, which refuses it. A board without a
# radio that programs may see has one that is off.
import _pal

STA_IF = 0
AP_IF = 1
STAT_IDLE = 1000
STAT_CONNECTING = 1001
STAT_GOT_IP = 1010
STAT_NO_AP_FOUND = 201
STAT_WRONG_PASSWORD = 202
STAT_CONNECT_FAIL = 203
AUTH_OPEN = 0
AUTH_WEP = 1
AUTH_WPA_PSK = 2
AUTH_WPA2_PSK = 3
AUTH_WPA_WPA2_PSK = 4


def _ask(what):
    # What the guard says of "status" (an object) or "scan" (a list); None when the board has nothing to look at.
    import json

    text = _pal.network(what)
    return None if text is None else json.loads(text)


class WLAN:
    IF_STA = 0
    IF_AP = 1
    PM_NONE = 0
    PM_PERFORMANCE = 1
    PM_POWERSAVE = 2
    SEC_OPEN = 0
    SEC_WEP = 1
    SEC_WPA = 2
    SEC_WPA2 = 3
    SEC_WPA_WPA2 = 4

    def __init__(self, interface=STA_IF):
        if interface not in (STA_IF, AP_IF):
            raise ValueError("invalid interface")
        self._interface = interface

    def _state(self):
        return (_ask("status") if self._interface == STA_IF else None) or {}

    def active(self, state=None):
        now = bool(self._state().get("active"))
        if state is None:
            return now
        if bool(state) != now:
            _pal.denied("network.WLAN.active")

    def isconnected(self):
        return bool(self._state().get("connected"))

    def status(self, what=None):
        now = self._state()
        if what is None:
            return STAT_GOT_IP if now.get("connected") else STAT_IDLE
        if what == "rssi":
            return now.get("rssi", 0)
        if what == "stations":
            return []
        raise ValueError("unknown status param")

    def ifconfig(self, config=None):
        if config is not None:
            _pal.denied("network.WLAN.ifconfig")
        return tuple(self._state().get("ifconfig") or ("0.0.0.0",) * 4)

    def ipconfig(self, name=None, **values):
        if values or name is None:
            _pal.denied("network.WLAN.ipconfig")
        address, mask, gateway, _ = self.ifconfig()
        if name == "addr4":
            return address, mask
        if name == "gw4":
            return gateway
        if name == "dhcp4" or name == "has_dhcp4":
            return self.isconnected()
        raise ValueError("unknown config param")

    def scan(self):
        found = []
        for ssid, bssid, channel, rssi, security, hidden in _ask("scan") or ():
            found.append((ssid.encode(), bytes.fromhex(bssid), channel, rssi, security, bool(hidden)))
        return found

    def config(self, *names, **values):
        if values:
            _pal.denied("network.WLAN.config")
        if len(names) != 1:
            raise TypeError("can query only one param")
        name = names[0]
        now = self._state()
        if name == "mac":
            return bytes.fromhex(now.get("mac", "000000000000"))
        if name in ("ssid", "essid"):
            return now.get("ssid", "")
        if name in ("hostname", "dhcp_hostname"):
            return hostname()
        if name in ("channel", "security", "txpower", "pm", "reconnects", "hidden"):
            return now.get(name, 0)
        raise ValueError("unknown config param")

    def connect(self, *args, **kw):
        _pal.denied("network.WLAN.connect")

    def disconnect(self):
        _pal.denied("network.WLAN.disconnect")

    def deinit(self):
        _pal.denied("network.WLAN.deinit")


class LAN:
    def __init__(self, *args, **kw):
        _pal.denied("network.LAN")


class PPP(LAN):
    pass


def hostname(name=None):
    if name is not None:
        _pal.denied("network.hostname")
    return "pal"


def country(code=None):
    if code is not None:
        _pal.denied("network.country")
    return "XX"


def ipconfig(name=None, **values):
    if values or name is None:
        _pal.denied("network.ipconfig")
    return WLAN().ipconfig(name)
