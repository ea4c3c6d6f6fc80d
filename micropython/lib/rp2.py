# The RP2's own peripherals. They are not on this machine: programs for its state machines compile to nothing and say so when
# they are to be run.
import _pal


class PIO:
    IN_LOW = 0
    IN_HIGH = 1
    OUT_LOW = 2
    OUT_HIGH = 3
    SHIFT_LEFT = 0
    SHIFT_RIGHT = 1
    JOIN_NONE = 0
    JOIN_TX = 1
    JOIN_RX = 2

    def __init__(self, id):
        raise OSError(19, "no PIO on this machine")


class StateMachine:
    def __init__(self, *args, **kw):
        raise OSError(19, "no PIO on this machine: use machine.PWM, Counter or bitstream")


class DMA:
    def __init__(self):
        raise OSError(19, "no DMA on this machine")


class Flash:
    def __init__(self):
        _pal.denied("rp2.Flash")


def asm_pio(**settings):
    return lambda f: f


def asm_pio_encode(instruction, *rest):
    raise OSError(19, "no PIO on this machine")


def bootsel_button():
    raise OSError(19, "no BOOTSEL button on this machine")


def country(code=None):
    import network

    return network.country(code)
