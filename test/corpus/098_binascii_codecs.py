# Hexadecimal and base 64 both ways.
import binascii

data = bytes(range(0, 256, 17))
h = binascii.hexlify(data)
print(h, binascii.unhexlify(h) == data)
for s in (b"", b"f", b"fo", b"foo", b"foob", b"fooba", b"foobar"):
    e = binascii.b2a_base64(s)
    print(s, e, binascii.a2b_base64(e) == s)
print(binascii.crc32(b"123456789"), binascii.crc32(b""), binascii.crc32(b"56789", binascii.crc32(b"1234")))
print(binascii.hexlify(b"\x01\x02\x03", ":"))
for bad in ("abc", "zz"):
    try:
        binascii.unhexlify(bad)
    except ValueError:
        print("not hex:", bad)
