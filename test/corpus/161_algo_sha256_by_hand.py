# SHA-256 in Python against the library.
import binascii
import hashlib

def primes(n):
    out, k = [], 2
    while len(out) < n:
        if all(k % p for p in out):
            out.append(k)
        k += 1
    return out

def root_bits(p, k):
    lo, hi = 0, 1 << 40
    while hi - lo > 1:
        mid = (lo + hi) >> 1
        if mid ** k <= p << (32 * k):
            lo = mid
        else:
            hi = mid
    return lo & 0xFFFFFFFF

P = primes(64)
K = [root_bits(p, 3) for p in P]
H = [root_bits(p, 2) for p in P[:8]]
M = 0xFFFFFFFF
rot = lambda x, n: (x >> n | x << (32 - n)) & M

def sha256(data):
    h = H[:]
    data = data + b"\x80" + b"\0" * ((55 - len(data)) % 64) + (len(data) * 8).to_bytes(8, "big")
    for i in range(0, len(data), 64):
        w = [int.from_bytes(data[i + 4 * j:i + 4 * j + 4], "big") for j in range(16)]
        for j in range(16, 64):
            s0 = rot(w[j - 15], 7) ^ rot(w[j - 15], 18) ^ w[j - 15] >> 3
            s1 = rot(w[j - 2], 17) ^ rot(w[j - 2], 19) ^ w[j - 2] >> 10
            w.append((w[j - 16] + s0 + w[j - 7] + s1) & M)
        a, b, c, d, e, f, g, hh = h
        for j in range(64):
            t1 = hh + (rot(e, 6) ^ rot(e, 11) ^ rot(e, 25)) + (e & f ^ ~e & M & g) + K[j] + w[j]
            t2 = (rot(a, 2) ^ rot(a, 13) ^ rot(a, 22)) + (a & b ^ a & c ^ b & c)
            a, b, c, d, e, f, g, hh = (t1 + t2) & M, a, b, c, (d + t1) & M, e, f, g
        h = [(x + y) & M for x, y in zip(h, (a, b, c, d, e, f, g, hh))]
    return b"".join(x.to_bytes(4, "big") for x in h)

for m in (b"", b"abc", b"x" * 56):
    d = sha256(m)
    print(binascii.hexlify(d).decode(), d == hashlib.sha256(m).digest())
