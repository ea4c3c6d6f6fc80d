# Base 64 written out, checked against the library.
import binascii

ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

def encode(data):
    out = ""
    for i in range(0, len(data), 3):
        chunk = data[i:i + 3]
        n = int.from_bytes(chunk + b"\0" * (3 - len(chunk)), "big")
        quad = "".join(ALPHABET[n >> s & 63] for s in (18, 12, 6, 0))
        out += quad[:len(chunk) + 1] + "=" * (3 - len(chunk))
    return out

def decode(text):
    out = bytearray()
    for i in range(0, len(text), 4):
        quad = text[i:i + 4]
        n = 0
        for c in quad:
            n = n << 6 | (ALPHABET.index(c) if c != "=" else 0)
        out.extend(n.to_bytes(3, "big")[:3 - quad.count("=")])
    return bytes(out)

for s in (b"", b"M", b"Ma", b"Man", bytes(range(250, 256))):
    e = encode(s)
    print(s, e, decode(e) == s, e.encode() + b"\n" == binascii.b2a_base64(s))
