# Text built, formatted, split, joined, searched and replaced.
total = 0
for i in range(12000):
    line = "pin %d level %s at %05d" % (i % 40, "high" if i & 1 else "low", i)
    parts = line.split(" ")
    text = ",".join(parts).upper().replace("LEVEL", "=")
    total += len(text) + text.find("AT") + len(f"{i}:{text}")
print(total)
