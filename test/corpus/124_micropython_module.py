# micropython-only
# const, opt_level and the emergency helpers exist.
import micropython
from micropython import const

_LIMIT = const(12)
RATE = const(1 << 4)
print(_LIMIT + 1, RATE, const(5))
print(micropython.opt_level())
ran = []
micropython.schedule(lambda x: ran.append(x), 7)
for _ in range(100):
    pass
print(ran)
print(callable(micropython.heap_lock), micropython.stack_use() >= 0)
