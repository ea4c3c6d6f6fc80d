# NUL, line separators and controls are characters like any other.
s = "a\0b\0\0c"
print(len(s), s.split("\0"), s.replace("\0", "."), s.find("\0"), s.count("\0"))
print([ord(c) for c in s], s == "a\x00b\x00\x00c", "\0" < "\x01")
d = {"\0": "nul", "": "empty"}
print(d["\0"], d[""], len(d))
t = "one\u2028two\u2029three\x85four"
print(len(t), len(t.encode()), [hex(ord(c)) for c in t if ord(c) > 127])
print(b"\0x\0".split(b"\0"), len(b"\0\0"))
print("bell\x07 esc\x1b[0m del\x7f end")
print("visible\0hidden")
