# A bytearray changes in place.
ba = bytearray(b"abc")
ba[0] = 65
ba.append(100)
ba.extend(b"ef")
print(ba, len(ba), bytes(ba))
ba[1:3] = b"--"
print(ba)
ba += b"!"
print(ba, ba == b"A--def!")
buf = bytearray(4)
for i in range(4):
    buf[i] = i * 16
print(buf)
print(list(buf), sum(buf))
mv = memoryview(buf)
mv[1:3] = b"zz"
print(buf, mv[1], len(mv), bytes(mv[2:]))
try:
    buf[10] = 1
except IndexError:
    print("out of range")
