# Run-length coding of text and of bits.
def encode(s):
    out, i = [], 0
    while i < len(s):
        j = i
        while j < len(s) and s[j] == s[i]:
            j += 1
        out.append((s[i], j - i))
        i = j
    return out

def decode(pairs):
    return "".join(c * n for c, n in pairs)

for s in ("", "a", "aaabccdddd", "abc", "zzzzzzzzzzzz"):
    e = encode(s)
    print(repr(s), e, decode(e) == s)
print("".join("%d%s" % (n, c) for c, n in encode("WWWWWWWWWWWWBWWWWWWWWWWWWBBB")))
w = "1"
for _ in range(7):
    print(w, end=" ")
    w = "".join(str(n) + c for c, n in encode(w))
print()
