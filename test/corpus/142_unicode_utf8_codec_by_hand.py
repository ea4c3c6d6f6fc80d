# Encoding UTF-8 by hand agrees with the engine.
def encode(cp):
    if cp < 0x80:
        return bytes([cp])
    if cp < 0x800:
        return bytes([0xC0 | cp >> 6, 0x80 | cp & 63])
    if cp < 0x10000:
        return bytes([0xE0 | cp >> 12, 0x80 | cp >> 6 & 63, 0x80 | cp & 63])
    return bytes([0xF0 | cp >> 18, 0x80 | cp >> 12 & 63, 0x80 | cp >> 6 & 63, 0x80 | cp & 63])

for cp in (0, 0x41, 0x7F, 0x80, 0x7FF, 0x800, 0x20AC, 0xFFFD, 0x10000, 0x1F680, 0x10FFFF):
    print("U+%04X" % cp, encode(cp), encode(cp) == chr(cp).encode(), ord(encode(cp).decode()) == cp)
