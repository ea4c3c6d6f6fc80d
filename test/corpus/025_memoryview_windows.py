# A memory view shares storage with what it looks at.
data = bytearray(range(16))
view = memoryview(data)
head, tail = view[:8], view[8:]
head[0] = 255
tail[7] = 254
print(data[0], data[15], list(head), list(tail))
inner = tail[2:6]
inner[:] = b"abcd"
print(bytes(data))
print(view[3:5] == b"\x03\x04", len(inner))
total = 0
for b in inner:
    total += b
print(total)
