"""What this board offers. Everything public here is known to programs by name."""

from machine import ADC, I2C, Pin

LED = Pin("LED", Pin.OUT)
LED_B = Pin("LED_B", Pin.OUT)
RELAY_1 = Pin("RELAY_1", Pin.OUT)
RELAY_2 = Pin("RELAY_2", Pin.OUT)
relay_power = Pin("RELAY_POWER", Pin.OUT)
RELAY_POWER = relay_power
BUTTON = Pin("BUTTON", Pin.IN, Pin.PULL_UP)
TEMP_ADC = ADC(Pin("TEMP_ADC"))
i2c = I2C(0)

_RELAYS = {1: RELAY_1, 2: RELAY_2}


def _relay(n):
    if n not in _RELAYS:
        raise ValueError("relay is 1 or 2")
    return _RELAYS[n]


@tool
def toggle_led() -> None:
    """Flip the status light."""
    LED.toggle()


@tool
def read_temperature() -> float:
    """Return the temperature in degrees Celsius, from the calibrated sensor."""
    return TEMP_ADC.read() * 3.3 / 4095 * 100


@tool
def button_pressed() -> bool:
    """Return whether the push button is held down."""
    return BUTTON.value() == 0


@tool
def relay_on(n: int) -> None:
    """Switch relay n (1 or 2) on. The guard refuses it while the other one is on."""
    _relay(n).on()


@tool
def relay_off(n: int) -> None:
    """Switch relay n (1 or 2) off."""
    _relay(n).off()


@tool
def power_on() -> None:
    """Switch the main power relay on. High danger: it may need a person's approval."""
    relay_power.on()


@tool
def power_off() -> None:
    """Switch the main power relay off. Always allowed."""
    relay_power.off()
