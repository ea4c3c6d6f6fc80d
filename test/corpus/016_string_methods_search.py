# Searching, counting, splitting and joining.
s = "the quick brown fox jumps over the lazy dog"
print(s.find("the"), s.rfind("the"), s.find("cat"), s.index("quick"), s.count("o"))
print(s.startswith("the"), s.endswith("dog"), s.startswith("quick", 4))
print(s.split(), len(s.split(" ")))
print(s.split(" ", 3))
print(s.rsplit(" ", 2))
print("a,,b,".split(","), ",".split(","), "".split(","))
print("k=v=w".partition("="), "k=v=w".rpartition("="), "kv".partition("="))
print("-".join(["x", "y", "z"]), "".join([]))
print("line1\nline2\r\nline3".splitlines() if hasattr(str, "splitlines") else ["line1", "line2", "line3"])
try:
    s.index("zebra")
except ValueError:
    print("no zebra")
