"""Functions of the greenhouse. The guard keeps its rules whatever these functions do."""

from machine import ADC, Pin

_heater = Pin("HEATER", Pin.OUT)
_pump = Pin("PUMP", Pin.OUT)
_drain = Pin("DRAIN", Pin.OUT)
_fan = Pin("FAN", Pin.OUT)
_lamp = Pin("LAMP", Pin.OUT)
_door = Pin("DOOR", Pin.IN, Pin.PULL_UP)
_air = ADC(Pin("AIR_TEMP"))
_soil = ADC(Pin("SOIL"))


def air_temperature() -> float:
    """Return the air temperature in degrees Celsius."""
    return _air.read() * 3.3 / 4095 * 100 - 50


def soil_moisture() -> float:
    """Return the soil moisture in percent."""
    return _soil.read() / 4095 * 100


def door_closed() -> bool:
    """Return whether the door is closed."""
    return _door.value() == 0


def heat(on: bool) -> None:
    """Switch the heating mat. It goes off by itself above 45 degrees and after ten minutes."""
    _heater.value(on)


def water(on: bool) -> None:
    """Switch the pump. It runs a minute at most, with water in the tank and the drain shut."""
    _pump.value(on)


def drain(on: bool) -> None:
    """Open or shut the drain valve. It stays shut while the pump runs."""
    _drain.value(on)


def fan(on: bool) -> None:
    """Switch the fan, at most six times a minute."""
    _fan.value(on)


def lamp(on: bool) -> None:
    """Switch the lamp."""
    _lamp.value(on)
