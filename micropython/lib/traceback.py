# Exceptions as text. MicroPython keeps the trace in the exception, so that this asks for one: the one being handled is not known.
import io, sys


def format_exception(e, value=None, tb=None):
    out = io.StringIO()
    sys.print_exception(e if value is None else value, out)
    return out.getvalue().splitlines(True)


def print_exception(e, value=None, tb=None, limit=None, file=None):
    sys.print_exception(e if value is None else value, sys.stderr if file is None else file)


def format_exception_only(e, value=None):
    return format_exception(e, value)[-1:]
