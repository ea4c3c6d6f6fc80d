# The ESP32's own peripherals. They are not on this machine: each use says so, and what would change the host goes to the guard.
import _pal

WAKEUP_ALL_LOW = False
WAKEUP_ANY_HIGH = True


def _missing(name):
    def missing(*args, **kw):
        raise OSError(19, "no " + name + " on this machine")

    return missing


def _refused(*args, **kw):
    _pal.denied("esp32")


raw_temperature = mcu_temperature = _missing("chip thermometer")
hall_sensor = _missing("hall sensor")
RMT = _missing("RMT")
ULP = _missing("ULP")
PCNT = _missing("PCNT: use machine.Counter")
NVS = _missing("NVS: use a file in /flash")
Partition = gpio_deep_sleep_hold = wake_on_touch = wake_on_ext0 = wake_on_ext1 = wake_on_gpio = wake_on_ulp = _refused
