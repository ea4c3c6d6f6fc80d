# Escapes and raw strings, shown through repr.
for s in ("tab\there", "quote'single", 'quote"double', "both'\"", "back\\slash", "nl\n", "bell\x07", "\x41\u0042"):
    print(len(s), repr(s))
print(r"raw\n", len(r"raw\n"))
print("""three
lines
here""")
print("joined "
      "over lines")
print("a\
b")
