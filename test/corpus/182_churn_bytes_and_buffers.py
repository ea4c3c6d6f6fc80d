# Growing buffers, copies and slices of bytes.
buf = bytearray()
check = 0
for i in range(600):
    buf.extend(bytes([i & 255]) * 5)
    if len(buf) > 1000:
        check = (check * 17 + sum(buf[:100])) % 65521
        buf = buf[500:]
print(len(buf), check)
parts = [bytes(200) for _ in range(50)]
for i in range(300):
    parts[i % 50] = bytes([i % 256]) * (i % 97 + 1)
print(sum(len(p) for p in parts), parts[49][:3])
