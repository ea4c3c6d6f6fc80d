# Bytes that are not UTF-8 do not become text.
for b in (b"\xff", b"\xc3", b"\xe6\x97", b"ok\x80"):
    try:
        print(b.decode())
    except UnicodeError:
        print(b, "UnicodeError")
print(b"\xc3\xa9".decode("utf-8"), str(b"abc", "utf-8"))
try:
    chr(0x110000)
except ValueError:
    print("past the last character")
