# Bytes: literals, indexing, slicing, methods.
b = b"hello\x00\xff"
print(b, len(b), b[0], b[-1], b[1:4], bytes(reversed(b)))
print(b"a" + b"b", b"ab" * 2, b"ell" in b, 104 in b)
print(bytes(3), bytes([65, 66, 67]), bytes("é", "utf-8"))
print(b"x,y,z".split(b","), b"-".join([b"1", b"2"]), b"abc".replace(b"b", b"BB"))
print(b.find(b"l"), b.startswith(b"he"), b"ABC".lower())
print(b"abc".decode(), "héllo".encode())
print(b"a" < b"b", b"a" == b"a", b"a" == "a")
for x in b"hi":
    print(x, end=" ")
print()
try:
    bytes([256])
except ValueError:
    print("256 does not fit")
