# The radio belongs to the host: whatever opens it is refused by the guard.
import _pal

FLAG_READ = 2
FLAG_WRITE_NO_RESPONSE = 4
FLAG_WRITE = 8
FLAG_NOTIFY = 16
FLAG_INDICATE = 32


class BLE:
    def __init__(self):
        _pal.denied("bluetooth")


class UUID:
    def __init__(self, value):
        self._value = value
