# The module micropython as programs see it: the engine's own, but schedule() goes through the queue that interrupt handlers
# use, so that the engine's few places are never taken when the host needs one.
import micropython as _engine
import _pal

for _name in dir(_engine):
    if _name not in ("__class__", "__dict__"):
        globals()[_name] = getattr(_engine, _name)
schedule = _pal.schedule


def native(f):
    return f


viper = native
del _engine, _pal, _name
