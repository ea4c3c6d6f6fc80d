# Words, letters and a histogram.
text = """It was the best of times, it was the worst of times, it was the age of wisdom,
it was the age of foolishness, it was the epoch of belief"""
words = "".join(c.lower() if c.isalpha() else " " for c in text).split()
freq = {}
for w in words:
    freq[w] = freq.get(w, 0) + 1
top = sorted(freq.items(), key=lambda kv: (-kv[1], kv[0]))[:6]
for w, n in top:
    print("%-6s %2d %s" % (w, n, "#" * n))
print(len(words), len(freq), max(words, key=len), sum(len(w) for w in words) // len(words))
letters = sorted(set("".join(words)))
print("".join(letters))
rev = " ".join(w[::1].upper() for w in words[:3])
print(rev, "level" == "".join(reversed("level")))
