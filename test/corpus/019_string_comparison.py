# Text orders by code point.
words = ["banana", "Apple", "cherry", "apple", "Banana", "10", "9", ""]
print(sorted(words))
print("a" < "b", "a" < "B", "abc" < "abd", "ab" < "abc", "Z" < "a")
print(sorted(words, key=lambda w: (w.lower(), w)))
print("in" in "string", "xyz" not in "string", "" in "abc")
print(ord("A"), chr(97), [ord(c) for c in "hi!"])
