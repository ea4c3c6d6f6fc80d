# micropython-only
# How this engine prints the things other Pythons print otherwise.
print(bytearray(b"ab"), memoryview(b"x") is not None)
print(range(3), type(range(3)), type(lambda: 0), type(None))
print(Exception("a"), repr(Exception("a")), repr(KeyError("k")))
print({1}, frozenset({1}), {1: 2}, (1,), [None, ...] == [None, Ellipsis])
print(1e100, 1.0, 100000.0, 1e16, 1e-5, 0.1, 1 / 3)
print("a'b", repr("a'b"), [b"\x00'"])
print(hash("a") == hash("a"), id(None) == id(None))
