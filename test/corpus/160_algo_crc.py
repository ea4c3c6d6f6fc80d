# CRC-8, CRC-16 and CRC-32 bit by bit.
import binascii

def crc(data, width, poly, init=0, reflect=False, xor=0):
    mask, top = (1 << width) - 1, 1 << (width - 1)
    r = init
    for b in data:
        if reflect:
            r ^= b
            for _ in range(8):
                r = r >> 1 ^ poly if r & 1 else r >> 1
        else:
            r ^= b << (width - 8)
            for _ in range(8):
                r = (r << 1 ^ poly if r & top else r << 1) & mask
    return r ^ xor

check = b"123456789"
print("%02x" % crc(check, 8, 0x07))
print("%02x" % crc(b"\xbe\xef", 8, 0x31, init=0xFF))
print("%04x" % crc(check, 16, 0x1021, init=0xFFFF))
print("%04x" % crc(check, 16, 0xA001, init=0xFFFF, reflect=True))
c32 = crc(check, 32, 0xEDB88320, init=0xFFFFFFFF, reflect=True, xor=0xFFFFFFFF)
print("%08x" % c32, c32 == binascii.crc32(check))
