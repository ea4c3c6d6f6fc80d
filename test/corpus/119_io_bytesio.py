# Byte streams in memory.
import io

f = io.BytesIO()
print(f.write(b"abc"), f.write(bytearray(b"\x00\x01")))
print(f.getvalue(), f.tell())
f.seek(1)
print(f.read(2), f.read())
buf = bytearray(4)
f.seek(0)
print(f.readinto(buf), buf)
f.seek(-1, 2)
print(f.read())
g = io.BytesIO(b"line1\nline2\n")
print(g.readline(), g.readline(), g.readline())
