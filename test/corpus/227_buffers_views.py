# bytearray and memoryview: what changes what, and what is refused.
import struct


def run(name, f):
    try:
        print(name, "->", f())
    except Exception as e:
        print(name, "->", type(e).__name__)


b = bytearray(b"hello")
b[0] = 72
b[-1] = ord("O")
print(b, bytes(b), len(b), b[1], b[1:3])
b[1:3] = b"EE"
print(b)
b[5:] = b"!!"
print(b)
b[0:0] = b">"
print(b)
b[1:4] = b""
print(b)
b.append(33)
b.extend(b"xy")
print(b)
b += b"z"
print(b, b == b">lO!!!xyz", b.find(b"x"))
run("text", lambda: b.extend(5))
run("index", lambda: b[50])
m = memoryview(b)
m[0] = 35
print(b[0], m[0], len(m), bytes(m[2:5]))
w = m[2:5]
w[0] = 42
w[1:3] = b"ab"
print(b)
run("length", lambda: exec("w[0:2] = b'abc'", {"w": w}))
run("read only", lambda: exec("v[0] = 1", {"v": memoryview(b"abc")}))
run("view of int", lambda: memoryview(5))
print(list(memoryview(bytearray(3))), memoryview(b"abc")[1:] == b"bc", bytes(memoryview(b"abc")[-2:]))
buf = bytearray(8)
struct.pack_into("<HB", buf, 2, 0x1234, 7)
print(buf, struct.unpack_from("<H", buf, 2), struct.unpack_from("<HB", memoryview(buf)[2:]))
acc = 0
for x in memoryview(b"\x01\x02\x03"):
    acc += x
print(acc, sum(bytearray(b"\x05\x06")), max(b"\x01\xff"), sorted(bytearray(b"cab")))
print(b"".join([b"a", b"b"]), b"-".join((b"1", b"2")), b"x" * 3)
print(bytes(bytearray(b"abc")[::1]), b"abc"[0:2], bytearray(b"abc") < bytearray(b"abd"), b"a" == bytearray(b"a"))
c = bytearray(b"abc")
d = bytearray(c)
d[0] = 0
print(c, d, c is d, bytearray(memoryview(c)[1:]))
grid = [bytearray(4) for _ in range(2)]
grid[1][2] = 9
print(grid)
checksum = 0
for x in bytearray(range(10)):
    checksum = (checksum * 31 + x) & 0xFFFF
print(checksum, int.from_bytes(bytearray(b"\x01\x02"), "big"), (258).to_bytes(2, "little"))
