# The radio belongs to the host: whatever opens it is refused by the guard.
import _pal


class ESPNow:
    def __init__(self):
        _pal.denied("espnow")


AIOESPNow = ESPNow
