# Long integers under shifts and masks, positive and negative.
a = 0x123456789ABCDEF0123456789ABCDEF
b = -a
print(a << 37)
print(a >> 61, b >> 61)
print(a & 0xFFFFFFFFFFFF, b & 0xFFFFFFFFFFFF)
print(a | (1 << 130), b | 1)
print(a ^ b, ~a)
print(hex(a * a))
print((1 << 200) >> 199, (1 << 64) - 1, -(1 << 63))
