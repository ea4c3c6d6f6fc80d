# Building and reading a framed packet with a checksum.
import struct

def checksum(data):
    return (~sum(data) + 1) & 0xFF

def frame(kind, seq, values):
    body = struct.pack("<BBB", kind, seq, len(values)) + b"".join(struct.pack("<h", v) for v in values)
    return b"\xAA\x55" + body + bytes([checksum(body)])

def parse(raw):
    if raw[:2] != b"\xAA\x55":
        raise ValueError("no start mark")
    if checksum(raw[2:-1]) != raw[-1]:
        raise ValueError("bad checksum")
    kind, seq, n = struct.unpack_from("<BBB", raw, 2)
    return kind, seq, list(struct.unpack_from("<%dh" % n, raw, 5))

raw = frame(7, 42, [-100, 0, 32767])
print(len(raw), raw)
print(parse(raw))
for damage in (0, 5, len(raw) - 1):
    bad = bytearray(raw)
    bad[damage] ^= 1
    try:
        parse(bytes(bad))
    except ValueError as e:
        print(damage, e)
