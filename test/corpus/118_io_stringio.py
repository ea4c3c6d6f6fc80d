# Text streams in memory.
import io

f = io.StringIO()
print("hello", "world", sep="-", end="!\n", file=f)
f.write("second line\n")
print(repr(f.getvalue()))
f.seek(0)
print(repr(f.readline()), repr(f.read(6)), repr(f.read()), repr(f.read()))
g = io.StringIO("a\nbb\nccc")
print([line.rstrip("\n") for line in g])
with io.StringIO("x") as h:
    print(h.read())
try:
    h.read()
except (ValueError, OSError):
    print("closed")
f = io.StringIO("abcdef")
f.seek(3)
f.write("XY")
print(f.getvalue(), f.tell())
