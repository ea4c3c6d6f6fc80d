# micropython-only
# The traceback text of a nested failure, as a program may print it.
import io
import sys

def low(x):
    return 10 // x

def high():
    return [low(x) for x in (1, 0)]

try:
    high()
except ZeroDivisionError as e:
    out = io.StringIO()
    sys.print_exception(e, out)
    for line in out.getvalue().split("\n"):
        print("in " + line.split(" in ")[1] if " in " in line else line)
