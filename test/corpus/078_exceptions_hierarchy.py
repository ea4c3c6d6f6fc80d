# Which handler catches which class.
tree = [
    (ZeroDivisionError, ArithmeticError), (OverflowError, ArithmeticError), (KeyError, LookupError),
    (IndexError, LookupError), (NotImplementedError, RuntimeError), (ArithmeticError, Exception),
    (OSError, Exception), (StopIteration, Exception), (AssertionError, Exception), (UnicodeError, ValueError),
    (KeyboardInterrupt, BaseException), (SystemExit, BaseException), (GeneratorExit, BaseException),
    (IndentationError, SyntaxError), (ImportError, Exception), (MemoryError, Exception),
]
for child, parent in tree:
    try:
        raise child("x")
    except parent as e:
        print(child.__name__, "is a", parent.__name__)
for quiet in (KeyboardInterrupt, SystemExit, GeneratorExit):
    print(quiet.__name__, issubclass(quiet, Exception))
