# Bit masks as a driver would use them on a status register.
def bits(value, width=8):
    return "".join("1" if value & (1 << i) else "0" for i in range(width - 1, -1, -1))

reg = 0b0010_0100
print(bits(reg))
reg |= 1 << 7
print(bits(reg))
reg &= ~(1 << 2)
print(bits(reg & 0xFF))
reg ^= 0xFF
print(bits(reg))
print(bits((reg << 3) & 0xFF), bits(reg >> 3))

def popcount(n):
    count = 0
    while n:
        n &= n - 1
        count += 1
    return count

print([popcount(n) for n in (0, 1, 255, 256, 0xABCDEF, 2 ** 70 - 1)])

def signed16(n):
    return n - 65536 if n & 0x8000 else n

print(signed16(0x7FFF), signed16(0x8000), signed16(0xFFFF))
