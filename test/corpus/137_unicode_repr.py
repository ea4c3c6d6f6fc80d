# repr keeps printable text readable inside containers.
print({"k": "plain"}, ["tab\t", "nl\n", "\x01", "\x7f"])
print(repr("quote's"), [b"\xc3\xa9"], "é".encode("utf-8"))
print("\u0041\u00e9\u65e5\U0001F600")
print(len("\u2028"), len("\ufeff"), len("\u0000"))
