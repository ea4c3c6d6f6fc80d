# micropython-only
import sys

print(sys.implementation.name, sys.byteorder, sys.maxsize > 2 ** 20)
print(isinstance(sys.version, str), sys.version_info[0])
print(type(sys.modules).__name__, isinstance(sys.path, list))
try:
    sys.exit(3)
except SystemExit as e:
    print("SystemExit", e.args)
sys.stdout.write("written\n")
import io
try:
    1 / 0
except ZeroDivisionError as e:
    out = io.StringIO()
    sys.print_exception(e, out)
    lines = out.getvalue().split("\n")
    print(lines[0], lines[-2].split(":")[0])
