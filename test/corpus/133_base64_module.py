# The base64 module's encoders.
import base64

for s in (b"", b"any carnal pleas", b"\x00\xff\xfe", b"pin=1"):
    e = base64.b64encode(s)
    print(e, base64.b64decode(e) == s)
print(base64.b32encode(b"hello"), base64.b32decode(b"NBSWY3DP"))
print(base64.b16encode(b"\x01\xab"), base64.urlsafe_b64encode(b"\xfb\xff"))
