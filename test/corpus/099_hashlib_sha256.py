# Known digests, one shot and in pieces.
import binascii
import hashlib

def hexdigest(data):
    return binascii.hexlify(hashlib.sha256(data).digest()).decode()

print(hexdigest(b""))
print(hexdigest(b"abc"))
print(hexdigest(b"a" * 1000))
h = hashlib.sha256()
for part in (b"The quick brown ", b"fox jumps over ", b"the lazy dog"):
    h.update(part)
print(binascii.hexlify(h.digest()).decode())
print(hexdigest(b"The quick brown fox jumps over the lazy dog") == hexdigest(b"The quick brown fox jumps over the lazy dog."))
print(len(hashlib.sha256(b"x").digest()))
chain = b"seed"
for _ in range(50):
    chain = hashlib.sha256(chain).digest()
print(binascii.hexlify(chain[:8]))
