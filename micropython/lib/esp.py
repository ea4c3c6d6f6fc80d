# What boot files of ESP boards call. Nothing of it reaches the host's flash.
import _pal

LOG_NONE = 0
LOG_ERROR = 1
LOG_WARNING = 2
LOG_INFO = 3
LOG_DEBUG = 4
LOG_VERBOSE = 5


def osdebug(uart, level=LOG_ERROR):
    """Accepted, without effect: there is no vendor's log to turn off."""


def flash_size():
    import os

    s = os.statvfs("/flash")
    return s[0] * s[2]


def flash_user_start():
    return 0


def flash_id():
    return 0


def _refused(*args):
    _pal.denied("esp")


flash_read = flash_write = flash_erase = set_native_code_location = sleep_type = deepsleep = _refused
