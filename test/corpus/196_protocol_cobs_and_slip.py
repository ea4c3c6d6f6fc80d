# Byte stuffing: COBS and SLIP both ways.
def cobs(data):
    out, block = bytearray(), bytearray()
    for b in data + b"\0":
        if b == 0:
            out.append(len(block) + 1)
            out.extend(block)
            block = bytearray()
        else:
            block.append(b)
            if len(block) == 254:
                out.append(255)
                out.extend(block)
                block = bytearray()
    return bytes(out)

def uncobs(data):
    out, i = bytearray(), 0
    while i < len(data):
        n = data[i]
        out.extend(data[i + 1:i + n])
        i += n
        if n < 255 and i < len(data):
            out.append(0)
    return bytes(out)

def slip(data):
    return data.replace(b"\xdb", b"\xdb\xdd").replace(b"\xc0", b"\xdb\xdc") + b"\xc0"

def unslip(data):
    return data[:-1].replace(b"\xdb\xdc", b"\xc0").replace(b"\xdb\xdd", b"\xdb")

for d in (b"", b"\0", b"\0\0", b"\x11\x22\0\x33", b"\xc0\xdb\xdc", bytes(range(1, 9))):
    print(cobs(d), uncobs(cobs(d)) == d, slip(d), unslip(slip(d)) == d)
long = bytes(i % 255 + 1 for i in range(600))
print(0 not in cobs(long), len(cobs(long)), uncobs(cobs(long)) == long)
