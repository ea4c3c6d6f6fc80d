# Re-raising, replacing, and chaining with from.
def low():
    raise OSError(5, "bus")

def middle():
    try:
        low()
    except OSError as e:
        print("middle saw", e.args[0])
        raise

def high():
    try:
        middle()
    except OSError as e:
        raise RuntimeError("high level") from e

try:
    high()
except RuntimeError as e:
    print(type(e).__name__, e)

def swap():
    try:
        1 / 0
    except ZeroDivisionError:
        raise ValueError("swapped") from None

try:
    swap()
except ValueError as e:
    print(e)
try:
    try:
        raise KeyError("inner")
    finally:
        print("cleanup first")
except KeyError as e:
    print("then", e.args)
try:
    raise
except RuntimeError:
    print("nothing to raise again")
