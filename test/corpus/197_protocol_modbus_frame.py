# Modbus requests: build, check, answer and refuse.
import struct

def crc16(data):
    r = 0xFFFF
    for b in data:
        r ^= b
        for _ in range(8):
            r = r >> 1 ^ 0xA001 if r & 1 else r >> 1
    return struct.pack("<H", r)

class Slave:
    def __init__(self, address, registers):
        self.address, self.reg = address, registers

    def answer(self, f):
        if len(f) < 4 or crc16(f[:-2]) != f[-2:] or f[0] != self.address:
            return None
        fn = f[1]
        if fn == 3:
            start, n = struct.unpack(">HH", f[2:6])
            if start + n > len(self.reg):
                body = bytes([fn | 0x80, 2])
            else:
                body = bytes([fn, 2 * n]) + b"".join(struct.pack(">H", v) for v in self.reg[start:start + n])
        elif fn == 6:
            a, v = struct.unpack(">HH", f[2:6])
            self.reg[a] = v
            body = f[1:6]
        else:
            body = bytes([fn | 0x80, 1])
        out = bytes([self.address]) + body
        return out + crc16(out)

def request(address, fn, a, b):
    f = struct.pack(">BBHH", address, fn, a, b)
    return f + crc16(f)

s = Slave(17, [100, 200, 300, 400])
for q in (request(17, 3, 1, 2), request(17, 6, 2, 999), request(17, 3, 2, 1), request(17, 3, 3, 5), request(17, 7, 0, 0), request(9, 3, 0, 1)):
    print(q, s.answer(q))
print(s.answer(b"\x11\x03\x00\x00\x00\x01\xff\xff"), s.reg)
