# Fixed layouts in both byte orders.
import struct

print(struct.pack("<BHI", 1, 2, 3), struct.pack(">BHI", 1, 2, 3))
print(struct.unpack("<hhH", b"\xff\xff\x01\x00\xff\xff"))
print(struct.calcsize("<BHIQ"), struct.calcsize(">bhiq"), struct.calcsize("<4s2B"))
print(struct.unpack(">f", struct.pack(">f", 1.5))[0], struct.unpack("<d", struct.pack("<d", -2.25))[0])
print(struct.pack("<5s", b"abc"), struct.pack("3B", 1, 2, 3))
buf = bytearray(8)
struct.pack_into("<HH", buf, 2, 0x1234, 0xABCD)
print(buf, struct.unpack_from("<H", buf, 4))
print(struct.unpack("<q", b"\xfe" + b"\xff" * 7), struct.unpack("<Q", b"\xff" * 8))
print(struct.unpack(">2x1B", b"\x00\x00\x07"))
try:
    struct.unpack("<I", b"\x00")
except Exception as e:
    print("too short")
