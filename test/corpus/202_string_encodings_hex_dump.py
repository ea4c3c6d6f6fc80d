# A hex dump of mixed bytes.
def dump(data, width=8):
    for i in range(0, len(data), width):
        row = data[i:i + width]
        left = " ".join("%02x" % b for b in row)
        right = "".join(chr(b) if 32 <= b < 127 else "." for b in row)
        print("%04x  %-*s  %s" % (i, width * 3 - 1, left, right))

dump(b"Hello, board!\r\n\x00\x01\xfe\xff" + "é😀".encode())
dump(bytes(range(60, 70)), 4)
print(bytes.fromhex("48692021") if hasattr(bytes, "fromhex") else b"Hi !")
