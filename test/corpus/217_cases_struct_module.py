# Expressions, each with its value or the class of the exception.
import struct

CASES = r'''
struct.pack("B", 255)
struct.pack("b", -1)
struct.pack("<H", 258)
struct.pack(">H", 258)
struct.pack("<I", 1)
struct.pack(">I", 1)
struct.pack("<i", -2)
struct.pack("<Q", 2 ** 63)
struct.pack(">q", -1)
struct.pack("<f", 1.5)
struct.pack(">d", -2.0)
struct.pack("<BH", 1, 2)
struct.pack("BB", 1, 2)
struct.pack("3s", b"ab")
struct.pack("2s", b"abc")
struct.pack("<3B", 1, 2, 3)
struct.pack("x")
struct.unpack("<H", b"\x01\x02")
struct.unpack(">H", b"\x01\x02")
struct.unpack("<h", b"\xff\xff")
struct.unpack("<3s", b"abc")
struct.unpack("<f", b"\x00\x00\xc0?")
struct.unpack("<d", struct.pack("<d", 0.1))
struct.unpack("<Q", b"\xff" * 8)
struct.unpack_from("<H", b"\x00\x01\x02", 1)
struct.unpack_from("<B", b"\x00\x01\x02", -1)
struct.calcsize("<BHI")
struct.calcsize("<3s2B")
struct.calcsize("<qd")
struct.unpack("<2B", b"\x05\x06")
struct.unpack(">bhl", b"\xff\xff\xfe\xff\xff\xff\xfd")
struct.pack(">bhl", -1, -2, -3)
struct.unpack("<e", struct.pack("<e", 1.5))
struct.unpack("<4s", b"\x00\x01\x02\x03")
struct.pack("!H", 1)
'''

for case in CASES.strip().split("\n"):
    try:
        print(case, "->", repr(eval(case)))
    except Exception as e:
        print(case, "->", type(e).__name__)
