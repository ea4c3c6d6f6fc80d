# Exceptions by statements: which clause runs, in what order, and what is left.
trace = []


def run(name, f):
    del trace[:]
    try:
        r = f()
    except Exception as e:
        r = "!" + type(e).__name__
    print(name, "->", r, trace)


def t(x):
    trace.append(x)
    return x


def order():
    try:
        t("try")
    except ValueError:
        t("except")
    else:
        t("else")
    finally:
        t("finally")


def caught():
    try:
        t("try")
        raise ValueError("a", 1)
    except (KeyError, ValueError) as e:
        t(e.args)
    else:
        t("else")
    finally:
        t("finally")


def missed():
    try:
        raise ValueError
    except KeyError:
        t("except")
    finally:
        t("finally")


def returns():
    try:
        return t("return")
    finally:
        t("finally")


def overrides():
    try:
        return 1
    finally:
        return 2


def swallows():
    while True:
        try:
            1 / 0
        finally:
            break
    return "went on"


def loops():
    for k in range(3):
        try:
            if k == 1:
                continue
            t(k)
        finally:
            t("f")


def nested():
    try:
        try:
            raise KeyError("inner")
        except ValueError:
            t("no")
        finally:
            t("first")
    except KeyError as e:
        t(e.args[0])
        try:
            raise
        except KeyError:
            t("again")


def in_handler():
    try:
        raise KeyError
    except KeyError:
        raise ValueError("from handler")


def in_finally():
    try:
        raise KeyError
    finally:
        raise ValueError


def bare_raise():
    raise


def raise_int():
    raise 5


def raise_from():
    try:
        raise KeyError("a")
    except KeyError as e:
        raise ValueError("b") from e


def from_none():
    raise ValueError("c") from None


class Own(Exception):
    def __init__(self, code):
        super().__init__("code", code)
        self.code = code


def own():
    try:
        raise Own(7)
    except Exception as e:
        return e.code, e.args, isinstance(e, Own)


def subclass_first():
    try:
        raise Own(1)
    except Exception:
        return "general"
    except Own:
        return "special"


class Manager:
    def __init__(self, swallow):
        self.swallow = swallow

    def __enter__(self):
        t("enter")
        return self

    def __exit__(self, kind, value, trace):
        t(kind.__name__ if kind else None)
        return self.swallow


def with_plain():
    with Manager(False) as m:
        return m.swallow


def with_raise(swallow):
    with Manager(swallow):
        raise IndexError
    return "after"


def with_two():
    with Manager(True), Manager(False):
        raise IndexError


def asserts(ok):
    assert ok, "message"
    return "passed"


for f in (order, caught, missed, returns, overrides, swallows, loops, nested, in_handler, in_finally, bare_raise, raise_int,
          raise_from, from_none, own, subclass_first, with_plain, with_two):
    run(f.__name__ if hasattr(f, "__name__") else "?", f)
run("with_raise true", lambda: with_raise(True))
run("with_raise false", lambda: with_raise(False))
run("asserts", lambda: asserts(1))
run("asserts not", lambda: asserts(0))
for kind, base in ((KeyError, LookupError), (IndexError, LookupError), (ZeroDivisionError, ArithmeticError), (OverflowError, ArithmeticError),
                   (NotImplementedError, RuntimeError), (ValueError, Exception), (OSError, Exception), (EOFError, Exception),
                   (StopIteration, Exception), (GeneratorExit, BaseException), (KeyboardInterrupt, BaseException), (SystemExit, BaseException)):
    print(kind.__name__, issubclass(kind, base), issubclass(kind, Exception))
