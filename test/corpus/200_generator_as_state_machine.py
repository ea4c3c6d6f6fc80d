# A parser written as a generator that is fed one byte at a time.
def parser(emit):
    while True:
        b = yield
        if b != 0x7E:
            continue
        n = yield
        body = bytearray()
        for _ in range(n):
            body.append((yield))
        check = yield
        emit(bytes(body) if sum(body) & 0xFF == check else "bad checksum")

out = []
p = parser(out.append)
next(p)
stream = b"noise\x7e\x03abc" + bytes([sum(b"abc") & 0xFF]) + b"\x7e\x02hi\x00" + b"??\x7e\x00\x00" + b"\x7e\x05par"
for byte in stream:
    p.send(byte)
print(out)
for byte in b"ty" + bytes([sum(b"party") & 0xFF]):
    p.send(byte)
print(out[-1])
