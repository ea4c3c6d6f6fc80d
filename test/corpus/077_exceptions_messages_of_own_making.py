# Catch, then print type and message, for messages the program made.
def fail(kind, *args):
    raise kind(*args)

for kind in (ValueError, TypeError, RuntimeError, KeyError, OSError, IndexError, NotImplementedError,
             AttributeError, ArithmeticError, LookupError, AssertionError, Exception):
    try:
        fail(kind, "message %d" % len(kind.__name__))
    except Exception as e:
        print(type(e).__name__, "|", e.args[0], "|", len(e.args))
try:
    fail(ValueError)
except ValueError as e:
    print(repr(str(e)), e.args)
try:
    fail(ValueError, 1, "two", None)
except ValueError as e:
    print(e, e.args)
