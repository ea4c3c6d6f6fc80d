# sys.exit raises SystemExit, which except Exception does not catch.
import sys

for arg in (0, 3, "text"):
    try:
        try:
            sys.exit(arg)
        except Exception:
            print("never")
    except SystemExit as e:
        print(repr(e.args[0]))
try:
    sys.exit()
except SystemExit as e:
    print("plain", isinstance(e, Exception))
