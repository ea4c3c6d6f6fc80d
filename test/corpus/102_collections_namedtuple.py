# Named fields over a plain tuple.
from collections import namedtuple

Point = namedtuple("Point", ("x", "y"))
p = Point(1, y=2)
print(p.x, p.y, p[0], len(p), p == (1, 2), tuple(p))
x, y = p
print(x + y, isinstance(p, tuple), p)
Reading = namedtuple("Reading", "time value unit")
rs = [Reading(3, 1.5, "V"), Reading(1, 2.5, "V")]
for r in sorted(rs):
    print(r.time, r.value, r.unit)
print(max(rs, key=lambda r: r.value))
for bad in (lambda: Point(1), lambda: Point(1, 2, 3), lambda: Point(1, z=2)):
    try:
        bad()
    except TypeError:
        print("TypeError")
try:
    p.x = 5
except AttributeError:
    print("read only")
