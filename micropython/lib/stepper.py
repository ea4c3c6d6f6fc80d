# The 28BYJ-48 stepper behind a ULN2003, or any motor of four coils, by half or full steps.
import time

HALF_STEP = (0b1000, 0b1100, 0b0100, 0b0110, 0b0010, 0b0011, 0b0001, 0b1001)
FULL_STEP = (0b1100, 0b0110, 0b0011, 0b1001)


class Stepper:
    FULL_ROTATION = 4096 * 509 // 512  # half steps of a 28BYJ-48: its gear is 63.68, not 64

    def __init__(self, pin1, pin2, pin3, pin4, delay=2, mode=HALF_STEP):
        """delay in ms between steps."""
        self.pins = (pin1, pin2, pin3, pin4)
        self.delay = delay
        self.mode = FULL_STEP if mode == "FULL_STEP" else HALF_STEP if mode == "HALF_STEP" else mode
        self.at = 0
        for p in self.pins:
            p.init(p.OUT, value=0)

    def step(self, count, direction=1):
        if count < 0:
            count, direction = -count, -direction
        for _ in range(int(count)):
            self.at = (self.at + (1 if direction > 0 else -1)) % len(self.mode)
            coils = self.mode[self.at]
            for k in range(4):
                self.pins[k](coils >> 3 - k & 1)
            time.sleep_ms(self.delay)
        self.reset()

    def angle(self, degrees, direction=1):
        turn = self.FULL_ROTATION if len(self.mode) == 8 else self.FULL_ROTATION // 2
        self.step(round(turn * degrees / 360), direction)

    def reset(self):
        """No current in any coil."""
        for p in self.pins:
            p(0)


def create(pin1, pin2, pin3, pin4, delay=2, mode=HALF_STEP):
    return Stepper(pin1, pin2, pin3, pin4, delay, mode)
