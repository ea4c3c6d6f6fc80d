# import, from, as, and a missing module.
import math as m
import sys, json
from math import floor, ceil as up
from collections import *

print(m.floor(1.5), floor(2.5), up(2.5), json.dumps([1]))
print(m.__name__, "__main__" in (__name__, ""))
for name in ("no_such_module", "math.nothing"):
    try:
        __import__(name)
    except ImportError:
        print("ImportError", name)
try:
    from math import no_such_function
except ImportError:
    print("cannot import name")

def local():
    import struct
    return struct.calcsize("<H")

print(local(), __name__)
