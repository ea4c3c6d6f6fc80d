# micropython-only
# A stream made elsewhere expands to its text; it may be read in pieces.
import binascii
import deflate
import io

z = binascii.unhexlify("789cf348cdc9c95708cf2fca4951400800" "2b0d045d")
d = deflate.DeflateIO(io.BytesIO(z[:-4]), deflate.ZLIB)
print(d.read(5))
stored = b"\x01\x05\x00\xfa\xff" + b"plain"
r = deflate.DeflateIO(io.BytesIO(stored), deflate.RAW)
print(r.read(2), r.read())
buf = bytearray(3)
r = deflate.DeflateIO(io.BytesIO(stored), deflate.RAW)
print(r.readinto(buf), buf)
