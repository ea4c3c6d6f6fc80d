# Warnings go to standard error.
import sys


def warn(message, category=None, stacklevel=1):
    print("%s: %s" % ("UserWarning" if category is None else category.__name__, message), file=sys.stderr)


def simplefilter(*args, **kw):
    pass


filterwarnings = simplefilter
