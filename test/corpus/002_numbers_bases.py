# Literals and conversions in several bases.
print(0x1F, 0b1011, 0o17, 1_000_000)
print(hex(255), bin(10), oct(64), hex(-1), bin(-5))
print(int("ff", 16), int("0x1f", 16), int("0b101", 2), int("z", 36), int("  42  "), int("-17"))
print(int("1011", 2) ^ 0b0110, ~0, ~5, 1 << 12, 1024 >> 3, -9 >> 1)
print("%x %X %o %d %5d|%-5d|%05d" % (254, 254, 8, 7, 7, 7, 7))
print("{:b} {:o} {:x} {:X} {:#x} {:08b}".format(37, 37, 37, 200, 200, 37))
