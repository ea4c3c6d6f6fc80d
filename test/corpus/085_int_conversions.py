# Numbers to text, text to numbers, bytes to numbers.
for t in ("0", "-0", "+5", " 7 ", "0012", "1_000"):
    print(repr(t), int(t))
for t in ("", "-", "1.5", "0x10", "1 2", "five", "--1"):
    try:
        print(int(t))
    except ValueError:
        print("ValueError", repr(t))
print(int("10", 2), int("10", 8), int("10", 16), int("0o17", 0), int("0B11", 0))
print(int(True), int(2.9), str(-0), str(1e3), float("1e-2"))
print((1000).to_bytes(2, "big"), (1000).to_bytes(4, "little"), int.from_bytes(b"\x01\x02", "big"))
print(int.from_bytes(b"\xff\xff\xff\x7f", "little"), int(b"42"))
print(ord("a"), chr(0x41), bool("False"), bool(""))
