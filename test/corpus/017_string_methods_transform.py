# Case, stripping, replacing and classifying.
print("  pad ".strip() + "|", repr("  pad ".lstrip()), repr("  pad ".rstrip()), "xxhixx".strip("x"))
print("MiXeD".lower(), "MiXeD".upper())
print("banana".replace("a", "o"), "banana".replace("a", "o", 2), "aaa".replace("", "-"))
for w in ("abc", "ABC", "123", "a1", " ", "", "\t\n"):
    print(repr(w), w.isalpha(), w.isdigit(), w.isspace(), w.isupper(), w.islower())
print("[" + "mid".center(9) + "]")
print("ab" * 3, 0 * "ab", "a" "b" 'c')
print(min("hello"), max("hello"), sorted("hello"), list(reversed("abc")))
