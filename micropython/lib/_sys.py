# The module sys as programs see it: the engine's own, with what names the machine put right.
import sys as _engine
from collections import namedtuple as _namedtuple
import _pal

for _name in dir(_engine):
    if _name not in ("__class__", "__dict__"):
        globals()[_name] = getattr(_engine, _name)
argv = [""]
platform = "pal"
version = "3.4.0; MicroPython v1.27.0; PAL " + _pal.pal_version
implementation = _namedtuple("implementation", ("name", "version", "_machine", "_mpy", "_build"))(
    "micropython", (1, 27, 0, ""), "PAL " + _pal.board_name, _engine.implementation._mpy, "pal")
del _engine, _namedtuple, _pal, _name
